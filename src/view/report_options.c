// SPDX-License-Identifier: GPL-2.0-only
#include "view/report_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void report_options_init(struct report_options *options)
{
	*options = (struct report_options){
		.children = true,
		.percent_limit = -1,
		.callgraph = { .type = CALLGRAPH_GRAPH, .threshold = 0.5 },
		.time_quantum = 100000000,
		.inlines = true,
		.first_event = PROFILE_NONE,
	};
	report_arrange(options);
}

bool report_has_key(const struct report_options *options, enum report_key key)
{
	for (size_t i = 0; i < options->key_count; i++)
		if (options->keys[i] == key)
			return true;
	return false;
}

static bool names_one(const struct report_options *options, enum report_key key)
{
	return (key == REPORT_COMM && options->comms.count == 1) ||
	       (key == REPORT_DSO && options->dsos.count == 1) ||
	       (key == REPORT_SYMBOL && options->symbols_choice &&
		options->symbols_choice->is_whole_name);
}

bool report_is_elided(const struct report_options *options, enum report_key key)
{
	/* Of columns that would all be left out, none is. */
	for (size_t i = 0; i < options->columns.count; i++)
		if (options->columns.list[i].field == REPORT_FIELD_KEY &&
		    !names_one(options, options->columns.list[i].key))
			return names_one(options, key);
	return false;
}

bool report_caller_order(const struct report_options *options)
{
	if (options->callgraph.order == CALLGRAPH_ORDER_DEFAULT)
		return options->children;
	return options->callgraph.order == CALLGRAPH_CALLER;
}

enum callgraph_field {
	FIELD_TYPE,
	FIELD_ORDER,
	FIELD_KEY,
	FIELD_VALUE,
	/* Chains of branches, which only some hardware records: nothing. */
	FIELD_BRANCH,
};

/* perf takes the first of these that begins with the token. */
static const struct callgraph_token {
	const char *name;
	enum callgraph_field field;
	int value;
} callgraph_tokens[] = {
	{ "none", FIELD_TYPE, CALLGRAPH_NONE },
	{ "graph", FIELD_TYPE, CALLGRAPH_GRAPH },
	{ "flat", FIELD_TYPE, CALLGRAPH_FLAT },
	{ "fractal", FIELD_TYPE, CALLGRAPH_FRACTAL },
	{ "folded", FIELD_TYPE, CALLGRAPH_FOLDED },
	{ "caller", FIELD_ORDER, CALLGRAPH_CALLER },
	{ "callee", FIELD_ORDER, CALLGRAPH_CALLEE },
	{ "function", FIELD_KEY, CHAIN_KEY_FUNCTION },
	{ "address", FIELD_KEY, CHAIN_KEY_ADDRESS },
	{ "srcline", FIELD_KEY, CHAIN_KEY_SRCLINE },
	{ "branch", FIELD_BRANCH, 0 },
	{ "percent", FIELD_VALUE, CALLGRAPH_PERCENT },
	{ "period", FIELD_VALUE, CALLGRAPH_PERIOD },
	{ "count", FIELD_VALUE, CALLGRAPH_COUNT },
};

void report_callgraph_words(struct strbuf *out)
{
	size_t count = sizeof(callgraph_tokens) / sizeof(*callgraph_tokens);

	/* Branches are no part of what kaa shows. */
	for (size_t i = 0; i < count; i++)
		if (callgraph_tokens[i].field != FIELD_BRANCH)
			strbuf_printf(out, "%s ", callgraph_tokens[i].name);
}

static bool callgraph_word(struct report_callgraph *callgraph,
			   const char *token, size_t n)
{
	size_t count = sizeof(callgraph_tokens) / sizeof(*callgraph_tokens);
	const struct callgraph_token *t = callgraph_tokens;

	while (t < callgraph_tokens + count && strncmp(t->name, token, n))
		t++;
	if (!n || t == callgraph_tokens + count)
		return false;
	switch (t->field) {
	case FIELD_TYPE:
		callgraph->type = (enum callgraph_type)t->value;
		break;
	case FIELD_ORDER:
		callgraph->order = (enum callgraph_order)t->value;
		break;
	case FIELD_KEY:
		callgraph->key = (enum chain_key)t->value;
		break;
	case FIELD_VALUE:
		callgraph->value = (enum callgraph_value)t->value;
		break;
	case FIELD_BRANCH:
		break;
	}
	return true;
}

