// SPDX-License-Identifier: GPL-2.0-only
#include "view/spent_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/map.h"
#include "base/name_match.h"
#include "base/path_name.h"
#include "profile/installed_path.h"
#include "profile/symbol_word.h"
#include "view/cython_name.h"
#include "view/fit.h"
#include "view/printable.h"
#include "view/text.h"

/* Parts of one function that are looked at, the heaviest. */
enum { PARTS_MAX = 16 };
/* Calls of the kernel in the summary of waits; more are looked at. */
enum { CALLS_SHOWN = 8, CALLS_MAX = 64 };

static const char *const kind_names[] = {
	[SPENT_INTERPRETER] = "interpreter",
	[SPENT_NATIVE] = "native",
	[SPENT_KERNEL] = "kernel",
	[SPENT_ALLOCATION] = "allocation",
	[SPENT_IMPORT] = "import",
	[SPENT_LIBRARY] = "libraries",
	[SPENT_GIL] = "GIL wait",
	[SPENT_GC] = "garbage collection",
	[SPENT_START] = "start of Python",
	[SPENT_END] = "end of Python",
	[SPENT_UNTOLD] = "running",
	[SPENT_WAITING] = "waiting",
	[SPENT_IDLE] = "idle",
	[SPENT_CPU_WAIT] = "CPU wait",
	[SPENT_AWAITS_TASK] = "awaits task",
	[SPENT_AWAITS_SLEEP] = "awaits sleep",
	[SPENT_AWAITS_LOCK] = "awaits lock",
	[SPENT_AWAITS_QUEUE] = "awaits queue",
	[SPENT_AWAITS_SOCKET] = "awaits socket",
	[SPENT_AWAITS_PROCESS] = "awaits process",
	[SPENT_AWAITS_THREAD] = "awaits thread",
	[SPENT_AWAITS_FUTURE] = "awaits future",
	[SPENT_AWAITS_TURN] = "awaits its turn",
};

struct piece {
	enum spent_kind kind;
	/* Of what it is called, where that is asked for. */
	uint64_t name;
	/* Or PROFILE_NONE: the kind says all. */
	uint32_t subject;
	uint64_t period;
};

/*
 * Without native frames all that is known is that a thread ran. That is worth a word
 * only where other samples are of threads that slept.
 */
static bool goes_without_saying(const struct profile *profile, enum spent_kind kind)
{
	if (kind != SPENT_UNTOLD)
		return false;
	vec_for_each(event, &profile->events)
		if (event_kind_is_wall(event->kind) ||
		    event->kind == EVENT_GIL)
			return false;
	return true;
}

static int compare_pieces(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;
	int order = compare_u64(b->period, a->period);

	return order ? order : compare_u64(a->kind, b->kind);
}

/* --- Names -------------------------------------------------------------- */

static void put_string(struct strbuf *out, const char *s)
{
	text_append(out, s, strlen(s));
}


/* "_json.cpython-311-x86_64-linux-gnu.so+0x1a0": "_json+0x1a0". */
static void put_nameless(const char *name, struct strbuf *out)
{
	const char *place = strrchr(name, '+');
	size_t length = symbol_module_length(name);

	text_append(out, name, length);
	if (name[length] && place)
		put_string(out, place);
}

static void put_function(const char *name, struct strbuf *out)
{
	const char *at = symbol_link_suffix(name);

	if (!at) {
		put_string(out, name);
		return;
	}
	text_append(out, name, (size_t)(at - name));
	at += strlen(SYMBOL_LINK_MARK);
	put_string(out, at + strspn(at, "0123456789"));
}

static void put_native(const struct profile *profile,
		       const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);
	const struct profile_dso *dso = profile_dso(profile, frame->dso);
	const char *file =
		dso ? profile_string(profile, dso->short_name, "?") : "";
	const char *name =
		symbol ? profile_string(profile, symbol->name, "?") : file;

	if (!*name)
		strbuf_puts(out, "unknown code");
	else if (!symbol || symbol->is_nameless)
		put_nameless(name, out);
	else if (!cython_name(name, file, symbol_module_length(file), out))
		put_function(name, out);
}

