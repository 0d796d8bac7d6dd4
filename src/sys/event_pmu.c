// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "sys/event_source.h"
#include "sys/file.h"

#define DEVICES "/sys/bus/event_source/devices"

enum { TERM_FILE_MAX = 4096 };

/* Terms of one event being parsed. */
struct terms {
	const char *root;
	/* NULL: a plain event; only what needs no PMU. */
	const char *pmu;
	struct event_choice *event;
	char **name;
	/* Inside of the definition of a PMU's event: no further ones. */
	bool nested;
};

/* A word that can stand in a path: no '/', no leading '.'. */
static bool is_plain_word(const char *word)
{
	if (!*word || *word == '.')
		return false;
	for (; *word; word++) {
		if (!isalnum((unsigned char)*word) && !strchr("_-.", *word))
			return false;
	}
	return true;
}

/* <DEVICES>/<pmu>/<folder>/<word>; folder may be "". */
static bool pmu_path(char *path, size_t size, const char *pmu,
		     const char *folder, const char *word)
{
	return snprintf(path, size, DEVICES "/%s/%s%s%s", pmu, folder,
			*folder ? "/" : "", word) < (int)size;
}

/* Does a file of the PMU exist? Its text goes to out, without blanks. */
static bool read_pmu_file(const char *root, const char *pmu, const char *folder,
			  const char *word, struct strbuf *out)
{
	struct error *error;
	char path[512];

	if (!is_plain_word(pmu) || !is_plain_word(word) ||
	    !pmu_path(path, sizeof(path), pmu, folder, word))
		return false;
	error = file_read(root, path, TERM_FILE_MAX, out);
	error_destroy(error);
	while (out->len > 0 && isspace((unsigned char)out->data[out->len - 1]))
		strbuf_truncate(out, out->len - 1);
	return !error;
}

bool pmu_exists(const char *root, const char *pmu)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	return read_pmu_file(root, pmu, "", "type", &text);
}

static struct error *parse_number(const char *key, const char *text,
				  uint64_t *ret)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, hex ? 16 : 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "term '%s': '%s' is not a number", key,
				    text);
	return NULL;
}

/*
 * "config1:0-7,32-35": which field, and which of its bits take the value's
 * bits, lowest first. Source: sysfs-bus-event_source-devices-format.
 */
static bool format_field(const char *format, struct event_choice *event,
			 uint64_t **field, const char **ranges)
{
	static const char *const names[] = { "config:", "config1:",
					     "config2:" };
	uint64_t *fields[] = { &event->config, &event->config1,
			       &event->config2 };

	for (size_t i = 0; i < 3; i++) {
		size_t length = strlen(names[i]);

		if (strncmp(format, names[i], length) == 0) {
			*field = fields[i];
			*ranges = format + length;
			return true;
		}
	}
	return false;
}

/* "0-7" or "21"; moves *ranges behind it and a comma. */
static bool take_range(const char **ranges, unsigned int *low,
		       unsigned int *high)
{
	char *end;

	if (!isdigit((unsigned char)**ranges))
		return false;
	*low = *high = (unsigned int)strtoul(*ranges, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*high = (unsigned int)strtoul(end + 1, &end, 10);
	if (*end == ',')
		end++;
	else if (*end)
		return false;
	*ranges = end;
	return *low <= *high && *high < 64;
}

static struct error *apply_format(const struct terms *t, const char *key,
				  const char *format, uint64_t value)
{
	const uint64_t whole = value;
	const char *ranges;
	uint64_t *field;
	unsigned int low, high;

	if (!format_field(format, t->event, &field, &ranges))
		return error_create(ERROR_UNSUPPORTED,
				    "term '%s': its format '%s' is not known",
				    key, format);
	while (*ranges) {
		unsigned int bits;
		uint64_t mask;

		if (!take_range(&ranges, &low, &high))
			return error_create(ERROR_FORMAT,
					    "term '%s': bad format '%s'", key,
					    format);
		bits = high - low + 1;
		mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
		*field = (*field & ~(mask << low)) | (value & mask) << low;
		value = bits == 64 ? 0 : value >> bits;
	}
	if (value)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "term '%s': %#llx is too large for '%s'",
				    key, (unsigned long long)whole, format);
	return NULL;
}

