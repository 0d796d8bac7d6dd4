// SPDX-License-Identifier: GPL-2.0-only
#include "explore/own_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "explore/own_text.h"
#include "view/spent_text.h"

enum {
	/* Of the overview, at most; and these many even if they weigh little. */
	FUNCTIONS_MAX = 25,
	LINES_MAX = 25,
	THREADS_MAX = 10,
	ALWAYS = 5,
	/* A program's name takes a third of it at most. */
	SUMMARY_COLUMNS = 90,
};

/* --- What is made of the samples ---------------------------------------- */

static void made_deinit(struct own_made *made)
{
	free(made->keep);
	own_time_destroy(made->own);
	vec_deinit(&made->threads);
	vec_deinit(&made->codes);
	vec_deinit(&made->pieces);
	vec_deinit(&made->callers);
	for (size_t i = 0; i < ANSWER_PIECES; i++)
		strbuf_deinit(&made->summary[i]);
}

static bool keep_row(const struct profile *profile, size_t row, const void *arg)
{
	const uint8_t *keep = arg;

	(void)profile;
	return keep[row];
}

static struct own_time_options time_options(const struct own_rows *rows,
					    const uint8_t *keep)
{
	return (struct own_time_options){ .event = rows->event,
					  .keep = keep ? keep_row : NULL,
					  .keep_arg = keep,
					  .without_libraries = rows->without_libraries,
					  .watch = rows->watch };
}

/* Codes of one name are one row. */
static uint64_t code_key(struct own_rows *rows, const struct own_code *code)
{
	if (code->kind == SPENT_INTERPRETER)
		return hash_combine(code->kind, code->function);
	strbuf_clear(&rows->word);
	spent_text_part(rows->profile, code->kind, code->subject, &rows->word);
	return hash_combine(code->kind,
			    hash_bytes(rows->word.data, rows->word.len));
}

static struct error *add_part(struct own_rows *rows, struct own_made *made,
			      struct map *index, uint32_t function,
			      const struct own_part *part)
{
	struct own_code code = { .function = BROWSER_NONE,
				 .kind = part->kind,
				 .subject = part->subject };
	struct own_piece piece = { .function = function,
				   .period = part->weight.period };
	uint64_t *at;

	if (code.kind == SPENT_INTERPRETER)
		code.function = function;
	at = map_insert(index, code_key(rows, &code), made->codes.count, NULL);
	if (!at ||
	    (*at == made->codes.count && !vec_push(&made->codes, code)))
		return error_no_memory();
	made->codes.data[*at].period += part->weight.period;
	piece.code = (uint32_t)*at;
	return vec_push(&made->pieces, piece) ? NULL : error_no_memory();
}

static int compare_owners(const void *x, const void *y)
{
	const struct own_piece *a = x, *b = y;
	int order = compare_u64(a->function, b->function);

	return order ? order : compare_u64(a->code, b->code);
}

static int compare_pieces(const void *x, const void *y)
{
	const struct own_piece *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_owners(x, y);
}

/* Pieces of one function and one code become one. */
static void join_pieces(struct own_made *made)
{
	size_t kept = 0;

	if (!made->pieces.count)
		return;
	qsort(made->pieces.data, made->pieces.count,
	      sizeof(*made->pieces.data), compare_owners);
	vec_for_each(piece, &made->pieces) {
		struct own_piece *last =
			kept ? &made->pieces.data[kept - 1] : NULL;

		if (last && !compare_owners(last, piece))
			last->period += piece->period;
		else
			made->pieces.data[kept++] = *piece;
	}
	made->pieces.count = kept;
	qsort(made->pieces.data, kept, sizeof(*made->pieces.data),
	      compare_pieces);
}

static struct error *make_codes(struct own_rows *rows, struct own_made *made)
{
	const struct own_time *own = made->own;
	struct map index = {};
	struct error *error = NULL;

	for (uint32_t f = 0; f < own->functions.count && !error; f++) {
		const struct own_entry *function = &own->functions.data[f];

		for (uint32_t i = 0; i < function->part_count && !error; i++)
			error = add_part(rows, made, &index, f,
					 &own->parts.data[function->first_part +
							  i]);
	}
	map_deinit(&index);
	if (!error)
		join_pieces(made);
	return error;
}

