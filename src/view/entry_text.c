// SPDX-License-Identifier: GPL-2.0-only
#include "view/entry_text.h"

#include <inttypes.h>
#include <string.h>

#include "profile/event_group.h"
#include "view/text.h"

enum {
	/* perf's widths. */
	PERCENT_WIDTH = 8,
	COUNT_WIDTH = 12,
	UNRESOLVED_DSO_WIDTH = 16,
	/* Longer times, of clocks such as -k realtime, perf cuts. */
	TIME_WIDTH = 12,
	/* "1234567:" before the comm. */
	THREAD_PREFIX = 8,
};

static const char *const titles[REPORT_KEYS] = {
	[REPORT_COMM] = "Command",
	[REPORT_DSO] = "Shared Object",
	[REPORT_SYMBOL] = "Symbol",
	[REPORT_PARENT] = "Parent symbol",
	[REPORT_SRCLINE] = "Source:Line",
	[REPORT_SRCFILE] = "Source File",
	[REPORT_TIME] = "Time",
	[REPORT_IPC] = "IPC   [IPC Coverage]",
	[REPORT_THREAD] = "    Pid:Command",
	[REPORT_PROCESS] = "   Tgid:Command",
	[REPORT_CPU] = "CPU",
	[REPORT_THREAD_NAME] = "Thread",
};

static const char *thread_comm(const struct entry_text *t, int32_t tid)
{
	const uint64_t *comm = map_find(&t->comms, (uint32_t)tid);

	return comm ? profile_string(t->tree->profile, (uint32_t)*comm, "")
		    : "";
}

static struct error *learn_comms(struct entry_text *t)
{
	const struct profile *profile = t->tree->profile;

	for (size_t i = 0; i < profile->tasks.count; i++) {
		const struct profile_task *task = &profile->tasks.data[i];
		uint64_t *comm =
			map_insert(&t->comms, (uint32_t)task->tid, 0, NULL);

		if (!comm)
			return error_no_memory();
		*comm = profile->last_comms.count ? profile->last_comms.data[i]
						  : task->comm;
	}
	return NULL;
}

/* Whether perf gets to the frame, in its order, before any with a mapping. */
static bool is_before_mappings(const struct entry_text *t, uint32_t leaf,
			       const struct profile_frame *frame)
{
	const struct profile *profile = t->tree->profile;
	bool caller_order = report_caller_order(t->options);
	bool before = true;

	for (uint32_t s = leaf; s != PROFILE_NONE;
	     s = profile->stack_parents.data[s]) {
		const struct profile_frame *f =
			profile_frame(profile, profile->stack_frames.data[s]);

		if (f == frame && !caller_order)
			break;
		if (f == frame)
			before = true;
		else if (f->dso != PROFILE_NONE)
			before = false;
	}
	return before;
}

/*
 * In a chain, perf calls everything with a mapping user space, and leaves the
 * rest as what came before it, from the sample's own mode on.
 */
static bool is_kernel_before_mappings(const struct entry_text *t,
				      const struct calltree_entry *entry,
				      const struct profile_frame *frame)
{
	const struct profile *profile = t->tree->profile;
	uint32_t leaf = profile->samples.stack[entry->row];
	const struct profile_frame *hit;

	if (!frame || leaf == PROFILE_NONE)
		return false;
	if (entry->self_row == entry->row)
		return frame->kind == PROFILE_FRAME_KERNEL;
	hit = profile_frame(profile, profile->stack_frames.data[leaf]);
	return frame->dso == PROFILE_NONE &&
	       hit->kind == PROFILE_FRAME_KERNEL &&
	       is_before_mappings(t, leaf, frame);
}

static bool is_kernel(const struct entry_text *t,
		      const struct calltree_entry *entry,
		      const struct profile_frame *frame)
{
	if (t->options->quirks.kernel_callers_as_user)
		return is_kernel_before_mappings(t, entry, frame);
	return frame && frame->kind == PROFILE_FRAME_KERNEL;
}

