/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1. A body that is not understood to its last member runs nothing.
 * 2. Numbers are integers as they are written: 1.0, 1e3 and "1" are refused rather than guessed at.
 */
#include "runtime/serve/step_request.h"

#include <string.h>

#include <sqlite3.h>

#include "base/alloc.h"

#define SEED_DEFAULT INT64_C(1)
#define ZERO_ESCAPE  "\\u0000"

/* One row a member; json_valid is asked in the same statement's stead first. */
#define VALID_SQL "SELECT json_valid(?1), CASE WHEN json_valid(?1) THEN json_type(?1) END"
#define EACH_SQL  "SELECT key, type, atom FROM json_each(?1)"

struct tf_step_reader {
	sqlite3 *db;
	sqlite3_stmt *valid, *each;
};

/* One member, borrowed from the statement. */
struct member {
	const char *key, *type, *text;
	int is_integer; /* fits 64 bits */
	sqlite3_int64 number;
};

/* What was seen so far; a bit a member. */
enum field { FIELD_ROWS, FIELD_COUNT, FIELD_SEED, FIELD_CHECK, FIELD_INPUTS, FIELD_TOTAL };

static const char *const field_names[FIELD_TOTAL] = {"rows", "count", "seed", "check", "inputs"};

struct reading {
	struct tf_step_order order;
	uint32_t largest;
	unsigned seen;
};

static enum tf_status fail_sqlite(struct tf_step_reader *reader, struct tf_error *err)
{
	return tf_error_set(err, TF_E_SYSTEM, "sqlite", sqlite3_extended_errcode(reader->db), __FILE__,
		__LINE__, "cannot read JSON: %s", sqlite3_errmsg(reader->db));
}

enum tf_status tf_step_reader_create(struct tf_step_reader **out, struct tf_error *err)
{
	struct tf_step_reader *reader = tf_calloc(1, sizeof(*reader));
	enum tf_status status = TF_OK;

	if (!reader)
		return TF_FAIL(err, TF_E_NO_MEMORY, "no memory to read requests");
	if (sqlite3_open_v2(":memory:", &reader->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL) ||
		sqlite3_prepare_v2(reader->db, VALID_SQL, -1, &reader->valid, NULL) ||
		sqlite3_prepare_v2(reader->db, EACH_SQL, -1, &reader->each, NULL))
		status = fail_sqlite(reader, err);
	if (status != TF_OK) {
		tf_step_reader_destroy(reader);
		return status;
	}
	*out = reader;
	return TF_OK;
}

void tf_step_reader_destroy(struct tf_step_reader *reader)
{
	if (!reader)
		return;
	sqlite3_finalize(reader->valid);
	sqlite3_finalize(reader->each);
	sqlite3_close(reader->db);
	tf_free(reader);
}

static enum tf_status read_uint(
	const struct member *member, uint64_t min, uint64_t max, uint64_t *out, struct tf_error *err)
{
	if (strcmp(member->type, "integer") != 0)
		return TF_FAIL(err, TF_E_USAGE,
			"'%s' must be an integer from %llu to %llu, not a value of type %s", member->key,
			(unsigned long long)min, (unsigned long long)max, member->type);
	if (!member->is_integer || member->number < 0 || (uint64_t)member->number < min ||
		(uint64_t)member->number > max)
		return TF_FAIL(err, TF_E_USAGE, "'%s' is %s, allowed is %llu to %llu", member->key,
			member->text, (unsigned long long)min, (unsigned long long)max);
	*out = (uint64_t)member->number;
	return TF_OK;
}

/* The place of the member's text among `words` (`count` of them, as `all` lists for people). */
static enum tf_status read_word(const struct member *member, const char *const *words,
	uint32_t count, const char *all, uint32_t *out, struct tf_error *err)
{
	if (strcmp(member->type, "text") != 0)
		return TF_FAIL(err, TF_E_USAGE, "'%s' must be %s, not a value of type %s", member->key, all,
			member->type);
	for (uint32_t i = 0; i < count; i++) {
		if (!strcmp(member->text, words[i])) {
			*out = i;
			return TF_OK;
		}
	}
	return TF_FAIL(
		err, TF_E_USAGE, "'%s' is '%.64s', allowed is %s", member->key, member->text, all);
}

static enum tf_status find_field(const struct member *member, unsigned *out, struct tf_error *err)
{
	for (unsigned i = 0; i < FIELD_TOTAL; i++) {
		if (!strcmp(member->key, field_names[i])) {
			*out = i;
			return TF_OK;
		}
	}
	return TF_FAIL(err, TF_E_USAGE,
		"unknown member '%.64s'; rows, count, seed, check and inputs are known", member->key);
}

static enum tf_status take_member(
	struct reading *reading, const struct member *member, struct tf_error *err)
{
	static const char *const checks[] = {"every", "last", "none"};
	static const char *const inputs[] = {"generated", "kept"};
	struct tf_step_order *order = &reading->order;
	unsigned field = FIELD_TOTAL;

