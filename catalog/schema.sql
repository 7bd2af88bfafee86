-- SPDX-License-Identifier: Apache-2.0
-- The catalog of a package, schema 1.0. docs/FORMAT.md describes it; program.h holds the same rows
-- as structs.
--
-- Tables are internal and singular. Views are for people and scripts and stay as they are within a
-- major: identity (a table), picks, samples, members. Small tables hold names ("ll", "output"),
-- large ones (launch_word, node, edge, sample) hold the numbers of program.h. Every row that others
-- refer to is numbered from 0 without gaps.
PRAGMA application_id = 1413894226; -- 0x54465052, "TFPR"
PRAGMA user_version = 1000;         -- major * 1000 + minor

CREATE TABLE identity(
	key   TEXT NOT NULL PRIMARY KEY CHECK(key <> ''),
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row: the world and the layout of every rank's segment.
CREATE TABLE program(
	program               INTEGER PRIMARY KEY CHECK(program = 0),
	world                 INTEGER NOT NULL CHECK(world BETWEEN 2 AND 8),
	stride_bytes          INTEGER NOT NULL CHECK(stride_bytes >= segment_bytes),
	segment_bytes         INTEGER NOT NULL CHECK(segment_bytes > 0),
	control_off           INTEGER NOT NULL CHECK(control_off >= 0),
	control_bytes         INTEGER NOT NULL CHECK(control_bytes >= 0),
	ll_off                INTEGER NOT NULL CHECK(ll_off >= 0),
	ll_source_bytes       INTEGER NOT NULL CHECK(ll_source_bytes >= 0),
	sentinel_off          INTEGER NOT NULL CHECK(sentinel_off >= 0),
	sentinel_source_bytes INTEGER NOT NULL CHECK(sentinel_source_bytes >= 0),
	flag_off              INTEGER NOT NULL CHECK(flag_off >= 0),
	flag_bytes            INTEGER NOT NULL CHECK(flag_bytes >= 0),
	staging_off           INTEGER NOT NULL CHECK(staging_off >= 0),
	staging_source_bytes  INTEGER NOT NULL CHECK(staging_source_bytes >= 0),
	exchange_off          INTEGER NOT NULL CHECK(exchange_off >= 0),
	exchange_bytes        INTEGER NOT NULL CHECK(exchange_bytes >= 0),
	startup_off           INTEGER NOT NULL CHECK(startup_off >= 0),
	startup_bytes         INTEGER NOT NULL CHECK(startup_bytes >= 0),
	private_off           INTEGER NOT NULL CHECK(private_off >= 0),
	private_bytes         INTEGER NOT NULL CHECK(private_bytes >= 0)
) STRICT;

CREATE TABLE member(
	member INTEGER PRIMARY KEY CHECK(member >= 0),
	name   TEXT NOT NULL UNIQUE CHECK(name <> ''),
	bytes  INTEGER NOT NULL CHECK(bytes >= 0),
	digest BLOB NOT NULL CHECK(length(digest) = 32) -- SHA-256
) STRICT;

-- A group of the workload at one capacity ("group" alone is an SQL word).
CREATE TABLE tuned_group(
	tuned_group  INTEGER PRIMARY KEY CHECK(tuned_group >= 0),
	name         TEXT NOT NULL CHECK(name <> ''),
	op           TEXT NOT NULL,
	dtype        TEXT NOT NULL,
	row_elements INTEGER NOT NULL CHECK(row_elements > 0),
	capacity     INTEGER NOT NULL CHECK(capacity > 0),
	times        INTEGER NOT NULL CHECK(times > 0),
	buffer_pairs INTEGER NOT NULL CHECK(buffer_pairs BETWEEN 1 AND times),
	UNIQUE(name, capacity)
) STRICT;

-- Times are NULL where the candidate was not sampled in that stage.
CREATE TABLE candidate(
	candidate        INTEGER PRIMARY KEY CHECK(candidate >= 0),
	tuned_group      INTEGER NOT NULL REFERENCES tuned_group,
	rung             INTEGER NOT NULL CHECK(rung >= 0),
	algorithm        TEXT NOT NULL,
	writer           TEXT NOT NULL,
	threads          INTEGER NOT NULL CHECK(threads >= 0),
	ctas             INTEGER NOT NULL CHECK(ctas >= 0),
	chunk_bytes      INTEGER NOT NULL CHECK(chunk_bytes >= 0),
	state            TEXT NOT NULL CHECK(state IN ('competed', 'survived', 'picked', 'struck')),
	reason           TEXT NOT NULL,
	stage1_median_ns INTEGER CHECK(stage1_median_ns BETWEEN stage1_low_ns AND stage1_high_ns),
	stage1_low_ns    INTEGER CHECK(stage1_low_ns >= 0),
	stage1_high_ns   INTEGER,
	stage2_median_ns INTEGER CHECK(stage2_median_ns BETWEEN stage2_low_ns AND stage2_high_ns),
	stage2_low_ns    INTEGER CHECK(stage2_low_ns >= 0),
	stage2_high_ns   INTEGER,
	UNIQUE(tuned_group, rung)
) STRICT;

CREATE TABLE selector(
	tuned_group INTEGER PRIMARY KEY REFERENCES tuned_group,
	candidate   INTEGER NOT NULL REFERENCES candidate
) STRICT;

CREATE TABLE sample(
	candidate    INTEGER NOT NULL REFERENCES candidate,
	stage        INTEGER NOT NULL CHECK(stage IN (1, 2)),
	pass         INTEGER NOT NULL CHECK(pass BETWEEN 0 AND 20),
	slowest_rank INTEGER NOT NULL CHECK(slowest_rank BETWEEN 0 AND 7),
	ns           INTEGER NOT NULL CHECK(ns >= 0),
	PRIMARY KEY(candidate, stage, pass)
) STRICT, WITHOUT ROWID;

-- dim0 is the outermost; NULL beyond the last dimension.
CREATE TABLE buffer(
	buffer       INTEGER PRIMARY KEY CHECK(buffer >= 0),
	name         TEXT NOT NULL UNIQUE CHECK(name <> ''),
	role         TEXT NOT NULL CHECK(role IN ('input', 'output', 'constant', 'work', 'protocol')),
	dtype        TEXT NOT NULL,
	dim0         INTEGER CHECK(dim0 > 0),
	dim1         INTEGER CHECK(dim1 IS NULL OR (dim1 > 0 AND dim0 IS NOT NULL)),
	dim2         INTEGER CHECK(dim2 IS NULL OR (dim2 > 0 AND dim1 IS NOT NULL)),
	dim3         INTEGER CHECK(dim3 IS NULL OR (dim3 > 0 AND dim2 IS NOT NULL)),
	segment_off  INTEGER NOT NULL CHECK(segment_off >= 0),
	bytes        INTEGER NOT NULL CHECK(bytes > 0),
	peer_visible INTEGER NOT NULL CHECK(peer_visible IN (0, 1)),
	tuned_group  INTEGER REFERENCES tuned_group,
	pair         INTEGER NOT NULL CHECK(pair >= 0)
) STRICT;

-- rank is NULL where all ranks have the same content.
CREATE TABLE constant(
	constant INTEGER PRIMARY KEY CHECK(constant >= 0),
	buffer   INTEGER NOT NULL REFERENCES buffer,
	rank     INTEGER CHECK(rank BETWEEN 0 AND 7),
	member   INTEGER NOT NULL REFERENCES member
) STRICT;

CREATE TABLE module(
	module             INTEGER PRIMARY KEY CHECK(module >= 0),
	name               TEXT NOT NULL CHECK(name <> ''),
	kind               TEXT NOT NULL CHECK(kind IN ('host', 'cubin')),
	compute_capability INTEGER NOT NULL CHECK((compute_capability > 0) = (kind = 'cubin')),
	member             INTEGER REFERENCES member CHECK((member IS NOT NULL) = (kind = 'cubin')),
	digest             BLOB NOT NULL CHECK(length(digest) = 32),
	UNIQUE(name, compute_capability)
) STRICT;

CREATE TABLE kernel(
	kernel     INTEGER PRIMARY KEY CHECK(kernel >= 0),
	name       TEXT NOT NULL CHECK(name <> ''),
	module     INTEGER NOT NULL REFERENCES module,
	args_bytes INTEGER NOT NULL CHECK(args_bytes >= 0),
	UNIQUE(module, name)
) STRICT;

-- Fields of the argument struct that depend on rank or base. kind: 0 address, 1 rank.
CREATE TABLE kernel_word(
	kernel   INTEGER NOT NULL REFERENCES kernel,
	arg_off  INTEGER NOT NULL CHECK(arg_off >= 0),
	kind     INTEGER NOT NULL CHECK(kind IN (0, 1)),
	nullable INTEGER NOT NULL CHECK(nullable IN (0, 1)),
	name     TEXT NOT NULL CHECK(name <> ''),
	PRIMARY KEY(kernel, arg_off)
) STRICT, WITHOUT ROWID;

-- args is the argument struct, zero where the kernel has words.
CREATE TABLE launch(
	launch       INTEGER PRIMARY KEY CHECK(launch >= 0),
	kernel       INTEGER NOT NULL REFERENCES kernel,
	grid_x       INTEGER NOT NULL CHECK(grid_x > 0),
	grid_y       INTEGER NOT NULL CHECK(grid_y > 0),
	grid_z       INTEGER NOT NULL CHECK(grid_z > 0),
	block_x      INTEGER NOT NULL CHECK(block_x > 0),
	block_y      INTEGER NOT NULL CHECK(block_y > 0),
	block_z      INTEGER NOT NULL CHECK(block_z > 0),
	shared_bytes INTEGER NOT NULL CHECK(shared_bytes >= 0),
	args         BLOB NOT NULL
) STRICT;

-- peer k is rank (self + k) mod world; both are 0 for a rank word.
CREATE TABLE launch_word(
	launch      INTEGER NOT NULL REFERENCES launch,
	arg_off     INTEGER NOT NULL CHECK(arg_off >= 0),
	kind        INTEGER NOT NULL CHECK(kind IN (0, 1)),
	peer        INTEGER NOT NULL CHECK(peer BETWEEN 0 AND 7),
	segment_off INTEGER NOT NULL CHECK(segment_off >= 0),
	PRIMARY KEY(launch, arg_off)
) STRICT, WITHOUT ROWID;

-- Step graphs by rising capacity, then the startup graph, whose capacity is NULL. The counts are of
-- its rows below.
CREATE TABLE graph(
	graph      INTEGER PRIMARY KEY CHECK(graph >= 0),
	kind       TEXT NOT NULL CHECK(kind IN ('step', 'startup')),
	capacity   INTEGER UNIQUE CHECK(capacity > 0),
	node_count INTEGER NOT NULL CHECK(node_count >= 0),
	edge_count INTEGER NOT NULL CHECK(edge_count >= 0),
	CHECK((capacity IS NULL) = (kind = 'startup'))
) STRICT;

-- kind: 0 kernel, 1 copy, 2 set, 3 empty, 4 comm. Only kernel nodes have a launch; fields of other
-- kinds are 0.
CREATE TABLE node(
	graph     INTEGER NOT NULL REFERENCES graph,
	node      INTEGER NOT NULL CHECK(node >= 0),
	kind      INTEGER NOT NULL CHECK(kind BETWEEN 0 AND 4),
	launch    INTEGER REFERENCES launch CHECK((launch IS NOT NULL) = (kind = 0)),
	to_peer   INTEGER NOT NULL CHECK(to_peer BETWEEN 0 AND 7),
	to_off    INTEGER NOT NULL CHECK(to_off >= 0),
	from_peer INTEGER NOT NULL CHECK(from_peer BETWEEN 0 AND 7),
	from_off  INTEGER NOT NULL CHECK(from_off >= 0),
	bytes     INTEGER NOT NULL CHECK(bytes >= 0),
	value     INTEGER NOT NULL CHECK(value >= 0),
	PRIMARY KEY(graph, node)
) STRICT, WITHOUT ROWID;

-- type: 0 full, 1 programmatic.
CREATE TABLE edge(
	graph     INTEGER NOT NULL REFERENCES graph,
	from_node INTEGER NOT NULL,
	to_node   INTEGER NOT NULL,
	type      INTEGER NOT NULL CHECK(type IN (0, 1)),
	from_port INTEGER NOT NULL CHECK(from_port BETWEEN 0 AND 255),
	to_port   INTEGER NOT NULL CHECK(to_port BETWEEN 0 AND 255),
	PRIMARY KEY(graph, from_node, to_node),
	FOREIGN KEY(graph, from_node) REFERENCES node(graph, node),
	FOREIGN KEY(graph, to_node) REFERENCES node(graph, node)
) STRICT, WITHOUT ROWID;

-- What became of every candidate. Not stable: for people who ask why.
CREATE VIEW candidates AS
SELECT g.name AS group_name, g.capacity, c.rung,
	CASE c.algorithm WHEN 'library' THEN c.writer ELSE
		c.algorithm || '/' || c.writer || '/t' || c.threads || '/c' || c.ctas ||
		CASE c.chunk_bytes WHEN 0 THEN '' ELSE '/k' || c.chunk_bytes END END AS candidate,
	c.state, c.reason,
	c.stage1_median_ns, c.stage1_low_ns, c.stage1_high_ns,
	c.stage2_median_ns, c.stage2_low_ns, c.stage2_high_ns
FROM candidate AS c JOIN tuned_group AS g USING(tuned_group)
ORDER BY c.candidate;

-- bytes: one rank's input. The times are those of the stage that decided.
CREATE VIEW picks AS
SELECT g.name AS group_name, g.op, g.dtype,
	g.capacity * g.row_elements * CASE g.dtype WHEN 'f32' THEN 4 ELSE 2 END AS bytes,
	p.world, g.capacity, c.algorithm, c.writer, c.threads, c.ctas, c.chunk_bytes,
	iif(c.stage2_median_ns IS NULL, c.stage1_median_ns, c.stage2_median_ns) AS median_ns,
	iif(c.stage2_median_ns IS NULL, c.stage1_low_ns, c.stage2_low_ns) AS low_ns,
	iif(c.stage2_median_ns IS NULL, c.stage1_high_ns, c.stage2_high_ns) AS high_ns,
	c.reason
FROM selector AS s
JOIN candidate AS c ON c.candidate = s.candidate
JOIN tuned_group AS g ON g.tuned_group = s.tuned_group
JOIN program AS p ON p.program = 0
ORDER BY s.tuned_group;

CREATE VIEW samples AS
SELECT g.name AS group_name,
	CASE c.algorithm WHEN 'library' THEN c.writer ELSE
		c.algorithm || '/' || c.writer || '/t' || c.threads || '/c' || c.ctas ||
		CASE c.chunk_bytes WHEN 0 THEN '' ELSE '/k' || c.chunk_bytes END END AS candidate,
	s.pass, s.stage, s.ns, g.capacity
FROM sample AS s
JOIN candidate AS c ON c.candidate = s.candidate
JOIN tuned_group AS g ON g.tuned_group = c.tuned_group
ORDER BY s.candidate, s.stage, s.pass;

CREATE VIEW members AS
SELECT name, bytes, lower(hex(digest)) AS sha256 FROM member ORDER BY member;