/* The terms that every event has. *known: key is one of them. */
static struct error *common_term(const struct terms *t, const char *key,
				 const char *value, bool *known)
{
	struct {
		const char *key;
		uint64_t *field;
		bool needs_pmu;
	} const fields[] = {
		{ "config", &t->event->config, true },
		{ "config1", &t->event->config1, true },
		{ "config2", &t->event->config2, true },
		{ "period", &t->event->period, false },
		{ "freq", &t->event->freq, false },
	};

	*known = true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		if (strcmp(key, fields[i].key) != 0 ||
		    (fields[i].needs_pmu && !t->pmu))
			continue;
		return parse_number(key, value ? value : "", fields[i].field);
	}
	*known = strcmp(key, "name") == 0;
	if (!*known)
		return NULL;
	if (!value || !*value)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "term 'name' needs a text");
	free(*t->name);
	*t->name = strdup(value);
	return *t->name ? NULL : error_no_memory();
}

static void offer_folder(const struct terms *t, const char *folder,
			 struct name_list *names)
{
	char path[512];

	if (t->pmu && pmu_path(path, sizeof(path), t->pmu, folder, ""))
		error_destroy(dir_list(t->root, path, names));
}

static struct error *unknown_term(const struct terms *t, const char *key)
{
	static const char *const common[] = { "period", "freq", "name" };
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = key };
	struct name_list names = {};

	for (size_t i = 0; i < 3; i++)
		nearest_add(&nearest, common[i]);
	offer_folder(t, "format", &names);
	offer_folder(t, "events", &names);
	vec_for_each(name, &names)
		nearest_add(&nearest, *name);
	nearest_format(&nearest, &near);
	name_list_deinit(&names);
	return error_create(ERROR_INVALID_ARGUMENT, "unknown term '%s'%s%s%s",
			    key, t->pmu ? " of PMU " : "",
			    t->pmu ? t->pmu : "", near.data);
}

static struct error *parse_terms(const struct terms *t, const char *text);

static struct error *parse_term(const struct terms *t, const char *key,
				const char *value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;
	uint64_t number = 1;
	bool known;

	error = common_term(t, key, value, &known);
	if (error || known)
		return error;
	if (t->pmu && read_pmu_file(t->root, t->pmu, "format", key, &text)) {
		error = value ? parse_number(key, value, &number) : NULL;
		return error ? error :
			       apply_format(t, key, text.data, number);
	}
	if (t->pmu && !value && !t->nested &&
	    read_pmu_file(t->root, t->pmu, "events", key, &text)) {
		struct terms inner = *t;

		inner.nested = true;
		return parse_terms(&inner, text.data);
	}
	return unknown_term(t, key);
}

static struct error *parse_terms(const struct terms *t, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy;
	char *term;

	if (!copy)
		return error_no_memory();
	while ((term = strsep(&rest, ","))) {
		char *value = strchr(term, '=');
		struct error *error;

		if (!*term)
			continue;
		if (value)
			*value++ = '\0';
		error = parse_term(t, term, value);
		if (error)
			return error;
	}
	return NULL;
}

static struct error *unknown_pmu(const char *root, const char *pmu)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = pmu };
	struct name_list names = {};

	error_destroy(dir_list(root, DEVICES, &names));
	vec_for_each(name, &names)
		nearest_add(&nearest, *name);
	nearest_format(&nearest, &near);
	if (!nearest.count) {
		strbuf_puts(&near, ": there are");
		vec_for_each(name, &names)
			strbuf_printf(&near, " %s", *name);
	}
	name_list_deinit(&names);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "this machine has no PMU '%s'%s", pmu, near.data);
}

struct error *event_by_pmu(const char *root, const char *pmu, const char *terms,
			   struct event_choice *event, char **name)
{
	struct terms t = { root, pmu, event, name, false };
	char path[512];
	int64_t type;
	struct error *error;

	if (!pmu)
		return parse_terms(&t, terms);
	if (!pmu_exists(root, pmu) ||
	    !pmu_path(path, sizeof(path), pmu, "", "type"))
		return unknown_pmu(root, pmu);
	error = file_read_i64(root, path, &type);
	if (error)
		return error;
	if (type < 0 || type > UINT32_MAX)
		return error_at(ERROR_FORMAT, path, 0, "no PMU type");
	event->type = (uint32_t)type;
	return parse_terms(&t, terms);
}

struct error *pmu_with_event(const char *root, const char *name, char **pmu)
{
	struct name_list names = {};
	struct error *error = NULL;
	char *found = NULL;

	error_destroy(dir_list(root, DEVICES, &names));
	vec_for_each(device, &names) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (!read_pmu_file(root, *device, "events", name, &text))
			continue;
		found = strdup(*device);
		if (!found)
			error = error_no_memory();
		break;
	}
	name_list_deinit(&names);
	if (!error)
		*pmu = found;
	return error;
}
