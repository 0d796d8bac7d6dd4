// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/fields.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "convert/convert.h"
#include "view/script/field_table.h"

/* Fields that perf has and kaa has not. */
static const char *const other_fields[] = {
	"brstack",     "brstacksym", "brstackoff",    "brstackinsn",
	"brstackinsnlen", "brstackdisasm", "brcntr",  "insn",
	"insnlen",     "disasm",     "srccode",	      "metric",
};

static const struct {
	const char *name;
	const char *word;
} kinds[SCRIPT_KINDS] = {
	[SCRIPT_KIND_HARDWARE] = { "hardware", "hw" },
	[SCRIPT_KIND_SOFTWARE] = { "software", "sw" },
	[SCRIPT_KIND_TRACEPOINT] = { "tracepoint", "trace" },
	[SCRIPT_KIND_CACHE] = { "hardware-cache", NULL },
	[SCRIPT_KIND_RAW] = { "raw", "raw" },
	[SCRIPT_KIND_BREAKPOINT] = { "breakpoint", "break" },
	[SCRIPT_KIND_SYNTH] = { "synthesized", "synth" },
	[SCRIPT_KIND_OTHER] = { "other", NULL },
};

static uint64_t usual_fields(enum script_kind kind)
{
	const struct script_field *field;
	uint64_t set = 0;

	for (field = script_field_table; field->name; field++)
		if (field->usual & 1u << kind)
			set |= field->bit;
	return set;
}

void script_field_words(struct strbuf *out)
{
	const struct script_field *field;

	for (field = script_field_table; field->name; field++)
		if (field->bit != SCRIPT_NEVER)
			strbuf_printf(out, "%s ", field->name);
}

/* No event of the kind has the field. */
static bool is_impossible(const struct script_field *field, int kind)
{
	return field->impossible & 1u << kind;
}

void script_fields_init(struct script_fields *fields)
{
	for (int kind = 0; kind < SCRIPT_KINDS; kind++)
		fields->of[kind].fields = usual_fields(kind);
}

enum script_kind script_fields_kind(const struct event *event)
{
	/* perf's own type of events that it makes from traces. */
	if (event->attr.type == INT32_MAX)
		return SCRIPT_KIND_SYNTH;
	return event->attr.type < PERF_TYPE_MAX
		       ? (enum script_kind)event->attr.type
		       : SCRIPT_KIND_OTHER;
}

/* --- What the user says ------------------------------------------------- */

enum change {
	CHANGE_NONE,
	CHANGE_SET,
	CHANGE_ADD,
	CHANGE_REMOVE,
};

static struct error *unknown_field(const char *word)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	const struct script_field *field;

	for (size_t i = 0; i < sizeof(other_fields) / sizeof(*other_fields);
	     i++)
		if (!strcmp(word, other_fields[i]))
			return error_create(
				ERROR_UNSUPPORTED,
				"-F: kaa cannot print the field '%s'; `perf script` can",
				word);
	for (field = script_field_table; field->name; field++)
		strbuf_printf(&all, "%s%s", all.len ? ", " : "", field->name);
	return error_create(ERROR_INVALID_ARGUMENT,
			    "-F: unknown field '%s'; fields are %s", word,
			    all.data);
}

static struct error *find_field(const char *word,
				const struct script_field **ret)
{
	const struct script_field *field;

	for (field = script_field_table; field->name; field++) {
		if (!strcmp(word, field->name)) {
			*ret = field;
			return NULL;
		}
	}
	return unknown_field(word);
}

static struct error *find_kind(const char *word, size_t n, int *ret)
{
	for (int kind = 0; kind < SCRIPT_KINDS; kind++) {
		const char *known = kinds[kind].word;

		if (known && strlen(known) == n && !strncmp(known, word, n)) {
			*ret = kind;
			return NULL;
		}
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "-F: '%.*s' is not a kind of event; use hw, sw, trace, raw, break or synth",
			    (int)n, word);
}

/* "+x", "-x" and "x" cannot stand in one list. */
static struct error *take_change(const char **word, enum change *change)
{
	enum change now = CHANGE_SET;