static struct error *make_summary(struct own_rows *rows, bool is_zoomed,
				  struct own_made *made)
{
	struct answer_options options = *rows->options;

	options.columns = SUMMARY_COLUMNS;
	options.is_filtered |= is_zoomed;
	options.without_libraries = rows->without_libraries;
	for (size_t i = 0; i < ANSWER_PIECES; i++)
		made->summary[i] = (struct strbuf)STRBUF_INIT;
	return answer_summary(rows->profile, rows->event, &options, made->own,
			      rows->names, made->summary);
}

static struct error *find_callers(struct own_rows *rows,
				  const struct zoom *function,
				  const uint8_t *keep,
				  struct own_caller_vec *ret)
{
	const struct own_time_options options = time_options(rows, keep);

	return own_callers_find(rows->profile, &options, function->name,
				(uint32_t)function->id, ret);
}

/* The outermost frame of a task's stack names it (docs/async.md). */
static struct error *find_tasks(struct own_rows *rows, struct own_made *made)
{
	const char *name;
	size_t length;

	vec_for_each(function, &made->own->functions) {
		const struct zoom_choice choice = {
			.zoom = { .kind = ZOOM_FUNCTION,
				  .id = (int32_t)function->line,
				  .name = function->name },
			.period = function->total.period,
			.count = function->total.samples,
		};

		if (!own_entry_is_task(rows->profile, function, &name, &length))
			continue;
		if (!vec_push(&made->threads, choice))
			return error_no_memory();
	}
	made->has_tasks = made->threads.count;
	return NULL;
}

static struct error *find_threads(struct own_rows *rows, struct own_made *made)
{
	const struct profile_event *event =
		&rows->profile->events.data[rows->event];
	struct error *error = NULL;

	if (event->kind == EVENT_TASKS)
		error = find_tasks(rows, made);
	return error || made->has_tasks ?
		       error :
		       zoom_choices(rows->profile, rows->event, made->keep,
				    ZOOM_THREAD, &made->threads);
}

static struct error *make(struct own_rows *rows, const struct zooms *zooms,
			  struct own_made *made)
{
	struct own_time_options options;
	struct error *error = zooms_keep_rows(zooms, rows->profile, NULL, true,
					      &made->keep);

	options = time_options(rows, made->keep);
	if (!error)
		error = own_time_select(rows->profile, &options, &made->own);
	if (!error)
		error = find_threads(rows, made);
	if (!error)
		error = make_summary(rows, zooms->count, made);
	if (!error && rows->view == OWN_CALLERS)
		error = find_callers(rows, &rows->called, made->keep,
				     &made->callers);
	return error ? error : make_codes(rows, made);
}

/* --- Rows --------------------------------------------------------------- */

static const struct own_entry_vec *entries_of(const struct own_rows *rows,
					      enum own_view view)
{
	const struct own_time *own = rows->made.own;

	return view == OWN_FUNCTIONS ? &own->functions :
	       view == OWN_LINES     ? &own->lines :
				       &own->files;
}

static bool shows_codes(const struct own_rows *rows, enum own_view view)
{
	return view == OWN_FUNCTIONS && rows->with_native;
}

static size_t count_of(const struct own_rows *rows, enum own_view view)
{
	if (view == OWN_THREADS)
		return rows->made.threads.count;
	return shows_codes(rows, view) ? rows->made.codes.count :
					 entries_of(rows, view)->count;
}

/* What orders the i-th entry of a view. */
struct weighed {
	uint64_t period;
	uint32_t index;
};

static uint64_t weight_of(const struct own_rows *rows, enum own_view view,
			  size_t i, bool by_total)
{
	const struct own_entry *entry;

	if (view == OWN_THREADS)
		return rows->made.threads.data[i].period;
	if (shows_codes(rows, view))
		return rows->made.codes.data[i].period;
	entry = &entries_of(rows, view)->data[i];
	return by_total ? entry->total.period : entry->own.period;
}

static int compare_weighed(const void *x, const void *y)
{
	const struct weighed *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_u64(a->index, b->index);
}

/* The entries of a view, heaviest first; to be freed. NULL: no memory. */
static struct weighed *order_of(const struct own_rows *rows,
				enum own_view view)
{
	size_t count = count_of(rows, view);
	struct weighed *order = calloc(count + 1, sizeof(*order));

