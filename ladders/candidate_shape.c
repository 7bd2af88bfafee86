/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a candidate can be on any machine; what a ladder or a machine adds is in ladder_parse.c and
 * ladder_legal.c.
 */
#include "ladders/ladder.h"

#define ALL_REDUCE (1u << TF_OP_ALL_REDUCE)
#define ALL_GATHER (1u << TF_OP_ALL_GATHER)

uint32_t tf_writer_needs(enum tf_writer writer)
{
	switch (writer) {
	case TF_WRITER_LL:
	case TF_WRITER_SENTINEL:
	case TF_WRITER_DIRECT:
	case TF_WRITER_SERIAL:
	case TF_WRITER_QUEUED:
	case TF_WRITER_COPY_ENGINE:
		return TF_LINK_PEER_WRITE;
	case TF_WRITER_PULL: /* payloads are read, flags are written */
		return TF_LINK_PEER_READ | TF_LINK_PEER_WRITE;
	case TF_WRITER_NCCL:
		return TF_LINK_LIBRARY;
	default:
		return 0;
	}
}

static enum tf_status check_chunk(const struct tf_candidate *candidate, struct tf_error *err)
{
	const char *writer = tf_writer_name(candidate->writer);
	uint64_t chunk = candidate->chunk_bytes;

	if (candidate->writer != TF_WRITER_QUEUED && chunk)
		return TF_FAIL(err, TF_E_INVALID, "writer '%s' does not chunk, only 'queued' does", writer);
	if (candidate->writer != TF_WRITER_QUEUED)
		return TF_OK;
	if (!chunk)
		return TF_FAIL(err, TF_E_INVALID, "writer 'queued' needs a chunk");
	if (chunk < TF_LADDER_CHUNK_MIN || chunk > TF_LADDER_CHUNK_MAX ||
		chunk % TF_LADDER_CHUNK_MULTIPLE)
		return TF_FAIL(err, TF_E_INVALID, "%llu bytes, allowed: a multiple of %d from %llu to %llu",
			(unsigned long long)chunk, TF_LADDER_CHUNK_MULTIPLE,
			(unsigned long long)TF_LADDER_CHUNK_MIN, (unsigned long long)TF_LADDER_CHUNK_MAX);
	return TF_OK;
}

/* NCCL chooses its algorithm and geometry by itself. */
static enum tf_status check_library(
	const struct tf_candidate *candidate, const char **field, struct tf_error *err)
{
	*field = candidate->threads ? "threads" : "ctas";
	if (candidate->threads || candidate->ctas)
		return TF_FAIL(err, TF_E_INVALID, "writer 'nccl' chooses its threads and CTAs by itself");
	return TF_OK;
}

static enum tf_status check_geometry(
	const struct tf_candidate *candidate, const char **field, struct tf_error *err)
{
	if (candidate->writer == TF_WRITER_NCCL)
		return check_library(candidate, field, err);
	*field = "threads";
	if (candidate->threads < TF_LADDER_THREADS_MIN || candidate->threads > TF_LADDER_THREADS_MAX ||
		candidate->threads % 32)
		return TF_FAIL(err, TF_E_INVALID, "%u threads, allowed: a multiple of 32 from %d to %d",
			(unsigned)candidate->threads, TF_LADDER_THREADS_MIN, TF_LADDER_THREADS_MAX);
	*field = "ctas";
	if (candidate->ctas < 1 || candidate->ctas > TF_LADDER_CTAS_MAX)
		return TF_FAIL(err, TF_E_INVALID, "%u CTAs, allowed: 1 to %d", (unsigned)candidate->ctas,
			TF_LADDER_CTAS_MAX);
	return TF_OK;
}

enum tf_status tf_candidate_legal_shape(const struct tf_candidate *candidate, uint32_t ops,
	const char **out_field, struct tf_error *err)
{
	int gathers_only =
		candidate->writer == TF_WRITER_COPY_ENGINE || candidate->writer == TF_WRITER_WIRE;
	const char *unused = NULL;
	const char **field = out_field ? out_field : &unused;

	TF_TRY(check_geometry(candidate, field, err));
	*field = "ctas";
	if (candidate->writer == TF_WRITER_COPY_ENGINE && candidate->ctas != 1)
		return TF_FAIL(
			err, TF_E_INVALID, "%u CTAs, writer 'copy_engine' has one", (unsigned)candidate->ctas);
	*field = "algorithm";
	if ((candidate->algorithm == TF_ALGORITHM_LIBRARY) != (candidate->writer == TF_WRITER_NCCL))
		return TF_FAIL(err, TF_E_INVALID, "'library' goes with writer 'nccl', and with no other");
	if (candidate->algorithm == TF_ALGORITHM_TWO_SHOT && ops != ALL_REDUCE)
		return TF_FAIL(err, TF_E_INVALID, "'two_shot' does all_reduce only");
	if (candidate->algorithm == TF_ALGORITHM_TWO_SHOT && gathers_only)
		return TF_FAIL(err, TF_E_INVALID, "writer '%s' does 'one_shot' only",
			tf_writer_name(candidate->writer));
	*field = "writer";
	if (gathers_only && ops != ALL_GATHER)
		return TF_FAIL(err, TF_E_INVALID, "writer '%s' does all_gather only",
			tf_writer_name(candidate->writer));
	*field = "chunk";
	return check_chunk(candidate, err);
}
