// SPDX-License-Identifier: GPL-2.0-only
#include "python/library_text.h"

#include <inttypes.h>
#include <string.h>

#include "python/numpy_text.h"

enum {
	/* mpd_t.flags */
	DECIMAL_NEGATIVE = 1,
	DECIMAL_INFINITE = 2,
	DECIMAL_NAN = 4,
	DECIMAL_SIGNALS = 8,
	DECIMAL_SPECIAL = DECIMAL_INFINITE | DECIMAL_NAN | DECIMAL_SIGNALS,
	/* Decimal digits in a word of it, and words that are read: more than are shown. */
	DECIMAL_WORD_DIGITS = 19,
	DECIMAL_WORDS_MAX = 16,
	/* From here on a number has no exponent. */
	DECIMAL_ADJUSTED_MIN = -6,
};

/* One object that is put into words. */
struct library {
	struct py_objects_reader *r;
	const struct py_library_inner *inner;
	struct strbuf *out;
	/* Behind the head of the object. */
	uint64_t at;
};

static bool read_at(const struct library *l, uint64_t offset, void *buf,
		    size_t size)
{
	return py_read_bytes(l->r, l->at + offset, buf, size);
}

/* --- dates and times: datetime.h --- */

/* Behind the hash: whether there is a time zone, and numbers that begin with the largest. */
enum {
	DATE_FIELDS = 8,
	DATE_BYTES = 5,
	DATETIME_BYTES = 12,
	TIME_BYTES = 8,
	/* Where the pointer to the time zone is. */
	DATETIME_ZONE = 24,
	TIME_ZONE = 16,
};

static void put_date(const struct library *l, const uint8_t *date)
{
	strbuf_printf(l->out, "%d, %d, %d", date[0] << 8 | date[1], date[2],
		      date[3]);
}

/* Hour, minute, and what is not 0 of seconds and microseconds; then `fold`. */
static void put_time(const struct library *l, const uint8_t *time)
{
	int microseconds = time[3] << 16 | time[4] << 8 | time[5];

	strbuf_printf(l->out, "%d, %d", time[0], time[1]);
	if (time[2] || microseconds)
		strbuf_printf(l->out, ", %d", time[2]);
	if (microseconds)
		strbuf_printf(l->out, ", %d", microseconds);
	if (time[6])
		strbuf_printf(l->out, ", fold=%d", time[6]);
}

/* It is there in objects that have one alone. */
static void put_zone(const struct library *l, uint64_t offset)
{
	uint64_t zone;

	strbuf_puts(l->out, ", tzinfo=");
	if (read_at(l, offset, &zone, sizeof(zone)))
		l->inner->put(l->inner->arg, zone);
	else
		strbuf_putc(l->out, '?');
}

static bool put_date_object(const struct library *l)
{
	uint8_t b[DATE_BYTES];

	if (!read_at(l, DATE_FIELDS, b, sizeof(b)))
		return false;
	strbuf_puts(l->out, "datetime.date(");
	put_date(l, b + 1);
	strbuf_putc(l->out, ')');
	return true;
}

static bool put_datetime(const struct library *l)
{
	uint8_t b[DATETIME_BYTES];

	if (!read_at(l, DATE_FIELDS, b, sizeof(b)))
		return false;
	strbuf_puts(l->out, "datetime.datetime(");
	put_date(l, b + 1);
	strbuf_puts(l->out, ", ");
	put_time(l, b + DATE_BYTES);
	if (b[0])
		put_zone(l, DATETIME_ZONE);
	strbuf_putc(l->out, ')');
	return true;
}

static bool put_time_object(const struct library *l)
{
	uint8_t b[TIME_BYTES];

	if (!read_at(l, DATE_FIELDS, b, sizeof(b)))
		return false;
	strbuf_puts(l->out, "datetime.time(");
	put_time(l, b + 1);
	if (b[0])
		put_zone(l, TIME_ZONE);
	strbuf_putc(l->out, ')');
	return true;
}

static bool put_timedelta(const struct library *l)
{
	static const char *const names[] = { "days", "seconds", "microseconds" };
	const char *separator = "";
	int32_t parts[3];

	if (!read_at(l, DATE_FIELDS, parts, sizeof(parts)))
		return false;
	strbuf_puts(l->out, "datetime.timedelta(");
	for (size_t i = 0; i < 3; i++)
		if (parts[i]) {
			strbuf_printf(l->out, "%s%s=%" PRId32, separator,
				      names[i], parts[i]);
			separator = ", ";
		}
	strbuf_puts(l->out, *separator ? ")" : "0)");
	return true;
}

/* The offset from UTC, and a name. Of a zone without both there is one. */
static bool put_timezone(const struct library *l)
{
	static const int32_t none[3];
	uint64_t words[2];
	struct library delta = *l;
	int32_t parts[3];

	if (!read_at(l, 0, words, sizeof(words)))
		return false;
	delta.at = py_behind_head(l->r, words[0]);
	if (!read_at(&delta, DATE_FIELDS, parts, sizeof(parts)))
		return false;
	if (!words[1] && !memcmp(parts, none, sizeof(parts))) {
		strbuf_puts(l->out, "datetime.timezone.utc");
		return true;
	}
	strbuf_puts(l->out, "datetime.timezone(");
	put_timedelta(&delta);
	if (words[1]) {
		strbuf_puts(l->out, ", ");
		l->inner->put(l->inner->arg, words[1]);
	}
	strbuf_putc(l->out, ')');
	return true;
}