	for (size_t i = 0; order && i < count; i++)
		order[i] = (struct weighed){
			weight_of(rows, view, i, rows->by_total), (uint32_t)i
		};
	if (order)
		qsort(order, count, sizeof(*order), compare_weighed);
	return order;
}

static struct error *add_row(struct own_rows *rows, enum own_view view,
			     uint32_t parent, uint32_t i)
{
	uint16_t kind = OWN_THREAD;
	bool can_open = false;

	switch (view) {
	case OWN_FUNCTIONS:
		kind = rows->with_native ? OWN_CODE : OWN_FUNCTION;
		can_open = rows->with_native ?
				   rows->made.codes.data[i].function ==
					   BROWSER_NONE :
				   rows->made.own->functions.data[i].part_count;
		break;
	case OWN_LINES:
		kind = OWN_LINE;
		break;
	case OWN_FILES:
		kind = OWN_FILE;
		can_open = true;
		break;
	default:
		break;
	}
	return browser_add(&rows->browser, parent, kind, i, can_open);
}

static const enum own_view sections[] = { OWN_FUNCTIONS, OWN_LINES,
					  OWN_THREADS };
enum { SECTIONS = sizeof(sections) / sizeof(*sections) };

/* Entries that weigh something, by themselves or in total: as they stand in order. */
static size_t heavy_count(const struct own_rows *rows, enum own_view view)
{
	size_t count = 0;

	for (size_t i = 0; i < count_of(rows, view); i++)
		count += weight_of(rows, view, i, rows->by_total) != 0;
	return count;
}

/* How many rows the overview has of a view at most; the heaviest stand first. */
static size_t overview_rows(const struct own_rows *rows, enum own_view view)
{
	static const size_t most[OWN_VIEWS] = { [OWN_FUNCTIONS] = FUNCTIONS_MAX,
						[OWN_LINES] = LINES_MAX,
						[OWN_THREADS] = THREADS_MAX };
	_cleanup_free_ struct weighed *order = order_of(rows, view);
	uint64_t least = rows->made.own->all.period / 100;
	size_t count = rows->heavy[view], n = 0;

	if (view == OWN_THREADS && count < 2)
		return 0;
	while (order && n < count && n < most[view] &&
	       (n < ALWAYS || order[n].period >= least))
		n++;
	/* One more takes no more than to say that it is left out. */
	return n + 1 == count ? count : n;
}

void own_rows_read_sources(const struct own_rows *rows)
{
	const struct answer_options *o = rows->options;
	_cleanup_free_ struct weighed *order = order_of(rows, OWN_LINES);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t count = overview_rows(rows, OWN_LINES);

	for (size_t i = 0; order && o->source && i < count; i++) {
		const struct own_entry *line =
			&rows->made.own->lines.data[order[i].index];

		if (line->file != PROFILE_NONE && line->line)
			o->source(o->source_arg,
				  profile_string(rows->profile, line->file, ""),
				  line->line, &text);
		strbuf_clear(&text);
	}
}

/* Lines of the window that a section takes. */
static size_t section_height(const struct own_rows *rows, enum own_view view)
{
	size_t shown = rows->shown[view];

	return shown ? shown + 1 + (shown < rows->heavy[view]) : 0;
}

static size_t overview_height(const struct own_rows *rows)
{
	size_t height = 0;

	for (size_t i = 0; i < SECTIONS; i++)
		height += section_height(rows, sections[i]);
	return height;
}

/* Takes rows from the longest section until all fit, or have a few. */
static void divide_overview(struct own_rows *rows)
{
	/* Functions are what most came for. */
	static const size_t shares[SECTIONS] = { 2, 3, 6 };
	enum { FEW = 2 };

	for (size_t i = 0; i < SECTIONS; i++) {
		rows->heavy[sections[i]] = heavy_count(rows, sections[i]);
		rows->shown[sections[i]] = overview_rows(rows, sections[i]);
	}
	while (overview_height(rows) > rows->height) {
		size_t most = 0;
		enum own_view view = OWN_OVERVIEW;

		for (size_t i = 0; i < SECTIONS; i++) {
			size_t shown = rows->shown[sections[i]];

			if (shown <= FEW || shown * shares[i] <= most)
				continue;
			most = shown * shares[i];
			view = sections[i];
		}
		if (view == OWN_OVERVIEW)
			break;
		rows->shown[view]--;
	}
	for (size_t i = 0; i < SECTIONS; i++) {
		size_t *shown = &rows->shown[sections[i]];

		if (*shown && *shown + 1 == rows->heavy[sections[i]])
			++*shown;
	}
}

