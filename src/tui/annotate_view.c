// SPDX-License-Identifier: GPL-2.0-only
#include "tui/annotate_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "explore/annotate.h"
#include "explore/code.h"
#include "explore/disassembly.h"
#include "explore/own_selected.h"
#include "explore/source_proof.h"
#include "profile/symbol_word.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/text.h"

#define NO_PLACE UINT64_MAX

enum {
	WEIGHT_WIDTH = 9,
	/* Of what the title names, at least; and of " 123/1234" behind it. */
	NAME_MIN = 24,
	POSITION_WIDTH = 12,
	COUNT_WIDTH = 14,
	LINE_WIDTH = 6,
	TAB = 8,
};

/* What the columns show. */
enum shown {
	SHOWN_PERCENT,
	SHOWN_PERIOD,
	SHOWN_SAMPLES,
	SHOWN_COUNT,
};

struct annotate_row {
	uint64_t at;
	const char *text;
	size_t n;
};

struct annotated {
	/* NULL: it is shown once. */
	struct annotate_stay *stay;
	struct ui *ui;
	const struct profile *profile;
	/* The function's; NULL: it is a source file as a whole. */
	const struct profile_frame *frame;
	/* The source file, and the line to begin with, or 0. */
	const char *path;
	uint64_t line;
	struct annotation *annotation;
	struct view view;
	struct browser browser;
	VEC(struct annotate_row) rows;
	/* Where texts are. */
	struct source source;
	struct strbuf assembly;
	struct strbuf notes;
	enum shown shown;
	/* 100 % is what is zoomed into, instead of the function. */
	bool of_all;
	/* And that is everything. */
	bool is_unzoomed;
	/* Rows by weight, for Tab: where it is. */
	VEC(uint32_t) hottest;
	size_t heat;
};

static const char keys[] =
	"Up, Down, Page Up, Page Down, Space, Home, End   move\n"
	"<  >        scroll sideways\n"
	"H           go to the heaviest line\n"
	"Tab, Shift-Tab   go to the next lighter, heavier line\n"
	"s  /        search as you type; n next, N previous match\n"
	"p           show percentages of the function or the zoom\n"
	"t           show percentages, periods, sample counts\n"
	"Esc, Left, q   go back\n";

/* --- Text --------------------------------------------------------------- */

static const char *frame_name(const struct profile *profile,
			      const struct profile_frame *frame)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	return symbol ? profile_string(profile, symbol->name, "[unknown]")
		      : "[unknown]";
}

/* Of a Python function whose symbol is too long, its name alone. */
static void put_name(struct strbuf *out, const char *name, size_t room)
{
	size_t width = printable_width(name, strlen(name));
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
	struct python_symbol python;

	if (width <= room || !python_symbol_parse(name, &python)) {
		fit_end(out, name, width < room ? width : room);
		return;
	}
	strbuf_append(&word, python.qualname, python.qualname_length);
	width = printable_width(word.data, word.len);
	fit_name(out, word.data, width < room ? width : room);
	strbuf_trim_end(out);
}

/* What the title says behind the name; those of less use give way first. */
enum { TITLE_PERCENT, TITLE_OWN, TITLE_TOTAL, TITLE_PARTS };

static void put_title_parts(const struct annotated *a,
			    char parts[TITLE_PARTS][64])
{
	const struct annotate_weight *whole = &a->annotation->whole;

	memset(parts, 0, sizeof(char[TITLE_PARTS][64]));
	snprintf(parts[TITLE_OWN], 64, "own %" PRIu64 " sample%s",
		 whole->self_count, plural(whole->self_count));
	if (a->annotation->is_python)
		snprintf(parts[TITLE_TOTAL], 64, "total %" PRIu64, whole->count);
	if (a->shown == SHOWN_PERCENT)
		snprintf(parts[TITLE_PERCENT], 64, "%% of %s",
			 a->of_all && a->is_unzoomed ? "all samples" :
			 a->of_all		     ? "the zoom" :
			 a->frame		     ? "the function" :
						       "the file");
}