static void put_symbol(const struct entry_text *t,
		       const struct calltree_entry *entry, struct strbuf *out)
{
	const struct profile *profile = t->tree->profile;
	const struct profile_frame *frame = entry_frame(t->tree, entry);
	const struct profile_symbol *symbol =
		frame ? profile_symbol(profile, frame->symbol) : NULL;

	strbuf_puts(out, is_kernel(t, entry, frame) ? "[k] " : "[.] ");
	if (symbol) {
		text_string(out, profile, symbol->name, "[unknown]");
		if (frame->flags & PROFILE_FRAME_INLINED)
			strbuf_puts(out, " (inlined)");
	} else if (frame) {
		strbuf_printf(out, "%-#.16" PRIx64,
			      entry_address(t->tree, t->options, entry));
	} else {
		strbuf_puts(out, "[unknown]");
	}
}

static void put_dso(const struct entry_text *t,
		    const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile *profile = t->tree->profile;
	const struct profile_dso *dso = frame ? profile_dso(profile, frame->dso)
					      : NULL;

	text_string(out, profile, dso ? dso->short_name : PROFILE_NONE,
		    "[unknown]");
}

static const char *source_of(const struct entry_text *t,
			     const struct calltree_entry *entry,
			     enum source_kind kind)
{
	const struct locations *locations = t->tree->locations;
	const char *text = locations->sources
				   ? locations->sources[entry->place][kind]
				   : NULL;

	return text ? text : "";
}

static void put_parent(const struct entry_text *t,
		       const struct calltree_entry *entry, struct strbuf *out)
{
	text_string(out, t->tree->profile,
		    t->tree->contexts.data[entry->context].parent, "[other]");
}

static void put_time(const struct entry_text *t,
		     const struct calltree_entry *entry, size_t width,
		     struct strbuf *out)
{
	uint64_t time = t->tree->contexts.data[entry->context].time;
	size_t start = out->len;

	strbuf_printf(out, "%" PRIu64 ".%06" PRIu64, time / 1000000000,
		      time % 1000000000 / 1000);
	if (t->options->quirks.times_of_12 && out->len - start > width)
		strbuf_truncate(out, start + width);
}

static void put_comm(const struct entry_text *t,
		     const struct profile_task *task, size_t width,
		     struct strbuf *out)
{
	size_t start = out->len;

	text_string(out, t->tree->profile, task->comm, "");
	if (t->options->quirks.comms_cut && out->len - start > width)
		strbuf_truncate(out, start + width);
}

static void put_task(const struct entry_text *t, int32_t id, size_t width,
		     struct strbuf *out)
{
	const char *comm = thread_comm(t, id);
	size_t n = strlen(comm);

	strbuf_printf(out, "%7d:", id);
	text_append(out, comm,
		    n < width - THREAD_PREFIX ? n : width - THREAD_PREFIX);
}

static void put_cell(const struct entry_text *t, enum report_key key,
		     const struct calltree_entry *entry, struct strbuf *out)
{
	const struct profile_task *task = entry_task(t->tree, entry);
	const struct profile_frame *frame = entry_frame(t->tree, entry);
	size_t width = t->widths[key];

	switch (key) {
	case REPORT_COMM:
		put_comm(t, task, width, out);
		break;
	case REPORT_DSO:
		put_dso(t, frame, out);
		break;
	case REPORT_SYMBOL:
		put_symbol(t, entry, out);
		break;
	case REPORT_PARENT:
		put_parent(t, entry, out);
		break;
	case REPORT_SRCLINE:
		strbuf_puts(out, source_of(t, entry, SOURCE_LINE));
		break;
	case REPORT_SRCFILE:
		strbuf_puts(out, source_of(t, entry, SOURCE_FILE));
		break;
	case REPORT_TIME:
		put_time(t, entry, width, out);
		break;
	case REPORT_IPC:
		strbuf_puts(out, "-      -");
		break;
	case REPORT_THREAD:
		put_task(t, task->tid, width, out);
		break;
	case REPORT_PROCESS:
		put_task(t, task->pid, width, out);
		break;
	case REPORT_CPU:
		strbuf_printf(out, "%3.3d",
			      t->tree->contexts.data[entry->context].cpu);
		break;
	case REPORT_THREAD_NAME:
		text_string(out, t->tree->profile, profile_task_name(task), "");
		break;
	case REPORT_KEYS:
		break;
	}
}