/* What weighs something counts, in the order at hand, and what it weighs itself. */
static void count_rest(struct own_rows *rows, enum own_view view,
		       const struct weighed *order, size_t shown)
{
	rows->rest_count[view] = 0;
	rows->rest_period[view] = 0;
	for (size_t i = shown; i < count_of(rows, view); i++) {
		uint64_t period = weight_of(rows, view, order[i].index, false);

		rows->rest_count[view] += order[i].period != 0;
		rows->rest_period[view] += period;
	}
}

static struct error *list_section(struct own_rows *rows, enum own_view view,
				  size_t shown)
{
	_cleanup_free_ struct weighed *order = order_of(rows, view);
	struct error *error;

	if (!order)
		return error_no_memory();
	error = browser_add(&rows->browser, BROWSER_NONE, OWN_HEADING, view,
			    false);
	for (size_t i = 0; i < shown && !error; i++)
		error = add_row(rows, view, BROWSER_NONE, order[i].index);
	count_rest(rows, view, order, shown);
	if (!error && shown < rows->heavy[view])
		error = browser_add(&rows->browser, BROWSER_NONE, OWN_REST,
				    view, false);
	return error;
}

static struct error *list_overview(struct own_rows *rows)
{
	struct error *error = NULL;

	divide_overview(rows);
	for (size_t i = 0; i < SECTIONS && !error; i++)
		if (rows->shown[sections[i]])
			error = list_section(rows, sections[i],
					     rows->shown[sections[i]]);
	return error;
}

static struct error *list_view(struct own_rows *rows, enum own_view view)
{
	_cleanup_free_ struct weighed *order = order_of(rows, view);
	struct error *error = NULL;

	if (!order)
		return error_no_memory();
	for (size_t i = 0; i < count_of(rows, view) && !error; i++)
		error = add_row(rows, view, BROWSER_NONE, order[i].index);
	return error;
}

/* --- Callers ------------------------------------------------------------ */

/* What leads to much of it, as far as the window has room. */
static struct error *open_heavy_callers(struct own_rows *rows)
{
	enum { LEAST_PERCENT = 5 };
	struct browser *b = &rows->browser;
	uint64_t all = rows->made.callers.data[0].entry.total.period;
	struct error *error = NULL;

	for (size_t i = 0; i < b->rows.count && !error; i++) {
		uint32_t ref = b->nodes.data[b->rows.data[i]].ref;
		const struct own_caller *caller = &rows->made.callers.data[ref];

		if (b->rows.count >= rows->height ||
		    caller->entry.total.period < all / 100 * LEAST_PERCENT)
			continue;
		browser_select(b, i);
		error = browser_open(b);
	}
	browser_select(b, 0);
	return error;
}

static struct error *list_callers(struct own_rows *rows)
{
	return browser_add(&rows->browser, BROWSER_NONE, OWN_CALLER, 0,
			   rows->made.callers.data[0].first_child != PROFILE_NONE);
}

static struct error *fill_callers(struct own_rows *rows, uint32_t node,
				  uint32_t caller)
{
	const struct own_caller *callers = rows->made.callers.data;
	struct error *error = NULL;

	for (uint32_t i = callers[caller].first_child;
	     i != PROFILE_NONE && !error; i = callers[i].next)
		error = browser_add(&rows->browser, node, OWN_CALLER, i,
				    callers[i].first_child != PROFILE_NONE);
	return error;
}

/* --- What is below a row ------------------------------------------------ */

/* Pieces of a function, or of a code. */
static struct error *fill_pieces(struct own_rows *rows, uint32_t node,
				 uint32_t function, uint32_t code)
{
	struct error *error = NULL;

	for (uint32_t i = 0; i < rows->made.pieces.count && !error; i++) {
		const struct own_piece *piece = &rows->made.pieces.data[i];

		if (piece->function == function)
			error = browser_add(&rows->browser, node, OWN_PART, i,
					    false);
		else if (piece->code == code)
			error = browser_add(&rows->browser, node, OWN_USER, i,
					    false);
	}
	return error;
}