static bool put_zoneinfo(const struct library *l)
{
	uint64_t key;

	if (!read_at(l, 0, &key, sizeof(key)))
		return false;
	strbuf_puts(l->out, "zoneinfo.ZoneInfo(key=");
	l->inner->put(l->inner->arg, key);
	strbuf_putc(l->out, ')');
	return true;
}

/* --- decimal numbers --- */

/* PyDecObject, behind its hash: mpd_t. */
struct decimal {
	uint8_t flags;
	uint8_t padding[7];
	int64_t exponent;
	int64_t digits;
	int64_t words;
	int64_t room;
	uint64_t data;
};

/* All digits, from the word at the end on, which is the first one. */
static bool read_digits(const struct library *l, const struct decimal *d,
			struct strbuf *ret)
{
	uint64_t words[DECIMAL_WORDS_MAX];

	if (!d->words)
		return true;
	if (!py_read_bytes(l->r, d->data, words,
			   (size_t)d->words * sizeof(words[0])))
		return false;
	for (int64_t i = d->words; i-- > 0;)
		strbuf_printf(ret, "%0*" PRIu64,
			      i == d->words - 1 ? 1 : DECIMAL_WORD_DIGITS,
			      words[i]);
	return !ret->failed;
}

/* As Decimal.__str__: the exponent is that of the last digit. */
static void put_finite(const struct library *l, const struct strbuf *digits,
		       int64_t exponent)
{
	int64_t count = (int64_t)digits->len;
	int64_t adjusted = (int64_t)((uint64_t)exponent + (uint64_t)count - 1);
	/* Not more than there are, where it is asked for. */
	int64_t whole = (int64_t)((uint64_t)adjusted + 1);

	if (exponent > 0 || adjusted < DECIMAL_ADJUSTED_MIN) {
		strbuf_append(l->out, digits->data, 1);
		if (count > 1)
			strbuf_printf(l->out, ".%s", digits->data + 1);
		strbuf_printf(l->out, "E%+" PRId64, adjusted);
	} else if (whole <= 0) {
		strbuf_puts(l->out, "0.");
		strbuf_fill(l->out, '0', (size_t)-whole);
		strbuf_puts(l->out, digits->data);
	} else {
		strbuf_append(l->out, digits->data, (size_t)whole);
		if (whole < count)
			strbuf_printf(l->out, ".%s", digits->data + whole);
	}
}

static bool put_decimal(const struct library *l)
{
	_cleanup_strbuf_ struct strbuf digits = STRBUF_INIT;
	struct decimal d;

	if (!read_at(l, sizeof(uint64_t), &d, sizeof(d)) || d.words < 0)
		return false;
	if (d.words > DECIMAL_WORDS_MAX) {
		strbuf_printf(l->out, "<Decimal of %" PRId64 " digits>",
			      d.digits);
		return true;
	}
	if (!read_digits(l, &d, &digits) ||
	    (!digits.len && !(d.flags & DECIMAL_SPECIAL)))
		return false;
	strbuf_printf(l->out, "Decimal('%s",
		      d.flags & DECIMAL_NEGATIVE ? "-" : "");
	if (d.flags & DECIMAL_INFINITE)
		strbuf_puts(l->out, "Infinity");
	else if (d.flags & DECIMAL_SPECIAL)
		strbuf_printf(l->out, "%sNaN%s",
			      d.flags & DECIMAL_SIGNALS ? "s" : "",
			      digits.data);
	else
		put_finite(l, &digits, d.exponent);
	strbuf_puts(l->out, "')");
	return true;
}

/* --- all --- */

bool py_library_put(struct py_objects_reader *r, uint64_t object,
		    const struct py_type *type, const char *name,
		    const struct py_library_inner *inner, struct strbuf *out)
{
	/* size: bytes behind the head; at_least: there may be more. */
	static const struct {
		const char *name;
		int64_t size;
		bool at_least;
		bool (*put)(const struct library *l);
	} types[] = {
		{ "datetime.date", 16, false, put_date_object },
		{ "datetime.datetime", 32, false, put_datetime },
		{ "datetime.time", 24, false, put_time_object },
		{ "datetime.timedelta", 24, false, put_timedelta },
		{ "datetime.timezone", 16, false, put_timezone },
		{ "decimal.Decimal", 88, false, put_decimal },
		{ "zoneinfo.ZoneInfo", 64, true, put_zoneinfo },
	};
	const struct library library = { r, inner, out,
					 py_behind_head(r, object) };
	int64_t size = type->basic_size - (int64_t)py_behind_head(r, 0);

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(name, types[i].name))
			return (size == types[i].size ||
				(types[i].at_least && size > types[i].size)) &&
			       types[i].put(&library);
	return py_numpy_put(r, object, type, name, out);
}