	TF_TRY(find_field(member, &field, err));
	if (reading->seen & (1u << field))
		return TF_FAIL(err, TF_E_USAGE, "'%s' is given twice", member->key);
	reading->seen |= 1u << field;
	switch ((enum field)field) {
	case FIELD_ROWS:
		return read_uint(member, 1, reading->largest, &order->rows, err);
	case FIELD_COUNT:
		return read_uint(member, 1, TF_STEP_COUNT_MAX, &order->count, err);
	case FIELD_SEED:
		return read_uint(member, 0, INT64_MAX, &order->seed, err);
	case FIELD_CHECK:
		return read_word(member, checks, 3, "\"every\", \"last\" or \"none\"", &order->check, err);
	default:
		return read_word(member, inputs, 2, "\"generated\" or \"kept\"", &order->kept, err);
	}
}

static enum tf_status check_object(
	struct tf_step_reader *reader, const char *body, size_t bytes, struct tf_error *err)
{
	enum tf_status status = TF_OK;

	if (memchr(body, '\0', bytes))
		return TF_FAIL(err, TF_E_USAGE, "the body is not JSON: it holds a zero byte");
	/* SQLite ends a text there, so that what follows would not be looked at. */
	if (memmem(body, bytes, ZERO_ESCAPE, strlen(ZERO_ESCAPE)))
		return TF_FAIL(err, TF_E_USAGE,
			"the body holds the escape " ZERO_ESCAPE "; no member and no value has a zero byte");
	if (sqlite3_bind_text(reader->valid, 1, body, (int)bytes, SQLITE_STATIC) ||
		sqlite3_step(reader->valid) != SQLITE_ROW)
		status = fail_sqlite(reader, err);
	else if (!sqlite3_column_int(reader->valid, 0))
		status = TF_FAIL(err, TF_E_USAGE, "the body is not JSON");
	else if (strcmp((const char *)sqlite3_column_text(reader->valid, 1), "object") != 0)
		status = TF_FAIL(err, TF_E_USAGE, "the body must be a JSON object such as {\"rows\": 1}");
	sqlite3_reset(reader->valid);
	sqlite3_clear_bindings(reader->valid);
	return status;
}

static enum tf_status take_all(
	struct tf_step_reader *reader, struct reading *reading, struct tf_error *err)
{
	int code;

	while ((code = sqlite3_step(reader->each)) == SQLITE_ROW) {
		struct member member = {
			.key = (const char *)sqlite3_column_text(reader->each, 0),
			.type = (const char *)sqlite3_column_text(reader->each, 1),
			.is_integer = sqlite3_column_type(reader->each, 2) == SQLITE_INTEGER,
			.number = sqlite3_column_int64(reader->each, 2),
		};

		member.text = (const char *)sqlite3_column_text(reader->each, 2);
		if (!member.key || !member.type)
			return TF_FAIL(err, TF_E_NO_MEMORY, "no memory for a request");
		if (!member.text)
			member.text = "";
		TF_TRY(take_member(reading, &member, err));
	}
	return code == SQLITE_DONE ? TF_OK : fail_sqlite(reader, err);
}

/*
 * Inputs that a client put have no reference here, so they come with no check unless one was asked
 * for.
 */
static enum tf_status settle(struct reading *reading, struct tf_error *err)
{
	struct tf_step_order *order = &reading->order;

	if (!(reading->seen & (1u << FIELD_ROWS)))
		return TF_FAIL(err, TF_E_USAGE, "'rows' is missing; 1 to %u are allowed", reading->largest);
	if (!order->kept)
		return TF_OK;
	if (!(reading->seen & (1u << FIELD_CHECK)))
		order->check = TF_STEP_CHECK_NONE;
	if (order->check != TF_STEP_CHECK_NONE)
		return TF_FAIL(err, TF_E_USAGE, "'check' must be \"none\" where 'inputs' is \"kept\"");
	return TF_OK;
}

enum tf_status tf_step_request_read(struct tf_step_reader *reader, const char *body, size_t bytes,
	uint32_t largest, struct tf_step_order *out, struct tf_error *err)
{
	struct reading reading = {
		.order = {.count = 1, .seed = SEED_DEFAULT, .check = TF_STEP_CHECK_EVERY},
		.largest = largest,
	};
	enum tf_status status;

	if (bytes > TF_STEP_BODY_MAX)
		return TF_FAIL(err, TF_E_USAGE, "the body has %zu bytes, at most %d are read", bytes,
			TF_STEP_BODY_MAX);
	if (!bytes)
		return TF_FAIL(
			err, TF_E_USAGE, "the body is empty; it must be a JSON object such as {\"rows\": 1}");
	TF_TRY(check_object(reader, body, bytes, err));
	if (sqlite3_bind_text(reader->each, 1, body, (int)bytes, SQLITE_STATIC))
		return fail_sqlite(reader, err);
	status = take_all(reader, &reading, err);
	sqlite3_reset(reader->each);
	sqlite3_clear_bindings(reader->each);
	if (status == TF_OK)
		status = settle(&reading, err);
	if (status == TF_OK)
		*out = reading.order;
	return status;
}
