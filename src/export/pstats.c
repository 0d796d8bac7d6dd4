// SPDX-License-Identifier: GPL-2.0-only
/*
 * What cProfile writes and Python's module pstats reads: a dict, marshalled
 * (Python/marshal.c of CPython; what 3.4 and later read), from
 *	(file, line of the def, name)
 * to
 *	(calls, all calls, own time, total time, the same of each caller)
 * A function is written out once; where it calls others, its number stands.
 *
 * A number of calls is one of samples here: a sampler counts no calls. Times are
 * seconds, or what the event counts if that is no time.
 */
#include <stdlib.h>

#include "base/compare.h"
#include "base/vec.h"
#include "export/calls.h"
#include "export/format.h"
#include "export/groups.h"
#include "export/stacks.h"
#include "export/unique.h"

enum {
	/* Of a type: what it describes has the next number, for TYPE_REF. */
	FLAG_REF = 0x80,
};

struct pstats {
	const struct export_stacks *stacks;
	struct export_calls *calls;
	FILE *out;
	/* The event counts ns. */
	bool is_time;
	/* Of each function, as they are written. */
	struct export_names names;
	/* Of each function its number in the file + 1; 0: not written yet. */
	uint32_t *keys;
	uint32_t key_count;
	struct strbuf text;
};

/* --- marshal --- */

static void put_u32(struct pstats *p, uint32_t value)
{
	for (int shift = 0; shift < 32; shift += 8)
		fputc((int)(value >> shift & 0xff), p->out);
}

/* flags: FLAG_REF or 0. At most 255 items. */
static void begin_tuple(struct pstats *p, int flags, uint8_t items)
{
	fputc(')' | flags, p->out);
	fputc(items, p->out);
}

static void put_string(struct pstats *p, const char *text)
{
	strbuf_clear(&p->text);
	export_put_printable(&p->text, text);
	fputc('u', p->out);
	put_u32(p, (uint32_t)p->text.len);
	fwrite(p->text.data, 1, p->text.len, p->out);
}

/* A long has digits of 15 bits. */
static void put_integer(struct pstats *p, uint64_t value)
{
	uint32_t digits = 0;

	if (value <= INT32_MAX) {
		fputc('i', p->out);
		put_u32(p, (uint32_t)value);
		return;
	}
	for (uint64_t rest = value; rest; rest >>= 15)
		digits++;
	fputc('l', p->out);
	put_u32(p, digits);
	for (; value; value >>= 15) {
		fputc((int)(value & 0xff), p->out);
		fputc((int)(value >> 8 & 0x7f), p->out);
	}
}

/* Eight bytes, little-endian, as this machine has them. */
static void put_float(struct pstats *p, double value)
{
	fputc('g', p->out);
	fwrite(&value, sizeof(value), 1, p->out);
}

/* --- functions --- */

static void put_key(struct pstats *p, uint32_t number)
{
	const struct export_function *function =
		&p->stacks->functions.data[number];

	if (p->keys[number]) {
		fputc('r', p->out);
		put_u32(p, p->keys[number] - 1);
		return;
	}
	p->keys[number] = ++p->key_count;
	begin_tuple(p, FLAG_REF, 3);
	put_string(p, export_function_file(p->stacks, function));
	put_integer(p, function->line);
	put_string(p, p->names.data[number]);
}

/* The four numbers; all: with what it calls. */
static void put_numbers(struct pstats *p, const struct export_weight *own,
			const struct export_weight *all)
{
	double unit = p->is_time ? 1e9 : 1;

	put_integer(p, all->samples);
	put_integer(p, all->samples);
	put_float(p, (double)own->weight / unit);
	put_float(p, (double)all->weight / unit);
}

static uint32_t caller_of(const struct pstats *p,
			  const struct export_call *call)
{
	return p->stacks->places.data[call->place].function;
}

/* What a function weighs itself: its places are one, as lines were not asked for. */
static void put_functions(struct pstats *p)
{
	const struct export_call *call = p->calls->all.data;
	const struct export_call *end = call + p->calls->all.count;

	fputc('{', p->out);
	for (uint32_t i = 0; i < p->stacks->places.count; i++) {
		uint32_t number = p->stacks->places.data[i].function;

		if (!p->calls->total[number].samples)
			continue;
		put_key(p, number);
		begin_tuple(p, 0, 5);
		put_numbers(p, &p->calls->own[i], &p->calls->total[number]);
		fputc('{', p->out);
		while (call < end && call->callee < number)
			call++;
		for (; call < end && call->callee == number; call++) {
			put_key(p, caller_of(p, call));
			begin_tuple(p, 0, 4);
			put_numbers(p, &call->own, &call->all);
		}
		fputc('0', p->out);
	}
	fputc('0', p->out);
}

static int compare_callees(const void *left, const void *right)
{
	const struct export_call *a = left, *b = right;
	int order = compare_u64(a->callee, b->callee);

	return order ? order : compare_u64(a->place, b->place);
}

static struct error *put_file(struct pstats *p, struct export_groups *groups)
{
	struct error *error = export_names_create(p->stacks, &p->names);

	if (!error)
		error = export_calls_create(groups, 0, groups->all.count,
					    false, &p->calls);
	if (error)
		return error;
	p->keys = calloc(p->stacks->functions.count + 1, sizeof(*p->keys));
	if (!p->keys)
		return error_no_memory();
	if (p->calls->all.count)
		qsort(p->calls->all.data, p->calls->all.count,
		      sizeof(*p->calls->all.data), compare_callees);
	put_functions(p);
	return strbuf_error(&p->text);
}

struct error *export_pstats(const struct profile *profile,
			    const struct export_options *options, FILE *out)
{
	struct export_stacks_options without_lines = options->stacks;
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	struct pstats p = { .out = out,
			    .text = STRBUF_INIT };
	const struct export_group *group;
	struct error *error;

	without_lines.lines = false;
	error = export_groups_create(profile, &without_lines, options->event,
				     &groups);
	if (error)
		return error;
	group = groups->all.data;
	p.stacks = groups->stacks;
	p.is_time = !group->by_samples && profile->events.data[group->event]
							  .unit ==
						  EVENT_NANOSECONDS;
	error = put_file(&p, groups);
	export_calls_destroy(p.calls);
	export_names_deinit(&p.names);
	free(p.keys);
	strbuf_deinit(&p.text);
	return error;
}
