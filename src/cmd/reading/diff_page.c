// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/diff_page.h"

#include <inttypes.h>

#include "base/plural.h"
#include "base/strbuf.h"
#include "flame/flame_page.h"
#include "flame/flame_tree.h"
#include "view/answer.h"

static enum flame_side side_of(const struct diff_page *page, size_t run)
{
	return run < page->before ? FLAME_BEFORE : FLAME_AFTER;
}

static struct error *make_tree(const struct diff_page *page, bool is_picture,
			       struct flame_tree **ret)
{
	const struct flame_options options = {
		.compare = page->by == OWN_DIFF_BY_TIME ? FLAME_BY_TIME :
							  FLAME_BY_SHARE,
		.same_files = &page->diff->files.after_of,
		.folder = page->folder,
		.without_libraries = page->without_libraries,
		.native = !is_picture,
		.threads = !is_picture,
	};
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	struct error *error = flame_tree_create(&options, &tree);

	for (size_t i = 0; !error && i < page->diff->runs.count; i++)
		error = flame_tree_add(tree, page->profile,
				       page->diff->runs.data[i].event,
				       side_of(page, i));
	if (!error)
		error = flame_tree_finish(tree);
	if (!error)
		*ret = take_ptr(tree);
	return error;
}

/* "before: a.data, b.data, 1200 samples" */
static void put_side(const struct diff_page *page, enum flame_side side,
		     struct strbuf *out)
{
	uint64_t samples = 0;

	strbuf_puts(out, side == FLAME_BEFORE ? "before: " : "after: ");
	for (size_t i = 0; i < page->diff->runs.count; i++) {
		if (side_of(page, i) != side)
			continue;
		strbuf_printf(out, "%s, ", page->paths[i]);
		samples += page->diff->runs.data[i].own->all.samples;
	}
	strbuf_printf(out, "%" PRIu64 " sample%s\n", samples, plural(samples));
}

struct error *diff_page_write(const struct diff_page *page,
			      const struct flame_file *file)
{
	_cleanup_flame_tree_ struct flame_tree *tree = NULL;
	_cleanup_strbuf_ struct strbuf summary = STRBUF_INIT;
	uint32_t event = page->diff->runs.data[0].event;
	struct flame_head head = {
		.title = "What changed - flame graph",
		.notes = page->by == OWN_DIFF_BY_TIME ?
				 "Compared is what a run took." :
				 "Compared are shares of a run.",
		.unit = page->profile->events.data[event].unit,
	};
	struct error *error = make_tree(page, file->svg, &tree);

	if (error)
		return error;
	put_side(page, FLAME_BEFORE, &summary);
	put_side(page, FLAME_AFTER, &summary);
	if (page->without_libraries)
		strbuf_puts(&summary, ANSWER_WITHOUT_LIBRARIES);
	error = strbuf_error(&summary);
	head.summary = summary.data;
	return error ? error : flame_file_write(file, tree, &head);
}
