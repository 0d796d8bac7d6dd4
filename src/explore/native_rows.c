// SPDX-License-Identifier: GPL-2.0-only
#include "explore/native_rows.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"

static struct error *find_hits(struct native_rows *rows,
			       const struct profile *profile,
			       const uint32_t *events, size_t count,
			       uint32_t symbol)
{
	struct error *error = NULL;

	for (size_t i = 0; i < count && !error; i++) {
		struct native_hits *hits;

		error = native_hits_create(profile, events[i], symbol, &hits);
		if (!error && !vec_push(&rows->hits, hits)) {
			native_hits_destroy(hits);
			error = error_no_memory();
		}
	}
	return error;
}

/* --- Where there is no code --------------------------------------------- */

static bool has_address(const struct native_rows *rows, size_t events,
			uint64_t address)
{
	for (size_t i = 0; i < events; i++)
		if (native_hits_at(rows->hits.data[i], address))
			return true;
	return false;
}

static int compare_rows(const void *x, const void *y)
{
	const struct disassembly_line *a = x, *b = y;

	return compare_u64(a->address, b->address);
}

static struct error *add_addresses(struct native_rows *rows)
{
	for (size_t i = 0; i < rows->hits.count; i++)
		vec_for_each(hit, &rows->hits.data[i]->places) {
			const struct disassembly_line row = {
				.is_instruction = true,
				.address = hit->at,
				.text = "",
			};

			/* An event before this one has a row for it. */
			if (has_address(rows, i, hit->at))
				continue;
			if (!vec_push(&rows->all, row))
				return error_no_memory();
		}
	if (rows->all.count)
		qsort(rows->all.data, rows->all.count, sizeof(*rows->all.data),
		      compare_rows);
	return NULL;
}

/* --- All ---------------------------------------------------------------- */

static struct error *add_instructions(struct native_rows *rows)
{
	struct disassembly_lines lines = { .text = rows->assembly.data };
	struct disassembly_line row;

	while (disassembly_next(&lines, &row))
		if (!vec_push(&rows->all, row))
			return error_no_memory();
	return NULL;
}

struct error *native_rows_create(const struct code_places *places,
				 const struct profile *profile,
				 const uint32_t *events, size_t count,
				 uint32_t frame, bool has_source,
				 struct native_rows **ret)
{
	const struct profile_frame *f = profile_frame(profile, frame);
	_cleanup_native_rows_ struct native_rows *rows =
		calloc(1, sizeof(*rows));
	struct error *error;

	if (!rows)
		return error_no_memory();
	rows->assembly = (struct strbuf)STRBUF_INIT;
	error = find_hits(rows, profile, events, count, f->symbol);
	if (error)
		return error;
	rows->why = code_disassemble(places, profile, f, &rows->assembly,
				     &has_source);
	if (rows->why && (rows->why->code == ERROR_NO_MEMORY ||
			  rows->why->code == ERROR_INTERRUPTED))
		return take_ptr(rows->why);
	error = rows->why ? add_addresses(rows) : add_instructions(rows);
	if (!error)
		*ret = take_ptr(rows);
	return error;
}

void native_rows_destroy(struct native_rows *rows)
{
	if (!rows)
		return;
	vec_for_each(hits, &rows->hits)
		native_hits_destroy(*hits);
	vec_deinit(&rows->hits);
	vec_deinit(&rows->all);
	strbuf_deinit(&rows->assembly);
	error_destroy(rows->why);
	free(rows);
}

static const struct native_hit *find_hit(const struct native_rows *rows,
					 size_t event, size_t row)
{
	const struct disassembly_line *line = &rows->all.data[row];

	return line->is_instruction ?
		       native_hits_at(rows->hits.data[event], line->address) :
		       NULL;
}

const struct own_weight *native_rows_hit(const struct native_rows *rows,
					 size_t event, size_t row)
{
	const struct native_hit *hit = find_hit(rows, event, row);

	return hit ? &hit->weight : NULL;
}

bool native_rows_is_hit(const struct native_rows *rows, size_t row)
{
	return native_rows_frame(rows, row) != PROFILE_NONE;
}

uint32_t native_rows_frame(const struct native_rows *rows, size_t row)
{
	for (size_t i = 0; i < rows->hits.count; i++) {
		const struct native_hit *hit = find_hit(rows, i, row);

		if (hit)
			return hit->frame;
	}
	return PROFILE_NONE;
}

void native_rows_tell_missing(const struct native_rows *rows,
			      struct strbuf *out)
{
	uint64_t all = rows->hits.data[0]->all.samples, found = 0;

	for (size_t i = 0; i < rows->all.count; i++) {
		const struct own_weight *hit = native_rows_hit(rows, 0, i);

		found += hit ? hit->samples : 0;
	}
	if (found < all)
		strbuf_printf(out,
			      "%" PRIu64 " of %" PRIu64
			      " samples are at addresses that the code does not have",
			      all - found, all);
}
