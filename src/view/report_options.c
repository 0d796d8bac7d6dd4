// SPDX-License-Identifier: GPL-2.0-only
#include "view/report_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void report_options_init(struct report_options *options)
{
	*options = (struct report_options){
		.children = true,
		.callgraph = { .type = CALLGRAPH_GRAPH, .threshold = 0.5 },
		.keys = { REPORT_COMM, REPORT_DSO, REPORT_SYMBOL },
		.key_count = 3,
	};
}

bool report_has_key(const struct report_options *options, enum report_key key)
{
	for (size_t i = 0; i < options->key_count; i++)
		if (options->keys[i] == key)
			return true;
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
	{ "percent", FIELD_VALUE, CALLGRAPH_PERCENT },
	{ "period", FIELD_VALUE, CALLGRAPH_PERIOD },
	{ "count", FIELD_VALUE, CALLGRAPH_COUNT },
};

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

	if (!text)
		text = "graph,0.5,caller,function,percent";
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ",");

		if (n && !callgraph_word(&callgraph, p, n) &&
		    !callgraph_number(&callgraph, p, n, &numbers))
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"'%.*s' is no part of a call graph option; it takes graph, fractal, flat, folded or none, a threshold in percent, a print limit, caller or callee, function, address or srcline, and percent, period or count",
				(int)n, p);
		p += n + (p[n] == ',');
	}
	options->callgraph = callgraph;
	return NULL;
}

static const struct report_key_name {
	const char *name;
	enum report_key key;
} report_key_names[] = {
	{ "comm", REPORT_COMM },     { "dso", REPORT_DSO },
	{ "symbol", REPORT_SYMBOL }, { "srcline", REPORT_SRCLINE },
	{ "pid", REPORT_THREAD },    { "tid", REPORT_THREAD },
	{ "tgid", REPORT_PROCESS },  { "cpu", REPORT_CPU },
};

static struct error *add_key(struct report_options *options, const char *name,
			     size_t n)
{
	size_t count = sizeof(report_key_names) / sizeof(*report_key_names);

	for (size_t i = 0; i < count; i++) {
		if (strncasecmp(report_key_names[i].name, name, n))
			continue;
		if (!report_has_key(options, report_key_names[i].key))
			options->keys[options->key_count++] =
				report_key_names[i].key;
		return NULL;
	}
	return error_create(
		ERROR_INVALID_ARGUMENT,
		"unknown sort key '%.*s'; keys are comm, dso, symbol, srcline, pid (tid), tgid and cpu",
		(int)n, name);
}

struct error *report_parse_sort(struct report_options *options,
				const char *text)
{
	struct report_options parsed = *options;

	parsed.key_count = 0;
	parsed.sort_text = text;
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, ", ");
		struct error *error = n ? add_key(&parsed, p, n) : NULL;

		if (error)
			return error;
		p += n + (p[n] != '\0');
	}
	if (!parsed.key_count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "the sort option names no key");
	*options = parsed;
	return NULL;
}