static size_t string_length(const struct profile *profile, uint32_t string,
			    size_t none)
{
	return string == PROFILE_NONE ? none
				      : profile->string_lengths.data[string];
}

static size_t dso_width(const struct entry_text *t,
			const struct profile_frame *frame)
{
	const struct profile *profile = t->tree->profile;
	const struct profile_dso *dso = frame ? profile_dso(profile, frame->dso)
					      : NULL;
	size_t width = dso ? string_length(profile, dso->short_name, 9) : 9;
	bool resolved = frame && frame->symbol != PROFILE_NONE;

	if (!resolved && width < UNRESOLVED_DSO_WIDTH &&
	    !t->options->field_separator && !t->options->dsos.count &&
	    !(t->options->quirks.widths_spare_symbols &&
	      t->options->width_count))
		width = UNRESOLVED_DSO_WIDTH;
	return width;
}

static size_t symbol_width(const struct entry_text *t,
			   const struct profile_frame *frame)
{
	const struct profile *profile = t->tree->profile;
	const struct profile_symbol *symbol =
		frame ? profile_symbol(profile, frame->symbol) : NULL;
	size_t width;

	/* "[.] " and "0x" with 16 digits. */
	if (!symbol)
		return 4 + 2 + 16;
	width = 4 + string_length(profile, symbol->name, 9);
	/* perf forgets what it writes behind the name. */
	return (frame->flags & PROFILE_FRAME_INLINED) &&
			       !t->options->quirks.inlined_mark_unmeasured
		       ? width + strlen(" (inlined)")
		       : width;
}

/* perf makes room for the name that the entry's first thread had last. */
static size_t comm_width(const struct entry_text *t,
			 const struct calltree_entry *entry)
{
	const struct profile *profile = t->tree->profile;
	uint32_t first = profile->samples.task[entry->row];

	if (t->options->quirks.comms_cut)
		return strlen(
			thread_comm(t, profile_task(profile, first)->tid));
	return string_length(profile, entry_task(t->tree, entry)->comm, 0);
}

static size_t time_width(struct entry_text *t,
			 const struct calltree_entry *entry)
{
	if (t->options->quirks.times_of_12)
		return TIME_WIDTH;
	strbuf_clear(&t->cell);
	put_time(t, entry, SIZE_MAX, &t->cell);
	return t->cell.len;
}

/* The width that an entry needs; that of threads counts even if elided. */
static size_t cell_width(struct entry_text *t, enum report_key key,
			 const struct calltree_entry *entry)
{
	const struct profile_task *task = entry_task(t->tree, entry);
	const struct profile_frame *frame = entry_frame(t->tree, entry);

	switch (key) {
	case REPORT_COMM:
		return comm_width(t, entry);
	case REPORT_DSO:
		return dso_width(t, frame);
	case REPORT_SYMBOL:
		return symbol_width(t, frame);
	case REPORT_PARENT:
	case REPORT_SRCLINE:
	case REPORT_SRCFILE:
		strbuf_clear(&t->cell);
		put_cell(t, key, entry, &t->cell);
		return t->cell.len;
	case REPORT_TIME:
		return time_width(t, entry);
	case REPORT_THREAD:
		return THREAD_PREFIX + strlen(thread_comm(t, task->tid));
	case REPORT_PROCESS:
		/* perf cuts comms to the title's width here. */
		if (t->options->quirks.comms_cut)
			return 0;
		return THREAD_PREFIX + strlen(thread_comm(t, task->pid));
	case REPORT_THREAD_NAME:
		return string_length(t->tree->profile, profile_task_name(task),
				     0);
	case REPORT_CPU:
	case REPORT_IPC:
	case REPORT_KEYS:
		break;
	}
	return 0;
}

