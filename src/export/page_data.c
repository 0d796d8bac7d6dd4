// SPDX-License-Identifier: GPL-2.0-only
#include "export/page_data.h"

#include "export/groups.h"
#include "export/page_columns.h"
#include "export/page_facts.h"
#include "export/page_samples.h"
#include "export/page_source.h"
#include "export/page_stacks.h"

static struct error *add_all(const struct export_groups *groups,
			     const struct export_options *options,
			     struct page_columns *columns, struct strbuf *title)
{
	_cleanup_free_ uint32_t *numbers = NULL;
	struct error *error = page_stacks_add(groups->stacks, options->folder,
					      columns, &numbers);

	if (!error)
		error = page_samples_add(groups, numbers, columns);
	if (!error)
		error = page_source_add(groups->stacks, options->symfs, columns);
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
	struct error *error = export_groups_with_lines(
		profile, &options->stacks, options->event, &groups);

	if (!error)
		error = add_all(groups, options, &columns, &unclean);
	if (!error)
		error = page_columns_write(&columns, out);
	page_columns_deinit(&columns);
	page_text_clean(title, unclean.data, unclean.len);
	return error;
}