	if (**word == '+' || **word == '-')
		now = *(*word)++ == '+' ? CHANGE_ADD : CHANGE_REMOVE;
	if (*change != CHANGE_NONE &&
	    (now == CHANGE_SET) != (*change == CHANGE_SET))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "-F takes either fields, or +fields and -fields, not both");
	*change = now;
	return NULL;
}

/* named: of this kind alone; perf notes what was wanted of all kinds only. */
static void change_one(struct script_fields_of *of, uint64_t bit,
		       enum change change, bool named)
{
	uint64_t noted = named ? 0 : bit;

	if (change == CHANGE_REMOVE) {
		of->fields &= ~bit;
		of->wanted &= ~noted;
		of->refused |= noted;
	} else {
		of->fields |= bit;
		of->wanted |= noted;
		of->refused &= ~noted;
	}
	of->is_set = true;
	of->is_named = false;
}

static struct error *change_field(struct script_fields *fields, int kind,
				  const char *word, enum change change)
{
	const struct script_field *field = NULL;
	struct error *error = find_field(word, &field);

	if (error)
		return error;
	if (field->bit == SCRIPT_FLAGS) {
		fields->flags = change != CHANGE_REMOVE;
		return NULL;
	}
	if (kind >= 0 && is_impossible(field, kind))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "-F: '%s' not valid for %s events",
				    field->name, kinds[kind].name);
	for (int k = 0; k < SCRIPT_KINDS; k++)
		if ((kind < 0 || k == kind) && !is_impossible(field, k))
			change_one(&fields->of[k], field->bit, change,
				   kind >= 0);
	return NULL;
}

/* A list without + and - replaces what is printed. */
static void start_anew(struct script_fields *fields, int kind)
{
	for (int k = 0; k < SCRIPT_KINDS; k++) {
		struct script_fields_of *of = &fields->of[k];

		if (kind >= 0 && k != kind)
			continue;
		of->fields = 0;
		of->is_set = true;
		of->is_named = kind >= 0;
	}
}

/* The '-' of bpf-output may count as a sign. */
static bool has_changes(const struct script_fields *fields, const char *list)
{
	return *list == '+' || *list == '-' ||
	       (fields->signs_anywhere && strpbrk(list, "+-"));
}

static struct error *parse_list(struct script_fields *fields, int kind,
				char *list)
{
	enum change change = CHANGE_NONE;
	struct error *error = NULL;
	const char *word;

	while (!error && (word = strsep(&list, ","))) {
		if (!*word)
			continue;
		error = take_change(&word, &change);
		if (!error)
			error = change_field(fields, kind, word, change);
	}
	return error;
}

struct error *script_fields_parse(struct script_fields *fields,
				  const char *text)
{
	const char *colon = strchr(text, ':');
	const char *list = colon ? colon + 1 : text;
	struct error *error = NULL;
	int kind = -1;
	char *copy;

	if (colon)
		error = find_kind(text, (size_t)(colon - text), &kind);
	else if (!*text)
		error = error_create(ERROR_INVALID_ARGUMENT,
				     "-F: without a field there is nothing to print");
	if (error)
		return error;
	if (!has_changes(fields, list))
		start_anew(fields, kind);
	copy = strdup(list);
	if (!copy)
		return error_no_memory();
	error = parse_list(fields, kind, copy);
	free(copy);
	return error;
}

/* --- What the events have ----------------------------------------------- */

static struct error *lacks(const struct event *event,
			   const struct script_field *field)
{
	return error_create(ERROR_NOT_FOUND,
			    "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.%s%s",
			    event->name, field->needs, field->name,
			    field->hint ? " " : "",
			    field->hint ? field->hint : "");
}

static struct error *check_need(struct script_fields_of *of,
				const struct event *event,
				const struct script_field *field,
				bool has_trace)
{
	if (!field->sample_type || !(of->fields & field->bit) ||
	    (event->attr.sample_type & field->sample_type))
		return NULL;
	if (!(of->wanted & field->bit)) {
		of->fields &= ~field->bit;
		return NULL;
	}
	return field->from_trace && has_trace ? NULL : lacks(event, field);
}