/* The name comes first, and gets what the others leave of a narrow window. */
static void title(void *arg, struct strbuf *out)
{
	static const uint8_t order[] = { TITLE_OWN, TITLE_TOTAL,
					 TITLE_PERCENT };
	const struct annotated *a = arg;
	size_t rows, columns, used = 0, shown = 0;
	char parts[TITLE_PARTS][64];

	put_title_parts(a, parts);
	screen_size(&rows, &columns);
	/* Behind them the view says which row it is at. */
	columns -= columns > POSITION_WIDTH ? POSITION_WIDTH : 0;
	for (size_t i = 0; i < TITLE_PARTS; i++, shown++) {
		size_t need = *parts[i] ? strlen(parts[i]) + 2 : 0;

		if (used + need + NAME_MIN > columns)
			break;
		used += need;
	}
	put_name(out, a->frame ? frame_name(a->profile, a->frame) : a->path,
		 columns - used);
	for (size_t i = 0, n = 0; i < TITLE_PARTS; i++)
		if (order[i] < shown && *parts[order[i]])
			strbuf_printf(out, "%s%s", n++ ? ", " : ": ",
				      parts[order[i]]);
}

static size_t weight_width(const struct annotated *a)
{
	return a->shown == SHOWN_PERCENT ? WEIGHT_WIDTH : COUNT_WIDTH;
}

static void put_title(const struct annotated *a, const char *text,
		      struct strbuf *out)
{
	line_align(out, text, strlen(text), weight_width(a), true);
}

static void head(void *arg, struct line *line)
{
	const struct annotated *a = arg;

	/* As perf has it of a symbol, and as the tables that lead to a file. */
	if (a->frame && a->annotation->is_python)
		put_title(a, "Total", &line->text);
	put_title(a, a->frame ? "Self" : "own", &line->text);
	if (!a->frame)
		put_title(a, "total", &line->text);
	strbuf_printf(&line->text, "  %*s  ",
		      a->annotation->is_python ? LINE_WIDTH : LINE_WIDTH * 2,
		      a->annotation->is_python ? "Line" : "Address");
	line->fixed = line->text.len;
	strbuf_puts(&line->text,
		    a->annotation->is_python ? "Source" : "Instruction");
}

/* 100 %: of a Python function, all that was sampled in and below it. */
static uint64_t base_of(const struct annotated *a)
{
	const struct annotation *n = a->annotation;

	if (a->of_all)
		return n->total_period;
	return n->is_python ? n->whole.period : n->whole.self_period;
}

static void put_weight(const struct annotated *a, uint64_t period,
		       uint64_t count, struct strbuf *out)
{
	char text[32] = "";
	uint64_t base = base_of(a);

	if (count && a->shown == SHOWN_PERCENT)
		snprintf(text, sizeof(text), "%.2f%%",
			 base ? 100.0 * (double)period / (double)base : 0.0);
	else if (count)
		snprintf(text, sizeof(text), "%" PRIu64,
			 a->shown == SHOWN_PERIOD ? period : count);
	put_title(a, text, out);
}

static double percent_of(const struct annotated *a, uint64_t period)
{
	uint64_t base = base_of(a);

	return base ? 100.0 * (double)period / (double)base : 0.0;
}

static void put_weights(const struct annotated *a, uint64_t at,
			struct line *line)
{
	static const struct annotate_weight none;
	const struct annotate_weight *w =
		at == NO_PLACE ? NULL : annotation_find(a->annotation, at);
	bool python = a->annotation->is_python;

	if (!w)
		w = &none;
	if (a->frame && python)
		put_weight(a, w->period, w->count, &line->text);
	put_weight(a, w->self_period, w->self_count, &line->text);
	if (!a->frame)
		put_weight(a, w->period, w->count, &line->text);
	line->number_end = line->text.len;
	line->percent = percent_of(a, python && a->frame ? w->period :
							    w->self_period);
}

/* Tabs as an editor shows them; the rest is the screen's. */
static void put_source(struct strbuf *out, const char *text, size_t n)
{
	size_t column = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\t') {
			strbuf_putc(out, text[i]);
			column++;
			continue;
		}
		strbuf_fill(out, ' ', TAB - column % TAB);
		column += TAB - column % TAB;
	}
}

static void row(void *arg, uint32_t node, struct line *line)
{
	const struct annotated *a = arg;
	const struct annotate_row *r = &a->rows.data[node];

	put_weights(a, r->at, line);
	if (a->annotation->is_python && r->at != NO_PLACE)
		strbuf_printf(&line->text, "  %*" PRIu64 "  ", LINE_WIDTH,
			      r->at);
	else if (r->at != NO_PLACE)
		strbuf_printf(&line->text, "  %*" PRIx64 "  ", LINE_WIDTH * 2,
			      r->at);
	else
		strbuf_puts(&line->text, "  ");
	line->fixed = line->text.len;
	put_source(&line->text, r->text, r->n);
}

