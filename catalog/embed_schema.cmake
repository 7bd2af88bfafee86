# SPDX-License-Identifier: Apache-2.0
# cmake -DIN=schema.sql -DOUT=schema.c -P embed_schema.cmake: the schema's text as a C array, with an end.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "/* Generated from schema.sql. */\n#include \"catalog/schema.h\"\n\nconst char tf_catalog_schema[] = {\n\t${bytes}0x00};\n")