static struct error *fill_file(struct own_rows *rows, uint32_t node,
			       const struct own_entry *file)
{
	const struct own_entry_vec *functions = &rows->made.own->functions;
	struct error *error = NULL;

	for (uint32_t i = 0; i < functions->count && !error; i++) {
		const struct own_entry *f = &functions->data[i];

		if (f->file == file->file && f->is_python == file->is_python)
			error = browser_add(&rows->browser, node, OWN_FUNCTION,
					    i, f->part_count);
	}
	return error;
}

static struct error *fill(void *arg, struct browser *browser, uint32_t node)
{
	struct own_rows *rows = arg;
	uint32_t ref = browser->nodes.data[node].ref;

	switch (browser->nodes.data[node].kind) {
	case OWN_FUNCTION:
		return fill_pieces(rows, node, ref, BROWSER_NONE);
	case OWN_CODE:
		return fill_pieces(rows, node, BROWSER_NONE, ref);
	case OWN_FILE:
		return fill_file(rows, node, &rows->made.own->files.data[ref]);
	case OWN_CALLER:
		return fill_callers(rows, node, ref);
	}
	return NULL;
}

static void put_names(void *arg, const struct browser *browser, uint32_t node,
		      struct strbuf *out)
{
	own_text_names(arg, &browser->nodes.data[node], out);
}

static struct error *list(struct own_rows *rows)
{
	const struct browser_source source = { .fill = fill,
					       .text = put_names,
					       .arg = rows,
					       .watch = rows->watch };
	struct error *error;

	browser_deinit(&rows->browser);
	browser_init(&rows->browser, &source);
	browser_resize(&rows->browser, rows->height);
	memset(rows->widths, 0, sizeof(rows->widths));
	rows->measured = 0;
	rows->window_top = rows->window_end = 0;
	error = rows->view == OWN_OVERVIEW ? list_overview(rows) :
		rows->view == OWN_CALLERS  ? list_callers(rows) :
					     list_view(rows, rows->view);
	if (!error)
		error = browser_show(&rows->browser);
	if (!error && rows->view == OWN_CALLERS)
		error = open_heavy_callers(rows);
	/* The heading is no answer. */
	if (!error && rows->view == OWN_OVERVIEW)
		browser_select(&rows->browser, 1);
	return error;
}

/* --- Choices ------------------------------------------------------------ */

struct error *own_rows_show(struct own_rows *rows, enum own_view view,
			    bool with_native, bool by_total)
{
	rows->view = view;
	rows->with_native = with_native;
	rows->by_total = by_total;
	return list(rows);
}

static bool has_thread(const struct own_rows *rows, int32_t tid)
{
	vec_for_each(thread, &rows->made.threads)
		if (thread->zoom.id == tid)
			return true;
	return false;
}

/* Threads without samples stand behind all others. */
struct error *own_rows_set_states(struct own_rows *rows,
				  const struct own_states *states)
{
	struct own_made *made = &rows->made;

	rows->states = states;
	vec_for_each(thread, &states->threads) {
		struct zoom_choice choice = {
			.zoom = { .kind = ZOOM_THREAD, .id = thread->tid },
			.task = thread->task,
		};

		if (made->has_tasks || has_thread(rows, thread->tid))
			continue;
		choice.comm = profile_task_name(
			profile_task(rows->profile, thread->task));
		if (!vec_push(&made->threads, choice))
			return error_no_memory();
	}
	return NULL;
}

struct error *own_rows_show_callers(struct own_rows *rows,
				    const struct zoom *function)
{
	struct own_caller_vec callers = {};
	struct error *error =
		find_callers(rows, function, rows->made.keep, &callers);

	if (error) {
		vec_deinit(&callers);
		return error;
	}
	vec_deinit(&rows->made.callers);
	rows->made.callers = callers;
	if (rows->view != OWN_CALLERS) {
		rows->view_before = rows->view;
		rows->selected_before = rows->browser.selected;
	}
	rows->called = *function;
	rows->view = OWN_CALLERS;
	return list(rows);
}

struct error *own_rows_leave_callers(struct own_rows *rows)
{
	struct error *error;

	if (rows->view != OWN_CALLERS)
		return NULL;
	rows->view = rows->view_before;
	error = list(rows);
	if (!error)
		browser_select(&rows->browser, rows->selected_before);
	return error;
}