static void put_kernel(const struct profile *profile,
		       const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);
	const char *name =
		symbol ? profile_string(profile, symbol->name, "") : "";
	struct spent_call call;

	if (!spent_kernel_call(name, &call)) {
		strbuf_puts(out, "kernel");
		return;
	}
	text_append(out, call.name, call.length);
	strbuf_puts(out, call.is_system_call ? "()" : "");
}

/* "json" of json/decoder.py. */
static void put_library(const struct profile *profile,
			const struct profile_frame *frame, struct strbuf *out)
{
	const char *path = profile_string(profile, frame->file, "");
	const char *name = installed_path(path);
	size_t length = name ? strcspn(name, "/") : 0;

	if (name && !name[length] && name_ends_with(name, ".py"))
		length -= strlen(".py");
	if (name)
		text_append(out, name, length);
	else
		put_string(out, path_name(path));
}

const char *spent_kind_text(enum spent_kind kind)
{
	return kind_names[kind];
}

void spent_text_function(const struct profile *profile, enum spent_kind kind,
			 uint32_t subject, struct strbuf *out)
{
	if (!spent_has_subject(kind) || subject == PROFILE_NONE)
		strbuf_puts(out, kind_names[kind]);
	else if (kind == SPENT_KERNEL)
		put_kernel(profile, profile_frame(profile, subject), out);
	else if (kind == SPENT_LIBRARY)
		put_library(profile, profile_frame(profile, subject), out);
	else
		put_native(profile, profile_frame(profile, subject), out);
}

void spent_text_file(const struct profile *profile, enum spent_kind kind,
		     uint32_t subject, struct strbuf *out)
{
	const struct profile_frame *frame;
	const struct profile_symbol *symbol;
	const struct profile_dso *dso;
	const char *name;

	if (kind != SPENT_NATIVE || subject == PROFILE_NONE)
		return;
	frame = profile_frame(profile, subject);
	symbol = profile_symbol(profile, frame->symbol);
	dso = profile_dso(profile, frame->dso);
	/* The names of others are those of their files. */
	if (symbol && dso && !symbol->is_nameless) {
		name = profile_string(profile, dso->short_name, "?");
		text_append(out, name, symbol_module_length(name));
	}
}

/* Of "libz.so.1.2.13" what people call it: libz. */
static size_t library_length(const char *name)
{
	const char *end = strstr(name, ".so");

	return end && end > name && (!end[3] || end[3] == '.') ?
		       (size_t)(end - name) :
		       strlen(name);
}

void spent_text_part(const struct profile *profile, enum spent_kind kind,
		     uint32_t subject, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	size_t start = out->len, length;

	spent_text_function(profile, kind, subject, out);
	if (kind != SPENT_NATIVE || subject == PROFILE_NONE ||
	    (profile_frame(profile, subject)->flags & PROFILE_FRAME_IN_CPYTHON))
		return;
	spent_text_file(profile, kind, subject, &file);
	length = file.len ? library_length(file.data) : 0;
	/* "_json.Encoder.__call__" says it. */
	if (length && (strncmp(out->data + start, file.data, length) != 0 ||
		       out->data[start + length] != '.'))
		strbuf_printf(out, " (%.*s)", (int)length, file.data);
}

/* library: the file that goes without saying, or PROFILE_NONE. */
static void put_name(const struct profile *profile, const struct piece *piece,
		     uint32_t library, struct strbuf *out)
{
	/* There is little room. */
	if (piece->kind == SPENT_GC)
		strbuf_puts(out, "gc");
	else if (piece->subject != PROFILE_NONE && library != PROFILE_NONE &&
		 profile_frame(profile, piece->subject)->dso == library)
		spent_text_function(profile, piece->kind, piece->subject, out);
	else
		spent_text_part(profile, piece->kind, piece->subject, out);
}

/* --- Parts -------------------------------------------------------------- */