static void measure_key(struct entry_text *t, enum report_key key,
			const entry_vec *entries)
{
	t->widths[key] = strlen(titles[key]);
	vec_for_each(id, entries) {
		size_t width =
			cell_width(t, key, &t->tree->entries.data[*id]);

		if (width > t->widths[key])
			t->widths[key] = width;
	}
}

static void measure(struct entry_text *t, const entry_vec *entries)
{
	for (size_t c = 0; c < t->columns.count; c++) {
		enum report_key key = t->columns.list[c].key;

		if (t->columns.list[c].field != REPORT_FIELD_KEY)
			continue;
		if (t->asked[c])
			t->widths[key] = t->asked[c];
		else
			measure_key(t, key, entries);
	}
}

static void choose_columns(struct entry_text *t)
{
	const struct report_columns *all = &t->options->columns;

	for (size_t i = 0; i < all->count; i++) {
		if (all->list[i].field == REPORT_FIELD_KEY &&
		    report_is_elided(t->options, all->list[i].key))
			continue;
		if (i < t->options->width_count)
			t->asked[t->columns.count] = t->options->widths[i];
		t->columns.list[t->columns.count++] = all->list[i];
	}
}

static size_t key_width(const struct entry_text *t, size_t column)
{
	return t->widths[t->columns.list[column].key];
}

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

struct error *entry_text_init(struct entry_text *text,
			      const struct calltree *tree,
			      const struct report_options *options,
			      const entry_vec *entries)
{
	struct error *error;

	*text = (struct entry_text){ .tree = tree,
				     .options = options,
				     .cell = STRBUF_INIT };
	choose_columns(text);
	error = learn_comms(text);
	if (!error)
		measure(text, entries);
	return error ? error : strbuf_error(&text->cell);
}

void entry_text_deinit(struct entry_text *text)
{
	map_deinit(&text->comms);
	strbuf_deinit(&text->cell);
}

/* A line under construction. */
struct line {
	struct strbuf *out;
	const char *separator;
	bool started;
	/* Rows of an unseparated table are indented. */
	bool indented;
};

static void next_column(struct line *line)
{
	if (line->separator) {
		if (line->started)
			strbuf_puts(line->out, line->separator);
	} else if (line->started || line->indented) {
		strbuf_puts(line->out, "  ");
	}
	line->started = true;
}

static void pad(struct strbuf *out, size_t start, size_t width)
{
	if (out->len - start < width)
		strbuf_fill(out, ' ', width - (out->len - start));
}

/* A title or a run of dots for each number column. */
static void put_number_title(struct line *line, const char *title, size_t width,
			     bool dots)
{
	next_column(line);
	if (dots)
		strbuf_fill(line->out, '.', width);
	else
		strbuf_printf(line->out, "%*s", (int)width, title);
}

static void put_title(const struct entry_text *t, struct strbuf *out,
		      size_t column)
{
	size_t start = out->len;
	size_t width = key_width(t, column);

	if (t->options->quirks.texts_of_1023 && width > TEXT_PERF_MAX)
		width = TEXT_PERF_MAX;
	strbuf_puts(out, titles[t->columns.list[column].key]);
	if (out->len - start > width)
		strbuf_truncate(out, start + width);
	pad(out, start, width);
}

static const char *overhead_title(const struct report_options *options)
{
	bool strict = options->fields.count && !options->fields_add;

	return options->children && !strict ? "Self" : "Overhead";
}

static bool is_percent(enum report_field field)
{
	return field == REPORT_FIELD_CHILDREN || field == REPORT_FIELD_OVERHEAD;
}