/* The first number is the threshold, the second the print limit. */
static bool callgraph_number(struct report_callgraph *callgraph,
			     const char *token, size_t n, unsigned int *numbers)
{
	char *end;
	double threshold = strtod(token, &end);
	unsigned long limit;

	if (!isdigit((unsigned char)*token) && *token != '.')
		return false;
	if ((*numbers)++ == 0) {
		callgraph->threshold = threshold;
		callgraph->has_threshold = true;
		return end == token + n;
	}
	limit = strtoul(token, &end, 0);
	callgraph->print_limit = limit > UINT32_MAX ? UINT32_MAX
						    : (uint32_t)limit;
	return end == token + n && *numbers == 2;
}

struct error *report_parse_callgraph(struct report_options *options,
				     const char *text)
{
	struct report_callgraph callgraph = options->callgraph;
	unsigned int numbers = 0;

	if (!text) {
		callgraph.threshold = 0.5;
		text = "graph,caller,function,percent";
	}
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ",");

		if (n && !callgraph_word(&callgraph, p, n) &&
		    !callgraph_number(&callgraph, p, n, &numbers))
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"'%.*s' is not a part of a call graph option; the parts are graph, fractal, flat, folded or none, a threshold in percent, a print limit, caller or callee, function, address or srcline, and percent, period or count",
				(int)n, p);
		p += n + (p[n] == ',');
	}
	options->callgraph = callgraph;
	return NULL;
}

/* perf takes the first of these that begins with the word. */
static const struct report_column_name {
	const char *name;
	struct report_column column;
} report_column_names[] = {
	{ "pid", { REPORT_FIELD_KEY, REPORT_THREAD } },
	{ "tgid", { REPORT_FIELD_KEY, REPORT_PROCESS } },
	{ "tid", { REPORT_FIELD_KEY, REPORT_THREAD } },
	{ "comm", { REPORT_FIELD_KEY, REPORT_COMM } },
	{ "dso", { REPORT_FIELD_KEY, REPORT_DSO } },
	{ "symbol", { REPORT_FIELD_KEY, REPORT_SYMBOL } },
	{ "parent", { REPORT_FIELD_KEY, REPORT_PARENT } },
	{ "cpu", { REPORT_FIELD_KEY, REPORT_CPU } },
	{ "srcline", { REPORT_FIELD_KEY, REPORT_SRCLINE } },
	{ "srcfile", { REPORT_FIELD_KEY, REPORT_SRCFILE } },
	{ "time", { REPORT_FIELD_KEY, REPORT_TIME } },
	{ "overhead", { REPORT_FIELD_OVERHEAD, 0 } },
	{ "overhead_children", { REPORT_FIELD_CHILDREN, 0 } },
	{ "sample", { REPORT_FIELD_SAMPLES, 0 } },
	{ "period", { REPORT_FIELD_PERIOD, 0 } },
	/* Not perf's: behind all that its abbreviations may mean. */
	{ "thread", { REPORT_FIELD_KEY, REPORT_THREAD_NAME } },
};

void report_column_words(struct strbuf *out)
{
	size_t count =
		sizeof(report_column_names) / sizeof(*report_column_names);

	for (size_t i = 0; i < count; i++)
		strbuf_printf(out, "%s ", report_column_names[i].name);
}

static void add_column(struct report_columns *columns,
		       struct report_column column)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i].field == column.field &&
		    columns->list[i].key == column.key)
			return;
	columns->list[columns->count++] = column;
}

static void add_columns(struct report_columns *columns,
			const struct report_columns *more)
{
	for (size_t i = 0; i < more->count; i++)
		add_column(columns, more->list[i]);
}

static struct error *add_word(struct report_columns *columns, const char *name,
			      size_t n)
{
	size_t count =
		sizeof(report_column_names) / sizeof(*report_column_names);

	for (size_t i = 0; i < count; i++) {
		if (strncasecmp(report_column_names[i].name, name, n))
			continue;
		add_column(columns, report_column_names[i].column);
		return NULL;
	}
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"unknown sort key '%.*s'; the keys are comm, dso, symbol, srcline, srcfile, parent, pid (tid), tgid, thread, cpu and time, and overhead, overhead_children, sample and period",
		(int)n, name);
}

static struct error *parse_columns(const char *text, struct report_columns *ret)
{
	struct report_columns columns = *ret;

	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ", ");
		struct error *error = n ? add_word(&columns, p, n) : NULL;

		if (error)
			return error;
		p += n + (p[n] != '\0');
	}
	if (!columns.count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "the option needs a key");
	*ret = columns;
	return NULL;
}

/* comm, dso, symbol */
static void add_default_keys(struct report_columns *columns)
{
	add_column(columns, (struct report_column){ REPORT_FIELD_KEY,
						    REPORT_COMM });
	add_column(columns, (struct report_column){ REPORT_FIELD_KEY,
						    REPORT_DSO });
	add_column(columns, (struct report_column){ REPORT_FIELD_KEY,
						    REPORT_SYMBOL });
}