/* Into the piece that is called so; a new one if there are less than `most`. */
static void add_piece(struct piece *pieces, size_t *count, size_t most,
		      struct piece piece, const struct strbuf *word)
{
	piece.name = hash_bytes(word->data, word->len);
	for (size_t i = 0; i < *count; i++) {
		if (pieces[i].name != piece.name)
			continue;
		pieces[i].period += piece.period;
		return;
	}
	if (*count < most)
		pieces[(*count)++] = piece;
}

static void gather_those(const struct profile *profile,
			 const struct own_part *parts, size_t part_count,
			 bool with_subject, struct piece *pieces, size_t *count,
			 size_t most)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;

	for (size_t i = 0; i < part_count; i++) {
		const struct piece piece = {
			.kind = parts[i].kind,
			.subject = with_subject ? parts[i].subject : PROFILE_NONE,
			.period = parts[i].weight.period,
		};

		if (spent_has_subject(piece.kind) != with_subject)
			continue;
		strbuf_clear(&word);
		put_name(profile, &piece, PROFILE_NONE, &word);
		add_piece(pieces, count, most, piece, &word);
	}
}

/* What is called alike is one piece, heaviest first; returns how many. */
static size_t gather(const struct profile *profile, const struct own_part *parts,
		     size_t part_count, struct piece *pieces)
{
	size_t count = 0;

	gather_those(profile, parts, part_count, true, pieces, &count,
		     PARTS_MAX);
	gather_those(profile, parts, part_count, false, pieces, &count,
		     PARTS_MAX + SPENT_KINDS);
	qsort(pieces, count, sizeof(*pieces), compare_pieces);
	return count;
}

/* The file that the part is in; PROFILE_NONE: in none that is worth a word. */
static uint32_t library_of_part(const struct profile *profile,
				const struct own_part *part)
{
	const struct profile_frame *frame =
		part->kind == SPENT_NATIVE && part->subject != PROFILE_NONE ?
			profile_frame(profile, part->subject) :
			NULL;

	return frame && !(frame->flags & PROFILE_FRAME_IN_CPYTHON) ?
		       frame->dso :
		       PROFILE_NONE;
}

/* The only one that more than half can be in, or none: each takes its weight from the others. */
static uint32_t likely_library(const struct profile *profile,
			       const struct own_part *parts, size_t count)
{
	uint32_t likely = PROFILE_NONE;
	uint64_t lead = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t dso = library_of_part(profile, &parts[i]);
		uint64_t period = parts[i].weight.period;

		if (dso == likely) {
			lead += period;
		} else if (period <= lead) {
			lead -= period;
		} else {
			lead = period - lead;
			likely = dso;
		}
	}
	return likely;
}

/* Or PROFILE_NONE: what is not in it has to be little. */
static uint32_t library_of(const struct profile *profile,
			   const struct own_time *own,
			   const struct own_entry *function)
{
	const struct own_part *parts = own->parts.data + function->first_part;
	uint64_t period = 0;
	uint32_t library;

	if (function->is_python)
		return PROFILE_NONE;
	library = likely_library(profile, parts, function->part_count);
	for (size_t i = 0; i < function->part_count; i++)
		if (library_of_part(profile, &parts[i]) == library)
			period += parts[i].weight.period;
	return period > function->own.period / 4 * 3 ? library : PROFILE_NONE;
}

void spent_text_library(const struct profile *profile,
			const struct own_time *own,
			const struct own_entry *function, struct strbuf *out)
{
	const struct profile_dso *dso = profile_dso(
		profile, library_of(profile, own, function));

	if (dso)
		text_string(out, profile, dso->short_name, "");
}

/* Of "python3.13+0x5abc60" the file says more than the address. */
static void fit_part(struct strbuf *out, const struct strbuf *name,
		     size_t columns)
{
	const char *address = strstr(name->data, "+0x");
	size_t length = name->len;

	if (address && printable_width(name->data, length) > columns)
		length = (size_t)(address - name->data);
	fit_begin(out, name->data, length, columns);
}

/* The heaviest parts as they come into the text, and what has no place in it. */
struct listed {
	struct strbuf *out;
	size_t columns;
	uint64_t all;
	size_t used;
	/* Before the last part that was put. */
	size_t used_before;
	size_t len_before;
	uint64_t first;
	uint64_t last;
	/* Of parts that are not in the text. */
	uint64_t rest;
};