/* perf's, of one number. */
static size_t usual_width(const struct entry_text *t, size_t column)
{
	return is_percent(t->columns.list[column].field) ? PERCENT_WIDTH
							 : COUNT_WIDTH;
}

/* Of the title; numbers, one for each event of a group, may take less. */
static size_t number_width(const struct entry_text *t, size_t column)
{
	return max_size(t->asked[column], usual_width(t, column) *
						  event_group_events(t->tree));
}

/* perf gives a number the width that was asked for, but its title's at least. */
static size_t value_width(const struct entry_text *t, size_t column)
{
	return t->asked[column]
		       ? max_size(t->asked[column],
				  strlen(entry_text_title(t, column)))
		       : usual_width(t, column);
}

static void put_titles(const struct entry_text *t, struct strbuf *out,
		       bool dots)
{
	const struct report_options *options = t->options;
	struct line line = { .out = out,
			     .separator = options->field_separator };
	size_t start = out->len, max = options->title_columns;

	strbuf_puts(out, "# ");
	for (size_t c = 0; c < t->columns.count; c++) {
		struct report_column column = t->columns.list[c];
		size_t width = number_width(t, c);

		switch (column.field) {
		case REPORT_FIELD_CHILDREN:
			put_number_title(&line, "Children", width, dots);
			break;
		case REPORT_FIELD_OVERHEAD:
			put_number_title(&line, overhead_title(options), width,
					 dots);
			break;
		case REPORT_FIELD_SAMPLES:
			put_number_title(&line, "Samples", width, dots);
			break;
		case REPORT_FIELD_PERIOD:
			put_number_title(&line, "Period", width, dots);
			break;
		case REPORT_FIELD_KEY:
			next_column(&line);
			if (!dots)
				put_title(t, out, c);
			else
				strbuf_fill(out, '.', key_width(t, c));
			break;
		}
	}
	if (max && out->len - start > max)
		strbuf_truncate(out, start + max);
	strbuf_putc(out, '\n');
}

void entry_text_header(const struct entry_text *text, struct strbuf *out)
{
	put_titles(text, out, false);
	if (text->options->field_separator)
		return;
	put_titles(text, out, true);
	strbuf_puts(out, "#\n");
}

static void put_percent(struct line *line, size_t width, uint64_t period,
			uint64_t total)
{
	strbuf_printf(line->out, " %*.2f%%",
		      line->separator ? 1 : (int)width - 2,
		      total ? 100.0 * (double)period / (double)total : 0.0);
}

static void put_number(struct line *line, size_t width, uint64_t number)
{
	strbuf_printf(line->out, " %*" PRIu64,
		      line->separator ? 1 : (int)width - 1, number);
}

/* A number for each event of a group. */
static void put_numbers(const struct entry_text *t, struct line *line,
			size_t column, const struct calltree_entry *entry)
{
	enum report_field field = t->columns.list[column].field;
	size_t events = event_group_events(t->tree);
	size_t width = value_width(t, column);
	size_t start;

	next_column(line);
	start = line->out->len;
	for (size_t i = 0; i < events; i++) {
		struct event_weight weight =
			event_group_weight(t->tree, entry, i);
		uint64_t value = entry_field(&weight, field);

		if (is_percent(field))
			put_percent(line, width, value,
				    event_group_tree(t->tree, i)->shown_period);
		else
			put_number(line, width, value);
	}
	if (column + 1 < t->columns.count)
		pad(line->out, start, number_width(t, column));
}

/* Text columns of a separated table must not hold the separator. */
static void put_clean(struct strbuf *out, const struct strbuf *cell,
		      const char *separator)
{
	for (size_t i = 0; i < cell->len; i++)
		strbuf_putc(out, separator && cell->data[i] == *separator
					 ? '.'
					 : cell->data[i]);
}