static void search_text(void *arg, const struct browser *browser, uint32_t node,
			struct strbuf *out)
{
	const struct annotated *a = arg;

	(void)browser;
	strbuf_append(out, a->rows.data[node].text, a->rows.data[node].n);
}

/* --- Rows --------------------------------------------------------------- */

static struct error *add_row(struct annotated *a, uint64_t at, const char *text,
			     size_t n)
{
	if (!vec_push(&a->rows, (struct annotate_row){ at, text, n }))
		return error_no_memory();
	return browser_add(&a->browser, BROWSER_NONE, 0,
			   (uint32_t)a->rows.count - 1, false);
}

/* "<string>": its code was made at run time. */
static void note_no_file(struct annotated *a, struct error *error)
{
	strbuf_printf(&a->notes,
		      "! '%s' is no file, so there is no source to show\n",
		      a->path);
	error_destroy(error);
}

/* A line of what the user has to know, at the beginning. */
static void note_error(struct annotated *a, struct error *error)
{
	strbuf_puts(&a->notes, "! ");
	error_format(error, &a->notes);
	strbuf_putc(&a->notes, '\n');
	error_destroy(error);
}

static struct error *add_notes(struct annotated *a)
{
	const char *text = a->notes.data;

	while (*text) {
		size_t n = strcspn(text, "\n");
		struct error *error = add_row(a, NO_PLACE, text, n);

		if (error)
			return error;
		text += n + (text[n] == '\n');
	}
	return strbuf_error(&a->notes);
}

/* Of lines whose text is not there, those with samples. */
static struct error *add_places(struct annotated *a, uint64_t from)
{
	vec_for_each(place, &a->annotation->places) {
		struct error *error = NULL;

		if (place->at >= from)
			error = add_row(a, place->at, "", 0);
		if (error)
			return error;
	}
	return NULL;
}

static void note_age(struct annotated *a, const char *path)
{
	const struct source_recordings recordings =
		source_recordings_all(a->profile);
	enum source_proof proof = source_prove(&recordings, path, &a->source);
	uint64_t last = annotation_last(a->annotation);

	if (source_may_be_another(proof, &a->source, a->ui->input->recorded))
		strbuf_printf(&a->notes,
			      "! '%s' was changed after the recording, so lines may have moved\n",
			      path);
	if (last <= a->source.starts.count)
		return;
	strbuf_printf(&a->notes, "! '%s'", path);
	source_tell_no_line(&a->source, last, &a->notes);
	/* The text of none is what ran. */
	source_deinit(&a->source);
	a->source = (struct source){};
}

static struct error *fill_python(struct annotated *a)
{
	const char *path = a->path;
	struct error *error =
		source_read(a->ui->input->symfs, path, &a->source);

	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	if (error && path[0] == '<')
		note_no_file(a, error);
	else if (error)
		note_error(a, error);
	else
		note_age(a, path);
	if (a->annotation->elsewhere)
		strbuf_printf(&a->notes,
			      "! %" PRIu64
			      " %s in functions of this file whose lines are not known\n",
			      a->annotation->elsewhere,
			      a->annotation->elsewhere == 1 ? "sample is" :
							      "samples are");
	error = add_notes(a);
	for (size_t i = 1; i <= a->source.starts.count && !error; i++) {
		size_t n;
		const char *text = source_line(&a->source, i, &n);

		error = add_row(a, i, text, n);
	}
	return error ? error : add_places(a, a->source.starts.count + 1);
}

static struct error *disassemble(struct annotated *a)
{
	struct code_places places = a->ui->input->code;
	bool has_source = true;
	struct error *error;

	places.watch = &a->ui->watch;
	error = code_disassemble(&places, a->profile, a->frame, &a->assembly,
				 &has_source);
	if (!error && !has_source)
		strbuf_puts(&a->notes,
			    "! objdump took too long to find the source lines\n");
	return error;
}

static struct error *add_assembly(struct annotated *a)
{
	struct disassembly_lines lines = { .text = a->assembly.data };
	struct disassembly_line line;
	struct error *error = NULL;

	while (!error && disassembly_next(&lines, &line))
		error = add_row(a, line.is_instruction ? line.address : NO_PLACE,
				line.text, line.length);
	return error;
}

