# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=schema.sql -DOUT=schema.c -DNAME=tf_catalog_schema -P embed_schema.cmake: the schema's text as a C array, with an end.
file(READ ${IN} hex HEX)
get_filename_component(from ${IN} NAME)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "/* Generated from ${from}. */\n#include \"catalog/schema.h\"\n\nconst char ${NAME}[] = {\n\t${bytes}0x00};\n")