/* perf cuts names of symbols, behind "[.] ", but not addresses. */
static void cut_symbol(struct entry_text *t, size_t width,
		       const struct calltree_entry *entry)
{
	const struct profile_frame *frame = entry_frame(t->tree, entry);
	bool inlined = frame && (frame->flags & PROFILE_FRAME_INLINED);
	size_t behind = inlined ? strlen(" (inlined)") : 0;

	if (!frame || frame->symbol == PROFILE_NONE || width < 4 ||
	    t->cell.len - behind <= width)
		return;
	strbuf_truncate(&t->cell, width);
	if (inlined)
		strbuf_puts(&t->cell, " (inlined)");
}

/* To the width that was asked for. */
static void cut_cell(struct entry_text *t, size_t column,
		     const struct calltree_entry *entry)
{
	size_t width = t->asked[column];

	if (width && t->options->quirks.widths_spare_symbols &&
	    t->columns.list[column].key == REPORT_SYMBOL)
		cut_symbol(t, width, entry);
	else if (width && t->cell.len > width)
		strbuf_truncate(&t->cell, width);
}

static void put_text(struct entry_text *t, struct line *line, size_t column,
		     const struct calltree_entry *entry)
{
	enum report_key key = t->columns.list[column].key;
	bool is_last = column + 1 == t->columns.count;
	bool ragged = key == REPORT_SYMBOL || key == REPORT_SRCLINE ||
		      key == REPORT_SRCFILE || key == REPORT_TIME;
	size_t start;

	next_column(line);
	start = line->out->len;
	strbuf_clear(&t->cell);
	put_cell(t, key, entry, &t->cell);
	cut_cell(t, column, entry);
	put_clean(line->out, &t->cell, line->separator);
	if (!is_last || !ragged)
		pad(line->out, start, key_width(t, column));
}

static void put_column(struct entry_text *t, struct line *line, size_t column,
		       const struct calltree_entry *entry)
{
	if (t->columns.list[column].field == REPORT_FIELD_KEY)
		put_text(t, line, column, entry);
	else
		put_numbers(t, line, column, entry);
}

void entry_text_row(struct entry_text *text, uint32_t entry, struct strbuf *out)
{
	const struct report_options *options = text->options;
	const struct calltree_entry *e = &text->tree->entries.data[entry];
	struct line line = { .out = out,
			     .separator = options->field_separator,
			     .indented = true };
	size_t start = out->len;

	for (size_t c = 0; c < text->columns.count; c++)
		put_column(text, &line, c, e);
	if (options->max_columns && out->len - start > options->max_columns)
		strbuf_truncate(out, start + options->max_columns);
	strbuf_putc(out, '\n');
}

const char *entry_text_title(const struct entry_text *text, size_t column)
{
	struct report_column c = text->columns.list[column];

	switch (c.field) {
	case REPORT_FIELD_CHILDREN:
		return "Children";
	case REPORT_FIELD_OVERHEAD:
		return overhead_title(text->options);
	case REPORT_FIELD_SAMPLES:
		return "Samples";
	case REPORT_FIELD_PERIOD:
		return "Period";
	case REPORT_FIELD_KEY:
		break;
	}
	return titles[c.key];
}

void entry_text_cell(struct entry_text *text, uint32_t entry, size_t column,
		     struct strbuf *out)
{
	const struct calltree_entry *e = &text->tree->entries.data[entry];
	uint64_t total = text->tree->shown_period;
	struct report_column c = text->columns.list[column];

	switch (c.field) {
	case REPORT_FIELD_CHILDREN:
		text_percent(out, e->period, total);
		break;
	case REPORT_FIELD_OVERHEAD:
		text_percent(out, e->self_period, total);
		break;
	case REPORT_FIELD_SAMPLES:
		strbuf_printf(out, "%" PRIu64, e->self_count);
		break;
	case REPORT_FIELD_PERIOD:
		strbuf_printf(out, "%" PRIu64, e->self_period);
		break;
	case REPORT_FIELD_KEY:
		put_cell(text, c.key, e, out);
		break;
	}
}