static struct error *fill_native(struct annotated *a)
{
	struct error *error = disassemble(a);

	if (error && (error->code == ERROR_NO_MEMORY ||
		      error->code == ERROR_INTERRUPTED))
		return error;
	if (error) {
		note_error(a, error);
		strbuf_clear(&a->assembly);
	}
	if (a->annotation->elsewhere)
		strbuf_printf(&a->notes,
			      "! %" PRIu64
			      " %s in interpreter frames below it (--interpreter-frames)\n",
			      a->annotation->elsewhere,
			      a->annotation->elsewhere == 1 ? "sample is" :
							      "samples are");
	error = add_notes(a);
	if (error)
		return error;
	return a->assembly.len ? add_assembly(a) : add_places(a, 0);
}

/* --- Heat --------------------------------------------------------------- */

struct heat {
	uint32_t row;
	uint64_t period;
};

static int compare_heat(const void *left, const void *right)
{
	const struct heat *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

static uint64_t row_period(const struct annotated *a, size_t i)
{
	const struct annotate_weight *w = NULL;

	if (a->rows.data[i].at != NO_PLACE)
		w = annotation_find(a->annotation, a->rows.data[i].at);
	if (!w)
		return 0;
	return a->annotation->is_python && a->frame ? w->period :
						      w->self_period;
}

static struct error *rank_rows(struct annotated *a)
{
	VEC(struct heat) heats = {};
	struct error *error = NULL;

	for (size_t i = 0; i < a->rows.count && !error; i++) {
		struct heat heat = { (uint32_t)i, row_period(a, i) };

		if (heat.period && !vec_push(&heats, heat))
			error = error_no_memory();
	}
	if (!error && heats.count)
		qsort(heats.data, heats.count, sizeof(*heats.data),
		      compare_heat);
	for (size_t i = 0; i < heats.count && !error; i++)
		if (!vec_push(&a->hottest, heats.data[i].row))
			error = error_no_memory();
	vec_deinit(&heats);
	return error;
}

/* Goes to a row, with as much above it as below. */
static void go_to_row(struct annotated *a, size_t row_index)
{
	size_t half = a->browser.height / 2;

	a->browser.top = row_index > half ? row_index - half : 0;
	browser_select(&a->browser, row_index);
}

static void go_to_heat(struct annotated *a)
{
	if (a->hottest.count)
		go_to_row(a, a->hottest.data[a->heat]);
}

/* Where Tab goes on from there. */
static void go_to_line(struct annotated *a)
{
	for (size_t i = 0; i < a->hottest.count; i++) {
		if (a->rows.data[a->hottest.data[i]].at != a->line)
			continue;
		a->heat = i;
		go_to_heat(a);
		return;
	}
	for (size_t i = 0; i < a->rows.count; i++)
		if (a->rows.data[i].at == a->line)
			go_to_row(a, i);
}

static struct error *key(void *arg, uint32_t pressed, bool *leave)
{
	struct annotated *a = arg;
	size_t count = a->hottest.count;

	switch (pressed) {
	case TUI_KEY_ESCAPE:
	case TUI_KEY_LEFT:
	case 'a':
		*leave = true;
		break;
	case 'H':
		a->heat = 0;
		go_to_heat(a);
		break;
	case TUI_KEY_TAB:
	case TUI_KEY_BACK_TAB:
		if (count)
			a->heat = (a->heat + (pressed == TUI_KEY_TAB
						      ? 1
						      : count - 1)) %
				  count;
		go_to_heat(a);
		break;
	case 'p':
		a->of_all = !a->of_all;
		break;
	case 't':
		a->shown = (a->shown + 1) % SHOWN_COUNT;
		break;
	}
	return NULL;
}

static struct error *tick(void *arg, bool *leave)
{
	struct annotated *a = arg;

	a->stay->is_due = *leave = true;
	return NULL;
}

static void go_back_to(struct annotated *a, const struct annotate_stay *stay)
{
	a->of_all = !stay->is_part;
	a->shown = (enum shown)stay->unit;
	a->view.shift = stay->shift;
	a->heat = stay->heat < a->hottest.count ? stay->heat : 0;
	a->browser.top = stay->top;
	browser_select(&a->browser, stay->selected);
}

static void keep_stay(const struct annotated *a, struct annotate_stay *stay)
{
	*stay = (struct annotate_stay){ .is_due = stay->is_due,
					  .is_known = true,
					  .selected = a->browser.selected,
					  .top = a->browser.top,
					  .shift = a->view.shift,
					  .heat = a->heat,
					  .is_part = !a->of_all,
					  .unit = (int)a->shown };
}

/* The first note, which stands above what is shown. */
static void say_note(const struct annotated *a)
{
	const char *note = a->notes.data;

	if (a->notes.len > 2)
		ui_say(a->ui, "%.*s", (int)strcspn(note + 2, "\n"), note + 2);
}

/* The line that was asked for; else what the user has to know comes first. */
static void go_to_first(struct annotated *a)
{
	size_t rows, columns;

	screen_size(&rows, &columns);
	browser_resize(&a->browser, rows > 3 ? rows - 3 : 1);
	if (a->stay && a->stay->is_known)
		go_back_to(a, a->stay);
	else if (a->line)
		go_to_line(a);
	else if (!a->notes.len)
		go_to_heat(a);
	if (a->line && (!a->stay || !a->stay->is_known))
		say_note(a);
}

static struct error *show(struct annotated *a)
{
	struct error *error = a->annotation->is_python ? fill_python(a)
						       : fill_native(a);

	if (!error)
		error = rank_rows(a);
	if (!error)
		error = browser_show(&a->browser);
	if (error)
		return error;
	go_to_first(a);
	error = view_run(a->ui, &a->view);
	if (a->stay)
		keep_stay(a, a->stay);
	return error;
}

/* `error` is what became of a->annotation. */
static struct error *run(struct annotated *a, struct error *error)
{
	const struct browser_source source = { .text = search_text, .arg = a };

	a->view = (struct view){
		.browser = &a->browser,
		.arg = a,
		.hint = "h: keys  H: heaviest line  Tab: next  p: percent of  t: unit  Esc: back",
		.help = keys,
		.slash_searches = true,
		.is_inner = true,
		.title = title,
		.head = head,
		.row = row,
		.key = key,
		.tick = a->stay ? tick : NULL,
		.line = LINE_INIT,
		.bar = STRBUF_INIT,
	};
	browser_init(&a->browser, &source);
	if (!error)
		error = show(a);
	annotation_destroy(a->annotation);
	browser_deinit(&a->browser);
	vec_deinit(&a->rows);
	vec_deinit(&a->hottest);
	source_deinit(&a->source);
	strbuf_deinit(&a->assembly);
	strbuf_deinit(&a->notes);
	view_deinit(&a->view);
	return error;
}

static struct annotated annotated_init(struct ui *ui)
{
	return (struct annotated){ .ui = ui,
				   .profile = ui->input->profile,
				   .source = { .text = STRBUF_INIT },
				   .assembly = STRBUF_INIT,
				   .notes = STRBUF_INIT };
}

struct error *annotate_view(struct ui *ui, const struct entries *entries,
			    const struct profile_frame *frame)
{
	struct annotated a = annotated_init(ui);

	if (!frame || frame->symbol == PROFILE_NONE) {
		ui_say(ui, "there is no function to annotate");
		return NULL;
	}
	a.frame = frame;
	a.path = profile_string(a.profile, frame->file, "");
	return run(&a, annotation_create(entries, frame, &a.annotation));
}

static struct error *show_file(struct ui *ui, const struct own_rows *rows,
			       uint32_t file, uint32_t line,
			       struct annotate_stay *stay)
{
	struct annotated a = annotated_init(ui);

	a.path = profile_string(a.profile, file, "");
	a.line = line;
	a.of_all = true;
	a.is_unzoomed = !rows->zooms.count;
	a.stay = stay;
	return run(&a, annotation_of_file(rows->made.own, file,
					  &a.annotation));
}

struct error *annotate_source(struct ui *ui, const struct own_rows *rows)
{
	const struct own_entry *entry = own_selected_entry(rows);

	if (!entry || !entry->is_python || entry->file == PROFILE_NONE) {
		ui_say(ui, "this row has no Python source");
		return NULL;
	}
	return show_file(ui, rows, entry->file, own_selected_line(rows), NULL);
}

struct error *annotate_file(struct ui *ui, const struct own_rows *rows,
			    uint32_t file, uint32_t line,
			    struct annotate_stay *stay)
{
	stay->is_due = false;
	return show_file(ui, rows, file, line, stay);
}
