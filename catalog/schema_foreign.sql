-- SPDX-License-Identifier: Apache-2.0
-- Schema 1.1: what a program with foreign kernels has on top of schema.sql. A file without them is
-- of 1.0 and has none of these tables.
PRAGMA user_version = 1001;

-- The shared object of a host module that is not built into the runtime.
CREATE TABLE host_image(
	module INTEGER PRIMARY KEY REFERENCES module,
	member INTEGER NOT NULL REFERENCES member
) STRICT;

-- Parameters of a foreign kernel, as the device told them; a kernel with rows here is foreign.
CREATE TABLE kernel_param(
	kernel  INTEGER NOT NULL REFERENCES kernel,
	param   INTEGER NOT NULL CHECK(param >= 0),
	arg_off INTEGER NOT NULL CHECK(arg_off >= 0),
	bytes   INTEGER NOT NULL CHECK(bytes > 0),
	PRIMARY KEY(kernel, param)
) STRICT, WITHOUT ROWID;

-- Buffers that foreign kernels may write: groups with such an operand have no reference.
CREATE TABLE touched(
	buffer INTEGER PRIMARY KEY REFERENCES buffer
) STRICT;

-- SHA-256 of a rank's outputs after a step of `capacity` rows from the operands of `seed`.
CREATE TABLE proof(
	capacity INTEGER NOT NULL CHECK(capacity > 0),
	seed     INTEGER NOT NULL CHECK(seed >= 0),
	rank     INTEGER NOT NULL CHECK(rank BETWEEN 0 AND 7),
	digest   BLOB NOT NULL CHECK(length(digest) = 32),
	PRIMARY KEY(capacity, seed, rank)
) STRICT, WITHOUT ROWID;
