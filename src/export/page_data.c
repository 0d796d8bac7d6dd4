// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_data.h"

#include <stdlib.h>

#include "export/groups.h"
#include "export/page_changes.h"
#include "export/page_code.h"
#include "export/page_columns.h"
#include "export/page_facts.h"
#include "export/page_samples.h"
#include "export/page_source.h"
#include "export/page_stacks.h"

/* By function: one of the samples has it in its stack. */
static struct error *find_functions(const struct export_groups *groups,
				    bool **ret)
{
	const struct export_stacks *s = groups->stacks;
	_cleanup_free_ bool *seen = calloc(s->nodes.count + 1, sizeof(*seen));
	_cleanup_free_ bool *found =
		calloc(s->functions.count + 1, sizeof(*found));

	if (!seen || !found)
		return error_no_memory();
	vec_for_each(group, &groups->all)
		for (size_t i = 0; i < group->count; i++)
			seen[export_row_node(groups,
					     groups->rows[group->first + i])] =
				true;
	for (size_t i = s->nodes.count; i-- > 0;) {
		const struct export_node *node = &s->nodes.data[i];

		if (!seen[i])
			continue;
		found[s->places.data[node->place].function] = true;
		if (node->parent != PROFILE_NONE)
			seen[node->parent] = true;
	}
	*ret = take_ptr(found);
	return NULL;
}

static struct error *add_sources(const struct export_groups *groups,
				 const struct export_options *options,
				 struct page_columns *columns)
{
	_cleanup_free_ bool *functions = NULL;
	struct page_source_of of = { .recording = PROFILE_NONE,
				     .symfs = options->symfs };
	struct error *error =
		options->compare ? find_functions(groups, &functions) : NULL;

	if (options->compare)
		of.recording = PAGE_AFTER;
	of.functions = functions;
	return error ? error :
		       page_source_add(groups->stacks, &of, columns);
}

/* A comparison has no time of BEFORE by instruction. */
static struct error *add_code(const struct export_groups *groups,
			      const struct export_options *options,
			      const uint32_t *numbers,
			      struct page_columns *columns)
{
	bool has_code = !options->compare && !options->stacks.python_only;

	return page_code_add(groups, numbers, has_code ? options->code : NULL,
			     columns);
}

static struct error *add_all(const struct export_groups *groups,
			     const struct export_options *options,
			     struct page_columns *columns, struct strbuf *title)
{
	const struct page_compare *compare = options->compare;
	_cleanup_free_ uint32_t *numbers = NULL;
	struct error *error = page_stacks_add(
		groups->stacks, options->folder,
		compare ? &compare->diff->files.after_of : NULL, columns,
		&numbers);

	if (!error)
		error = page_samples_add(groups, numbers, columns);
	if (!error && compare)
		error = page_changes_add(groups->stacks, numbers, compare,
					 columns);
	if (!error)
		error = add_sources(groups, options, columns);
	if (!error)
		error = add_code(groups, options, numbers, columns);
	return error ? error :
		       page_facts_add(groups->stacks->profile, options, columns,
				      title);
}

struct error *page_data_put(const struct profile *profile,
			    const struct export_options *options,
			    struct strbuf *out, struct strbuf *title)
{
	_cleanup_export_groups_ struct export_groups *groups = NULL;
	_cleanup_strbuf_ struct strbuf unclean = STRBUF_INIT;
	struct page_columns columns = PAGE_COLUMNS_INIT;
	struct error *error = export_groups_of_recording(
		profile, &options->stacks, options->event,
		options->compare ? PAGE_AFTER : PROFILE_NONE, &groups);

	if (!error)
		error = add_all(groups, options, &columns, &unclean);
	if (!error)
		error = page_columns_write(&columns, out);
	page_columns_deinit(&columns);
	page_text_clean(title, unclean.data, unclean.len);
	return error;
}