static struct error *check_together(const struct script_fields_of *of,
				    const struct event *event)
{
	const char *message = NULL;
	bool has_address = event->attr.sample_type &
			   (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);

	if ((of->fields & SCRIPT_SYM) && !has_address)
		message = "Display of symbols requested but neither sample IP nor sample address available. Hence, no addresses to convert to symbols.";
	else if ((of->fields & SCRIPT_SYMOFF) && !(of->fields & SCRIPT_SYM))
		message = "Display of offsets requested but symbol is not selected: add sym.";
	else if ((of->fields & SCRIPT_DSO) && !has_address)
		message = "Display of DSO requested but no address to convert.";
	else if ((of->fields & SCRIPT_SRCLINE) && !(of->fields & SCRIPT_IP))
		message = "Display of source line number requested but sample IP is not selected. Hence, no address to lookup the source line number.";
	return message ? error_create(ERROR_INVALID_ARGUMENT, "-F: %s", message)
		       : NULL;
}

static struct error *check_first(struct script_fields_of *of,
				 const struct event *event,
				 const struct features *features)
{
	bool has_trace = features_have(features, FEATURE_AUXTRACE);
	const struct script_field *field;
	struct error *error = NULL;

	if (features_have(features, FEATURE_STAT) || !of->fields)
		return NULL;
	if ((of->fields & SCRIPT_TOD) &&
	    !features_have(features, FEATURE_CLOCK_DATA))
		return error_create(ERROR_NOT_FOUND,
				    "Can't provide 'tod' time, missing clock data. Please record with -k/--clockid option.");
	for (field = script_field_table; field->name && !error; field++)
		error = check_need(of, event, field, has_trace);
	return error ? error : check_together(of, event);
}

/* As perf has it: of a pipe, chains bring addresses even if -F has none. */
static void add_places_of_pipe(struct script_fields *fields,
			       struct script_fields_of *of)
{
	uint64_t place = SCRIPT_IP | SCRIPT_SYM;

	if (!fields->no_chains && fields->has_chains)
		of->fields |= place & ~of->refused;
}

static struct error *see_event(struct script_fields *fields,
			       const struct event *event,
			       const struct features *features, bool is_pipe)
{
	enum script_kind kind = script_fields_kind(event);
	struct script_fields_of *of = &fields->of[kind];
	bool chain = event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;
	struct error *error;

	fields->has_chains |= chain;
	if (!of->seen) {
		of->seen = true;
		error = check_first(of, event, features);
		if (error)
			return error;
		if (is_pipe)
			add_places_of_pipe(fields, of);
		if (of->fields & SCRIPT_DSOFF)
			of->fields |= SCRIPT_DSO;
	}
	/* Without a chain a tracepoint's place says nothing. */
	if (kind == SCRIPT_KIND_TRACEPOINT && chain && !fields->no_chains &&
	    !of->is_set && !(is_pipe && fields->chains_missed_in_pipes))
		of->fields |= SCRIPT_IP | SCRIPT_SYM | SCRIPT_SYMOFF |
			      SCRIPT_DSO;
	return NULL;
}

/* A kind that was named has to be there. */
static struct error *check_kinds(const struct script_fields *fields)
{
	for (int kind = 0; kind < SCRIPT_KINDS; kind++)
		if (fields->of[kind].is_named && !fields->of[kind].seen &&
		    kind != SCRIPT_KIND_SYNTH)
			return error_create(
				ERROR_NOT_FOUND,
				"%s events do not exist. Remove corresponding -F option to proceed.",
				kinds[kind].name);
	return NULL;
}

struct error *script_fields_see(struct script_fields *fields,
				const struct events *events,
				const struct features *features, bool is_pipe)
{
	bool first = !fields->event_count;
	struct error *error = NULL;

	while (!error && fields->event_count < events->list.count) {
		const struct event *event =
			events->list.data[fields->event_count++];

		if (event_kind_is_shown(event->meaning.kind))
			error = see_event(fields, event, features, is_pipe);
	}
	if (error || is_pipe || !first)
		return error;
	return check_kinds(fields);
}
