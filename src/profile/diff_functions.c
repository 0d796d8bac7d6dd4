// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "profile/diff_table.h"
#include "profile/symbol_word.h"

/* A function of a run. */
struct item {
	const struct own_entry *entry;
	size_t run;
	/* Of all functions of all runs. */
	size_t number;
	bool is_after;
	/* As it is called after. */
	uint32_t file;
	/* Not terminated. */
	const char *name;
	size_t length;
};

struct items VEC_BODY(struct item);

void diff_functions_deinit(struct diff_functions *functions)
{
	vec_deinit(&functions->rows);
	vec_deinit(&functions->starts);
}

/* --- Names -------------------------------------------------------------- */

static void keep_last_name(struct item *item)
{
	for (size_t i = item->length; i-- > 0;) {
		if (item->name[i] != '.')
			continue;
		item->name += i + 1;
		item->length -= i + 1;
		return;
	}
}

static struct item name_item(const struct profile *profile,
			     const struct own_diff *diff,
			     const struct own_entry *entry, size_t run)
{
	const char *symbol = profile_string(profile, entry->name, "");
	struct python_symbol python = { .qualname = symbol,
					.qualname_length = strlen(symbol) };
	struct item item = { .entry = entry, .run = run };

	python_symbol_parse(symbol, &python);
	item.name = python.qualname;
	item.length = python.qualname_length;
	item.is_after = diff->noise.data[run].is_after;
	item.file = item.is_after ?
			    entry->file :
			    file_pairs_after(&diff->files, entry->file);
	if (diff->by_last_name)
		keep_last_name(&item);
	return item;
}

static int compare_keys(const struct item *a, const struct item *b)
{
	int order = compare_u64(a->entry->is_python, b->entry->is_python);

	if (!order)
		order = compare_u64(a->file, b->file);
	if (!order)
		order = compare_u64(a->length, b->length);
	return order ? order : memcmp(a->name, b->name, a->length);
}

static int compare_items(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = compare_keys(a, b);

	if (!order)
		order = compare_u64(a->entry->line, b->entry->line);
	return order ? order : compare_u64(a->run, b->run);
}

static struct error *gather(const struct profile *profile,
			    const struct own_diff *diff, struct items *items,
			    struct diff_functions *ret)
{
	for (size_t run = 0; run < diff->runs.count; run++) {
		if (!vec_push(&ret->starts, items->count))
			return error_no_memory();
		vec_for_each(entry, &diff->runs.data[run].own->functions) {
			struct item item =
				name_item(profile, diff, entry, run);

			item.number = items->count;
			if (!vec_push(items, item) || !vec_push(&ret->rows, 0))
				return error_no_memory();
		}
	}
	qsort(items->data, items->count, sizeof(*items->data), compare_items);
	return NULL;
}

/* --- Functions of one name ---------------------------------------------- */

/* Items of one file and name, in the order of their lines. */
struct group {
	const struct item *items;
	size_t count;
	/* By side: how many defs there are, and the last one's line. */
	size_t defs[2];
	uint32_t line[2];
};

static struct group next_group(const struct items *items, size_t from)
{
	struct group group = { .items = &items->data[from] };

	for (size_t i = from; i < items->count &&
			      !compare_keys(group.items, &items->data[i]);
	     i++) {
		const struct item *item = &items->data[i];
		bool side = item->is_after;

		group.count++;
		if (group.defs[side] && group.line[side] == item->entry->line)
			continue;
		group.defs[side]++;
		group.line[side] = item->entry->line;
	}
	return group;
}

static bool is_one(const struct group *group)
{
	return group->defs[0] <= 1 && group->defs[1] <= 1;
}

/* Files in which defs have other lines than before. */
static struct error *find_moved(const struct items *items, struct map *ret)
{
	struct group group;

	for (size_t at = 0; at < items->count; at += group.count) {
		group = next_group(items, at);
		if (is_one(&group) && group.defs[0] && group.defs[1] &&
		    group.line[0] != group.line[1] &&
		    !map_insert(ret, group.items->file, 0, NULL))
			return error_no_memory();
	}
	return NULL;
}

/*
 * Several of one name are told apart by their lines; where these have changed
 * they are one entry.
 */
static struct error *add_group(struct diff_table *table,
			       const struct group *group, bool has_moved,
			       struct diff_functions *ret)
{
	bool is_merged = !is_one(group) && has_moved;
	size_t row = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct item *item = &group->items[i];
		bool is_next = !i || (!is_one(group) && !is_merged &&
				      item->entry->line != item[-1].entry->line);
		struct error *error =
			is_next ? diff_table_new(table, &row) : NULL;

		if (error)
			return error;
		diff_table_add(table, row, item->run, item->entry);
		ret->rows.data[item->number] = row;
	}
	if (is_merged)
		table->entries->data[row].functions =
			(uint32_t)(group->defs[0] > group->defs[1] ?
					   group->defs[0] :
					   group->defs[1]);
	return NULL;
}

static struct error *pair(struct diff_table *table, const struct items *items,
			  const struct map *moved, struct diff_functions *ret)
{
	struct error *error = NULL;
	struct group group;

	for (size_t at = 0; !error && at < items->count; at += group.count) {
		group = next_group(items, at);
		error = add_group(table, &group,
				  map_find(moved, group.items->file), ret);
	}
	if (!error)
		diff_table_measure(table);
	return error;
}

struct error *diff_functions_pair(const struct profile *profile,
				  struct own_diff *diff,
				  struct diff_functions *ret)
{
	struct diff_table table = { .diff = diff,
				    .entries = &diff->functions };
	struct items items = {};
	struct map moved = {};
	struct error *error = gather(profile, diff, &items, ret);

	if (!error)
		error = find_moved(&items, &moved);
	if (!error)
		error = pair(&table, &items, &moved, ret);
	diff_table_deinit(&table);
	vec_deinit(&items);
	map_deinit(&moved);
	return error;
}
