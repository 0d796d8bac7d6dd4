// SPDX-License-Identifier: GPL-2.0-only
#include "explore/row_details.h"

#include <inttypes.h>

#include "base/plural.h"
#include "view/text.h"

static void put(struct strbuf *out, const struct profile *profile,
		const char *name, uint32_t string)
{
	if (string == PROFILE_NONE)
		return;
	strbuf_printf(out, "%-14s: ", name);
	text_string(out, profile, string, "");
	strbuf_putc(out, '\n');
}

void row_name(const struct entries *entries, struct strbuf *out)
{
	const struct profile_frame *frame = entries_selected_frame(entries);
	const struct profile_symbol *symbol =
		frame ? profile_symbol(entries->profile, frame->symbol) : NULL;

	if (symbol)
		text_string(out, entries->profile, symbol->name, "[unknown]");
	else if (frame)
		strbuf_printf(out, "%#" PRIx64, frame->rel);
	else
		strbuf_puts(out, "[unknown]");
}

static const char *kind_name(const struct profile_frame *frame)
{
	switch (frame->kind) {
	case PROFILE_FRAME_PYTHON:
		return "Python";
	case PROFILE_FRAME_KERNEL:
		return "kernel";
	case PROFILE_FRAME_MARKER:
		return "mark for missing frames";
	default:
		return frame->flags & PROFILE_FRAME_INLINED ? "native, inlined"
							     : "native";
	}
}

static void put_symbol(const struct profile *profile,
		       const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	put(out, profile, "function", symbol ? symbol->name : PROFILE_NONE);
	strbuf_printf(out, "%-14s: %s\n", "kind", kind_name(frame));
	put(out, profile, "source", frame->file);
	if (frame->line)
		strbuf_printf(out, "%-14s: %u\n", "line", frame->line);
	/* Addresses of Python code are kaa's own. */
	if (frame->kind == PROFILE_FRAME_PYTHON)
		return;
	strbuf_printf(out, "%-14s: %#" PRIx64 "\n", "address", frame->address);
	if (symbol)
		strbuf_printf(out,
			      "%-14s: %#" PRIx64 " to %#" PRIx64
			      " of the file, %" PRIu64 " byte%s\n",
			      "code", symbol->start, symbol->end,
			      symbol->end - symbol->start,
			      plural(symbol->end - symbol->start));
}

static void put_dso(const struct profile *profile, uint32_t id,
		    struct strbuf *out)
{
	const struct profile_dso *dso = profile_dso(profile, id);

	if (!dso)
		return;
	put(out, profile, "file", dso->long_name);
	put(out, profile, "build-id", dso->build_id);
}

static void put_weight(const struct entries *e, const char *name,
		       uint64_t period, struct strbuf *out)
{
	strbuf_printf(out, "%-14s: %" PRIu64 ", ", name, period);
	text_percent(out, period, e->made.tree->shown_period);
	strbuf_putc(out, '\n');
}

static void put_entry(const struct entries *e,
		      const struct calltree_entry *entry, struct strbuf *out)
{
	const struct profile_task *task = entry_task(e->made.tree, entry);

	if (e->options.children)
		put_weight(e, "with callees", entry->period, out);
	put_weight(e, "in itself", entry->self_period, out);
	strbuf_printf(out, "%-14s: %" PRIu64 " in itself\n", "samples",
		      entry->self_count);
	if (report_has_key(&e->options, REPORT_COMM))
		put(out, e->profile, "command", task->comm);
	if (report_has_key(&e->options, REPORT_PROCESS))
		strbuf_printf(out, "%-14s: %d\n", "process", task->pid);
	if (report_has_key(&e->options, REPORT_THREAD))
		strbuf_printf(out, "%-14s: %d\n", "thread", task->tid);
}

static void put_branch(const struct entries *e,
		       const struct entries_branch *branch, struct strbuf *out)
{
	put_weight(e, "this branch", branch->period, out);
	strbuf_printf(out, "%-14s: %" PRIu64 "\n", "samples", branch->count);
}

void row_details(const struct entries *entries, struct strbuf *out)
{
	const struct browser *b = &entries->made.browser;
	const struct browser_node *node =
		&b->nodes.data[browser_selected(b)];
	const struct profile_frame *frame = entries_selected_frame(entries);

	if (frame) {
		put_symbol(entries->profile, frame, out);
		put_dso(entries->profile, frame->dso, out);
	}
	if (node->kind == ENTRIES_ENTRY)
		put_entry(entries, &entries->made.tree->entries.data[node->ref],
			  out);
	else if (node->kind != ENTRIES_STEP)
		put_branch(entries, &entries->made.branches.data[node->ref],
			   out);
}