static double percent_of(const struct listed *l, uint64_t period)
{
	return 100.0 * (double)period / (double)l->all;
}

/* False if it has no place. The first has one in any case, beside SPENT_TEXT_MORE. */
static bool put_listed(struct listed *l, const struct strbuf *name,
		       uint64_t period)
{
	double percent = percent_of(l, period);
	char share[16];
	size_t tail, need;

	snprintf(share, sizeof(share), percent < 0.5 ? " <1" : " %.0f",
		 percent);
	tail = strlen(share);
	need = printable_width(name->data, name->len) + tail +
	       (l->used ? 2 : 0);
	if (percent_of(l, l->rest - period) >= 0.5)
		tail += strlen(SPENT_TEXT_MORE);
	if (l->used && (percent < 0.5 || l->used + need > l->columns))
		return false;
	l->used_before = l->used;
	l->len_before = l->out->len;
	l->last = period;
	if (!l->used)
		l->first = period;
	strbuf_puts(l->out, l->used ? ", " : "");
	fit_part(l->out, name, l->columns > tail ? l->columns - tail : 0);
	strbuf_puts(l->out, share);
	l->used += need;
	return true;
}

/* False if that many columns are too few. */
static bool put_others(struct listed *l, uint64_t period, size_t used,
		       size_t len)
{
	char text[32];
	int need = snprintf(text, sizeof(text), ", others %.0f",
			    percent_of(l, period));

	if (used + (size_t)need > l->columns)
		return false;
	strbuf_truncate(l->out, len);
	strbuf_puts(l->out, text);
	return true;
}

/* Others that outweigh what stands first would say little: a sign, which takes less room. */
static bool put_more(struct listed *l)
{
	if (l->rest + l->last <= l->first ||
	    l->used + strlen(SPENT_TEXT_MORE) > l->columns)
		return false;
	strbuf_puts(l->out, SPENT_TEXT_MORE);
	return true;
}

/*
 * So that the parts add up. The last one makes room; if it is the only one, a sign
 * says that there are more.
 */
static void put_rest(struct listed *l)
{
	if (!l->used || percent_of(l, l->rest) < 0.5 ||
	    put_others(l, l->rest, l->used, l->out->len))
		return;
	if (!l->used_before)
		strbuf_puts(l->out, SPENT_TEXT_MORE);
	else if (!put_more(l))
		put_others(l, l->rest + l->last, l->used_before, l->len_before);
}

static void put_parts(const struct profile *profile,
		      const struct own_part *parts, size_t part_count,
		      uint32_t library, uint64_t all, size_t columns,
		      struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct piece pieces[PARTS_MAX + SPENT_KINDS];
	size_t count = gather(profile, parts, part_count, pieces), i = 0;
	struct listed listed = { .out = out, .columns = columns, .all = all };

	for (size_t j = 0; j < part_count; j++)
		if (!goes_without_saying(profile, parts[j].kind))
			listed.rest += parts[j].weight.period;
	for (; i < count && pieces[i].period; i++) {
		if (goes_without_saying(profile, pieces[i].kind))
			continue;
		strbuf_clear(&name);
		put_name(profile, &pieces[i], library, &name);
		if (!put_listed(&listed, &name, pieces[i].period))
			break;
		listed.rest -= pieces[i].period;
	}
	put_rest(&listed);
}

void spent_text_some(const struct profile *profile,
		     const struct own_part *parts, size_t part_count,
		     uint64_t all, size_t columns, struct strbuf *out)
{
	put_parts(profile, parts, part_count, PROFILE_NONE, all, columns, out);
}

void spent_text_parts(const struct profile *profile, const struct own_time *own,
		      const struct own_entry *function, size_t columns,
		      struct strbuf *out)
{
	if (function->part_count)
		put_parts(profile, &own->parts.data[function->first_part],
			  function->part_count,
			  library_of(profile, own, function), own->all.period,
			  columns, out);
}