struct error *report_parse_sort(struct report_options *options,
				const char *text)
{
	struct report_columns sort = {};
	struct error *error;

	if (*text == '+')
		add_default_keys(&sort);
	error = parse_columns(text + (*text == '+'), &sort);
	if (error)
		return error;
	options->sort = sort;
	options->sort_text = text;
	report_arrange(options);
	return NULL;
}

struct error *report_parse_fields(struct report_options *options,
				  const char *text)
{
	struct report_columns fields = {};
	struct error *error = parse_columns(text + (*text == '+'), &fields);

	if (error)
		return error;
	options->fields = fields;
	options->fields_add = *text == '+';
	report_arrange(options);
	return NULL;
}

struct error *report_parse_widths(struct report_options *options,
				  const char *text)
{
	const size_t max = sizeof(options->widths) / sizeof(*options->widths);

	options->width_count = 0;
	for (const char *p = text; *p && options->width_count < max;) {
		char *end;
		unsigned long width = strtoul(p, &end, 10);

		if (end == p || (*end && *end != ',') || width > UINT16_MAX)
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"'%s' is not a list of widths such as 20,0,40",
				text);
		options->widths[options->width_count++] = (uint32_t)width;
		p = end + (*end == ',');
	}
	return NULL;
}

static bool has_field(const struct report_columns *columns,
		      enum report_field field)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i].field == field)
			return true;
	return false;
}

static bool has_number(const struct report_columns *columns)
{
	return has_field(columns, REPORT_FIELD_CHILDREN) ||
	       has_field(columns, REPORT_FIELD_OVERHEAD) ||
	       has_field(columns, REPORT_FIELD_SAMPLES) ||
	       has_field(columns, REPORT_FIELD_PERIOD);
}

static void add_number(struct report_columns *columns, enum report_field field,
		       bool wanted)
{
	if (wanted)
		add_column(columns, (struct report_column){ .field = field });
}

/* The usual columns; but of those of weights the ones that --sort names alone. */
static void arrange_usual(struct report_options *o,
			  const struct report_columns *sort)
{
	struct report_columns *columns = &o->columns;
	bool sorted = has_field(sort, REPORT_FIELD_OVERHEAD) ||
		      has_field(sort, REPORT_FIELD_CHILDREN);

	/* They are the first columns wherever --sort has them. */
	add_number(columns, REPORT_FIELD_CHILDREN,
		   sorted ? has_field(sort, REPORT_FIELD_CHILDREN)
			  : o->children);
	add_number(columns, REPORT_FIELD_OVERHEAD,
		   !sorted || has_field(sort, REPORT_FIELD_OVERHEAD));
	if (has_number(sort)) {
		if (!sorted)
			o->order = *columns;
		add_columns(&o->order, sort);
	}
	add_number(columns, REPORT_FIELD_SAMPLES, o->samples);
	add_number(columns, REPORT_FIELD_PERIOD, o->period);
	add_columns(columns, &o->fields);
	add_columns(columns, sort);
}

/* What perf adds to the keys that were asked for. */
static void add_implied_keys(const struct report_options *o,
			     struct report_columns *sort)
{
	if (o->quirks.symbol_adds_ipc && o->sort_text && strstr(o->sort_text, "symbol"))
		add_column(sort, (struct report_column){ REPORT_FIELD_KEY,
							 REPORT_IPC });
	if (o->parent)
		add_column(sort, (struct report_column){ REPORT_FIELD_KEY,
							 REPORT_PARENT });
}

void report_arrange(struct report_options *options)
{
	struct report_options *o = options;
	bool strict = o->fields.count && !o->fields_add;
	struct report_columns sort = o->sort;

	o->columns.count = o->order.count = o->key_count = 0;
	if (!sort.count && !strict)
		add_default_keys(&sort);
	add_implied_keys(o, &sort);
	if (strict) {
		o->columns = o->fields;
		o->order = sort;
		add_columns(&o->order, &o->fields);
	} else {
		arrange_usual(o, &sort);
	}
	/* Sorted by what is not shown, entries differ by it all the same. */
	for (size_t i = 0; i < sort.count; i++)
		if (sort.list[i].field == REPORT_FIELD_KEY)
			o->keys[o->key_count++] = sort.list[i].key;
	for (size_t i = 0; i < o->fields.count; i++)
		if (o->fields.list[i].field == REPORT_FIELD_KEY &&
		    !report_has_key(o, o->fields.list[i].key))
			o->keys[o->key_count++] = o->fields.list[i].key;
}