struct error *own_rows_resize(struct own_rows *rows, size_t height)
{
	size_t selected = rows->browser.selected;
	struct error *error;

	if (rows->height == height)
		return NULL;
	rows->height = height;
	browser_resize(&rows->browser, height);
	if (rows->view != OWN_OVERVIEW)
		return NULL;
	error = list(rows);
	if (!error)
		browser_select(&rows->browser, selected);
	return error;
}

/* Takes the zooms over, even on failure. */
static struct error *take_zooms(struct own_rows *rows, struct zooms *zooms)
{
	struct own_made made = {};
	struct error *error = make(rows, zooms, &made);

	if (error) {
		made_deinit(&made);
		zooms_deinit(zooms);
		return error;
	}
	made_deinit(&rows->made);
	zooms_deinit(&rows->zooms);
	rows->made = made;
	rows->zooms = *zooms;
	return list(rows);
}

struct error *own_rows_zoom(struct own_rows *rows, const struct zoom *zoom)
{
	struct zooms zooms = {};
	struct error *error = zooms_copy(&rows->zooms, &zooms);

	if (error) {
		free(zoom->text);
		free(zoom->called);
		return error;
	}
	error = zooms_push(&zooms, zoom);
	if (error) {
		zooms_deinit(&zooms);
		return error;
	}
	return take_zooms(rows, &zooms);
}

struct error *own_rows_set_zooms(struct own_rows *rows,
				 const struct zooms *zooms)
{
	struct zooms copy = {};
	struct error *error = zooms_copy(zooms, &copy);

	return error ? error : take_zooms(rows, &copy);
}

struct error *own_rows_count_libraries(struct own_rows *rows, bool without)
{
	bool before = rows->without_libraries;
	struct error *error;

	rows->without_libraries = without;
	error = own_rows_set_zooms(rows, &rows->zooms);
	if (error)
		rows->without_libraries = before;
	return error;
}

struct error *own_rows_leave(struct own_rows *rows, bool *left)
{
	struct zooms zooms = {};
	struct error *error = zooms_copy(&rows->zooms, &zooms);

	if (error)
		return error;
	*left = zooms_pop(&zooms);
	return *left ? take_zooms(rows, &zooms) : NULL;
}

struct error *own_rows_unzoom(struct own_rows *rows, enum zoom_kind kind,
			      bool *left)
{
	struct zooms zooms = {};
	struct error *error;

	*left = zooms_has(&rows->zooms, kind);
	if (!*left)
		return NULL;
	error = zooms_copy(&rows->zooms, &zooms);
	if (error)
		return error;
	zooms_remove(&zooms, kind);
	return take_zooms(rows, &zooms);
}

/* --- Life --------------------------------------------------------------- */

static bool has_processes(const struct profile *profile)
{
	vec_for_each(task, &profile->tasks)
		if (task->pid != profile->tasks.data[0].pid)
			return true;
	return false;
}

struct error *own_rows_create(const struct profile *profile, uint32_t event,
			      const struct answer_options *options,
			      struct watch *watch, struct own_rows **ret)
{
	_cleanup_own_rows_ struct own_rows *rows = calloc(1, sizeof(*rows));
	struct zooms none = {};
	struct error *error;

	if (!rows)
		return error_no_memory();
	*rows = (struct own_rows){ .profile = profile,
				   .event = event,
				   .options = options,
				   .without_libraries = options->without_libraries,
				   .watch = watch,
				   .has_processes = has_processes(profile),
				   .word = STRBUF_INIT };
	rows->browser.text = (struct strbuf)STRBUF_INIT;
	error = place_names_create(profile, options->folder, &rows->names);
	if (!error && rows->has_processes)
		error = process_words_init(&rows->words, profile, event);
	if (!error)
		error = take_zooms(rows, &none);
	if (error)
		return error;
	rows->all_period = rows->made.own->all.period;
	*ret = take_ptr(rows);
	return NULL;
}

void own_rows_destroy(struct own_rows *rows)
{
	if (!rows)
		return;
	made_deinit(&rows->made);
	place_names_destroy(rows->names);
	process_words_deinit(&rows->words);
	zooms_deinit(&rows->zooms);
	browser_deinit(&rows->browser);
	strbuf_deinit(&rows->word);
	free(rows);
}