uint64_t spent_nameless(const struct own_time *own)
{
	uint64_t period = 0;

	vec_for_each(file, &own->nameless)
		period += file->weight.period;
	return period < own->all.period / 100 ? 0 : period;
}

/* What was called in the kernel, the heaviest; less is left of all that was. */
static size_t gather_calls(const struct profile *profile,
			   const struct own_time *own, struct piece *pieces,
			   uint64_t *left)
{
	_cleanup_strbuf_ struct strbuf word = STRBUF_INIT;
	struct piece calls[CALLS_MAX];
	size_t count = 0, shown = 0;

	vec_for_each(part, &own->parts) {
		const struct piece piece = { .kind = SPENT_KERNEL,
					     .subject = part->subject,
					     .period = part->weight.period };

		if (part->kind != SPENT_KERNEL || part->subject == PROFILE_NONE)
			continue;
		strbuf_clear(&word);
		put_name(profile, &piece, PROFILE_NONE, &word);
		add_piece(calls, &count, CALLS_MAX, piece, &word);
	}
	qsort(calls, count, sizeof(*calls), compare_pieces);
	for (; shown < count && shown < CALLS_SHOWN; shown++) {
		if (calls[shown].period > *left ||
		    calls[shown].period < own->all.period / 100)
			break;
		pieces[shown] = calls[shown];
		*left -= calls[shown].period;
	}
	return shown;
}

static void put_kind(const struct profile *profile, const struct piece *piece,
		     struct strbuf *out)
{
	if (piece->subject == PROFILE_NONE)
		strbuf_puts(out, kind_names[piece->kind]);
	else
		put_kernel(profile, profile_frame(profile, piece->subject), out);
}

/* Behind what has a name of its own. */
static void put_remaining(const struct own_time *own, const char *word,
			  uint64_t period, size_t start, struct strbuf *out)
{
	if (!period || out->len == start)
		return;
	strbuf_printf(out, ", %s ", word);
	strbuf_percent(out, period, own->all.period);
}

/* Of waits all are in the kernel: some calls have names, and these are the others. */
static bool is_other_wait(const struct piece *piece, size_t calls)
{
	return calls && piece->kind == SPENT_KERNEL &&
	       piece->subject == PROFILE_NONE;
}

void spent_text_kinds(const struct profile *profile, uint32_t event,
		      const struct own_time *own, struct strbuf *out)
{
	uint64_t nameless = spent_nameless(own);
	struct piece pieces[SPENT_KINDS + CALLS_SHOWN];
	size_t start = out->len, calls = 0;
	uint64_t rest = 0, waits = 0;

	for (unsigned int kind = 0; kind < SPENT_KINDS; kind++)
		pieces[kind] = (struct piece){ .kind = kind,
					       .subject = PROFILE_NONE,
					       .period = own->kinds[kind].period };
	/* Of waits the kernel is no news. */
	if (profile->events.data[event].kind == EVENT_WAIT)
		calls = gather_calls(profile, own, pieces + SPENT_KINDS,
				     &pieces[SPENT_KERNEL].period);
	qsort(pieces, SPENT_KINDS + calls, sizeof(*pieces), compare_pieces);
	for (size_t i = 0; i < SPENT_KINDS + calls && pieces[i].period; i++) {
		if (is_other_wait(&pieces[i], calls)) {
			waits += pieces[i].period;
			continue;
		}
		if (goes_without_saying(profile, pieces[i].kind)) {
			rest += pieces[i].period;
			continue;
		}
		strbuf_puts(out, out->len > start ? ", " : "");
		put_kind(profile, &pieces[i], out);
		strbuf_putc(out, ' ');
		strbuf_percent(out, pieces[i].period, own->all.period);
		if (!nameless || pieces[i].kind != SPENT_NATIVE)
			continue;
		strbuf_puts(out, " (");
		strbuf_percent(out, nameless, own->all.period);
		strbuf_puts(out, " without names)");
	}
	put_remaining(own, "other waits", waits, start, out);
	put_remaining(own, "others", rest, start, out);
}
