// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callgrind's profile format, version 1
 * (https://valgrind.org/docs/manual/cl-format.html): for each function its lines
 * with what they cost, and its calls. KCachegrind and callgrind_annotate read it.
 *
 * A function within itself is another one, with "'2" behind its name, as
 * Callgrind has it; and what no function calls is called by "(below main)": tools
 * take what calls into a function cost for its total.
 *
 * Each event has two costs, its samples and what they weigh. Names are compressed:
 * the first time with the name behind its number. Costs of a line that stands
 * twice add up, so events follow each other.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/vec.h"
#include "export/calls.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/recorded.h"
#include "export/stacks.h"
#include "export/unique.h"

struct callgrind {
	struct export_groups *groups;
	const struct export_stacks *stacks;
	struct export_calls *calls;
	FILE *out;
	/* The places of a function, one after the other. */
	uint32_t *places;
	/* Of functions; and which of them were written. */
	struct export_names names;
	bool *is_named;
	struct texts files;
	struct texts objects;
	struct strbuf text;
	/* Costs before those of this event, and all. */
	size_t event;
	size_t events;
	bool failed;
};

/* --- names --- */

/* A file or an object; the first time with its name. */
static void put_file(struct callgrind *c, const char *key, struct texts *names,
		     const char *name)
{
	size_t before = names->all.count;
	uint32_t number = 0;
	struct error *error;

	strbuf_clear(&c->text);
	export_put_printable(&c->text, *name ? name : "???");
	error = texts_intern(names, c->text.data, &number);
	c->failed |= error != NULL;
	error_destroy(error);
	fprintf(c->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (names->all.count > before)
		fprintf(c->out, " %s", c->text.data);
	fputc('\n', c->out);
}

static const char *object_of(const struct callgrind *c,
			     const struct export_function *function)
{
	return function->kind == PROFILE_FRAME_PYTHON ?
		       "[python]" :
		       export_function_object(c->stacks, function);
}

/* With its object and file in front. */
static void put_function(struct callgrind *c, bool is_called, uint32_t number)
{
	size_t functions = c->stacks->functions.count;
	const struct export_function *function =
		&c->stacks->functions.data[number % functions];

	put_file(c, is_called ? "cob" : "ob", &c->objects,
		 object_of(c, function));
	put_file(c, is_called ? "cfi" : "fl", &c->files,
		 export_function_file(c->stacks, function));
	fprintf(c->out, "%s=(%" PRIu32 ")", is_called ? "cfn" : "fn",
		number + 1);
	if (!c->is_named[number])
		fprintf(c->out, " %s%s", c->names.data[number % functions],
			number < functions ? "" : "'2");
	c->is_named[number] = true;
	fputc('\n', c->out);
}

/* --- costs --- */

static void put_costs(struct callgrind *c, uint32_t line,
		      const struct export_weight *weight)
{
	fprintf(c->out, "%" PRIu32, line);
	for (size_t i = 0; i < c->events; i++)
		fprintf(c->out, " %" PRIu64 " %" PRIu64,
			i == c->event ? weight->samples : 0,
			i == c->event ? weight->weight : 0);
	fputc('\n', c->out);
}

static int compare_place(const void *key, const void *call)
{
	return compare_u64(*(const uint32_t *)key,
			   ((const struct export_call *)call)->place);
}

/* The first call at that place, or the end of them. */
static const struct export_call *first_call(const struct export_calls *calls,
					    uint32_t place)
{
	const struct export_call *all = calls->all.data;
	const struct export_call *found =
		all ? bsearch(&place, all, calls->all.count, sizeof(*all),
			      compare_place) :
		      NULL;

	while (found && found > all && found[-1].place == place)
		found--;
	return found ? found : all + calls->all.count;
}

static void put_call(struct callgrind *c, uint32_t callee, uint32_t line,
		     const struct export_weight *weight)
{
	size_t functions = c->stacks->functions.count;

	put_function(c, true, callee);
	fprintf(c->out, "calls=%" PRIu64 " %" PRIu32 "\n", weight->samples,
		c->stacks->functions.data[callee % functions].line);
	put_costs(c, line, weight);
}

static void put_place(struct callgrind *c, uint32_t number)
{
	const struct export_place *place =
		&c->stacks->places.data[number % c->stacks->places.count];
	const struct export_weight *own = &c->calls->own[number];
	const struct export_call *end =
		c->calls->all.data + c->calls->all.count;

	if (own->samples)
		put_costs(c, place->line, own);
	for (const struct export_call *call = first_call(c->calls, number);
	     call < end && call->place == number; call++)
		put_call(c, call->callee, place->line, &call->all);
}

/* level: 1 for those within themselves. */
static void put_functions(struct callgrind *c, uint32_t level)
{
	uint32_t places = (uint32_t)c->stacks->places.count;
	uint32_t functions = (uint32_t)c->stacks->functions.count;
	uint32_t last = PROFILE_NONE;

	for (size_t i = 0; i < places; i++) {
		uint32_t place = c->places[i] + level * places;
		uint32_t function =
			c->stacks->places.data[c->places[i]].function +
			level * functions;

		if (!c->calls->total[function].samples)
			continue;
		if (function != last) {
			fputc('\n', c->out);
			put_function(c, false, function);
		}
		last = function;
		put_place(c, place);
	}
}

/* What calls the outermost functions. */
static void put_roots(struct callgrind *c)
{
	uint32_t functions = (uint32_t)c->stacks->functions.count;

	fputc('\n', c->out);
	put_file(c, "ob", &c->objects, "");
	put_file(c, "fl", &c->files, "");
	fprintf(c->out, "fn=(%" PRIu32 ")%s\n", 2 * functions + 1,
		c->event ? "" : " (below main)");
	for (uint32_t i = 0; i < functions; i++)
		if (c->calls->roots[i].samples)
			put_call(c, i, 0, &c->calls->roots[i]);
}

/* --- the file --- */

/* A word: letters and digits. */
static void put_word(struct callgrind *c, const char *text)
{
	for (; *text; text++)
		fputc(isalnum((unsigned char)*text) ? *text : '_', c->out);
}

static const char *unit_word(const struct callgrind *c,
			     const struct export_group *group)
{
	enum event_unit unit =
		c->stacks->profile->events.data[group->event].unit;

	return group->by_samples	   ? "weight" :
	       unit == EVENT_NANOSECONDS ? "ns" :
	       unit == EVENT_BYTES	   ? "bytes" :
					     "count";
}

static void put_event_names(struct callgrind *c)
{
	fputs("events:", c->out);
	for (size_t i = 0; i < c->groups->all.count;
	     i = export_groups_end(c->groups, i)) {
		const struct export_group *group = &c->groups->all.data[i];
		const char *name = export_event_name(c->groups, group);

		fputs(" samples_", c->out);
		put_word(c, name);
		fputc(' ', c->out);
		put_word(c, name);
		fprintf(c->out, "_%s", unit_word(c, group));
		c->events++;
	}
	fputc('\n', c->out);
}

/* What all costs are, at the end of the file. */
static void put_totals(struct callgrind *c)
{
	size_t end;

	fputs("\ntotals:", c->out);
	for (size_t i = 0; i < c->groups->all.count; i = end) {
		struct export_weight all = {};

		end = export_groups_end(c->groups, i);
		for (size_t at = i; at < end; at++) {
			all.samples += c->groups->all.data[at].samples;
			all.weight += c->groups->all.data[at].weight;
		}
		fprintf(c->out, " %" PRIu64 " %" PRIu64, all.samples,
			all.weight);
	}
	fputc('\n', c->out);
}

static void put_head(struct callgrind *c)
{
	fputs("# callgrind format\nversion: 1\ncreator: kaa\n", c->out);
	vec_for_each(recording, &c->stacks->profile->recordings) {
		strbuf_clear(&c->text);
		export_command(&recording->metadata, &c->text);
		if (!c->text.len)
			continue;
		fputs("cmd: ", c->out);
		for (const char *s = c->text.data; *s; s++)
			fputc((unsigned char)*s < ' ' ? '?' : *s, c->out);
		fputc('\n', c->out);
	}
	fputs("positions: line\n", c->out);
	put_event_names(c);
}

static struct error *put_events(struct callgrind *c)
{
	size_t end;

	for (size_t i = 0; i < c->groups->all.count; i = end, c->event++) {
		struct error *error;

		end = export_groups_end(c->groups, i);
		error = export_calls_create(c->groups, i, end, true, &c->calls);
		if (error)
			return error;
		put_functions(c, 0);
		put_functions(c, 1);
		put_roots(c);
		export_calls_destroy(c->calls);
		c->calls = NULL;
	}
	return NULL;
}

static int compare_places(const void *left, const void *right, void *stacks)
{
	const struct export_stacks *s = stacks;
	uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
	const struct export_place *a = &s->places.data[x];
	const struct export_place *b = &s->places.data[y];
	int order = compare_u64(a->function, b->function);

	return order ? order : compare_u64(a->line, b->line);
}

static struct error *sort_places(struct callgrind *c)
{
	size_t count = c->stacks->places.count;

	c->places = calloc(count + 1, sizeof(*c->places));
	c->is_named = calloc(2 * c->stacks->functions.count + 1,
			     sizeof(*c->is_named));
	if (!c->places || !c->is_named)
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		c->places[i] = (uint32_t)i;
	qsort_r(c->places, count, sizeof(*c->places), compare_places,
		c->groups->stacks);
	return NULL;
}

struct error *export_callgrind(const struct profile *profile,
			       const struct export_options *options, FILE *out)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct callgrind c = { .out = out,
			       .text = STRBUF_INIT };
	struct error *error;

	error = export_groups_with_lines(profile, &options->stacks,
					 options->event, &groups);
	if (error)
		return error;
	c.groups = groups;
	c.stacks = groups->stacks;
	error = sort_places(&c);
	if (!error)
		error = export_names_create(c.stacks, &c.names);
	if (!error) {
		put_head(&c);
		error = put_events(&c);
		put_totals(&c);
	}
	if (!error && (c.failed || c.text.failed))
		error = error_no_memory();
	free(c.places);
	free(c.is_named);
	texts_deinit(&c.files);
	texts_deinit(&c.objects);
	export_names_deinit(&c.names);
	strbuf_deinit(&c.text);
	return error;
}
