// SPDX-License-Identifier: GPL-2.0-only
/* A dump in words: what most want to know first, and lines of the width that is asked for. */
#include <inttypes.h>
#include <signal.h>
#include <sys/syscall.h>
#include <string.h>

#include "base/plural.h"
#include "dump/async_text.h"
#include "dump/dump.h"
#include "dump/frame_text.h"
#include "sys/task_syscall.h"
#include "view/fit.h"

enum {
	/* Columns of the name of a thread that holds the GIL. */
	HOLDER_WIDTH = 40,
	/* Columns before a frame. */
	FRAME_INDENT = 4,
	/* Frames that call each other in a circle: how many, how often, and how often shown. */
	ROUND_MAX = 8,
	ROUNDS_MANY = 4,
	ROUNDS_SHOWN = 2,
};

/* A core file has no comm. */
static const char *name_of(const struct dump *dump,
			   const struct dump_thread *thread)
{
	if (thread->name && *thread->name)
		return thread->name;
	if (*thread->comm)
		return thread->comm;
	return thread->tid == dump->pid ? "main thread" : "thread without a name";
}

/* --- the head --- */

static void put_version(uint32_t version, struct strbuf *out)
{
	static const char *const levels[16] = { [0xa] = "a", [0xb] = "b",
						[0xc] = "rc" };
	const char *level = levels[version >> 4 & 15];

	strbuf_printf(out, "%u.%u.%u", version >> 24, version >> 16 & 255,
		      version >> 8 & 255);
	if (level)
		strbuf_printf(out, "%s%u", level, version & 15);
}

/* Those that end a program with a core. */
static const char *signal_name(int number)
{
	switch (number) {
	case SIGABRT:
		return "SIGABRT";
	case SIGBUS:
		return "SIGBUS";
	case SIGFPE:
		return "SIGFPE";
	case SIGILL:
		return "SIGILL";
	case SIGQUIT:
		return "SIGQUIT";
	case SIGSEGV:
		return "SIGSEGV";
	case SIGSYS:
		return "SIGSYS";
	case SIGTRAP:
		return "SIGTRAP";
	case SIGXCPU:
		return "SIGXCPU";
	case SIGXFSZ:
		return "SIGXFSZ";
	default:
		return NULL;
	}
}

/* "died of SIGABRT" */
static void put_death(const struct dump *dump, struct strbuf *out)
{
	const char *name = signal_name(dump->signal);

	if (name)
		strbuf_printf(out, "died of %s", name);
	else
		strbuf_printf(out, "died of signal %d", dump->signal);
}

static void put_core(const struct dump *dump, struct strbuf *out)
{
	strbuf_printf(out, "core of process %d", (int)dump->pid);
	if (!dump->signal)
		return;
	strbuf_puts(out, ", which ");
	put_death(dump, out);
}

static void put_process(const struct dump *dump, size_t width,
			struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (dump->core)
		put_core(dump, &line);
	else
		strbuf_printf(&line, "process %d", (int)dump->pid);
	if (*dump->command)
		strbuf_printf(&line, ": %s", dump->command);
	frame_text_line(out, line.data, width);
	strbuf_clear(&line);
	strbuf_puts(&line, "CPython ");
	put_version(dump->version, &line);
	strbuf_printf(&line, ", %s", dump->interpreter);
	frame_text_line(out, line.data, width);
}

/* Who holds the GIL, and how many want it: the reason of many questions. */
static void put_gil(const struct dump *dump, size_t width, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	size_t want = 0, holders = 0;
	const char *name;

	vec_for_each(thread, &dump->threads)
		want += thread->wants_gil;
	strbuf_printf(&line, "%zu %s; ", dump->threads.count,
		      dump->threads.count == 1 ? "thread" : "threads");
	vec_for_each(thread, &dump->threads) {
		if (!thread->holds_gil)
			continue;
		strbuf_puts(&line, holders++ ? ", " : "");
		name = name_of(dump, thread);
		fit_begin(&line, name, strlen(name), HOLDER_WIDTH);
		strbuf_printf(&line, " (%d)", (int)thread->tid);
	}
	strbuf_puts(&line, holders	   ? " held the GIL" :
			   dump->has_gil ? "none held the GIL" :
					   "there is no GIL");
	if (want)
		strbuf_printf(&line, ", %zu waited for it", want);
	fit_lines(out, line.data, width);
}

/* --- threads --- */

/* By which a thread sends a signal to itself, as abort() does. */
static bool is_raise(const struct dump_thread *thread)
{
	return thread->has_call &&
	       (thread->call == SYS_tgkill || thread->call == SYS_tkill ||
		thread->call == SYS_kill);
}

/* A sleep that a stop broke off goes on in restart_syscall(), which tells nothing. */
static bool tells_its_call(const struct dump_thread *thread)
{
	return thread->has_call && thread->call != SYS_restart_syscall;
}

static void put_state(const struct dump *dump, const struct dump_thread *thread,
		      struct strbuf *out)
{
	const char *separator = thread->holds_gil || thread->wants_gil ? ", " :
									 "";
	bool died = dump->signalled && dump->signalled == thread->tid;

	if (thread->holds_gil)
		strbuf_puts(out, "holds the GIL");
	if (thread->collects_garbage)
		strbuf_puts(out, ", collects garbage");
	if (thread->wants_gil)
		strbuf_puts(out, "waits for the GIL");
	if (died) {
		strbuf_puts(out, separator);
		put_death(dump, out);
		separator = ", ";
	}
	if (thread->wants_gil || (died && is_raise(thread)))
		return;
	if (thread->state == 'R') {
		strbuf_printf(out, "%srunning", separator);
	} else if (thread->state == 'T' || thread->state == 't') {
		strbuf_printf(out, "%sstopped", separator);
	} else if (tells_its_call(thread)) {
		strbuf_printf(out, "%sin ", separator);
		task_syscall_name(thread->call, out);
	} else if (thread->state) {
		strbuf_printf(out, "%ssleeping", separator);
	}
}

static void put_thread_head(const struct dump *dump,
			    const struct dump_thread *thread, size_t width,
			    struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf state = STRBUF_INIT, line = STRBUF_INIT;
	const char *name = name_of(dump, thread);
	size_t room;

	put_state(dump, thread, &state);
	strbuf_printf(&line, " %d%s%s%s", (int)thread->tid,
		      state.len ? " (" : "", state.data, state.len ? ")" : "");
	room = width > line.len + 8 ? width - line.len : 8;
	fit_begin(out, name, strlen(name), room);
	strbuf_append(out, line.data, line.len);
	strbuf_putc(out, '\n');
}

static bool has_python_frame(const struct dump_thread *thread)
{
	vec_for_each(frame, &thread->frames)
		if (frame->kind == DUMP_FRAME_PYTHON)
			return true;
	return false;
}

static void put_problem(const struct dump_thread *thread, struct strbuf *out)
{
	switch (thread->problem) {
	case DUMP_NO_PROBLEM:
		if (!thread->has_python)
			strbuf_puts(out, "    [runs no Python]\n");
		else if (!has_python_frame(thread))
			strbuf_puts(out, "    [has no Python frame now]\n");
		break;
	case DUMP_UNREADABLE:
		strbuf_puts(out, "    [the frames beyond could not be read]\n");
		break;
	case DUMP_TOO_DEEP:
		strbuf_puts(out, "    [goes on: more frames than kaa reads]\n");
		break;
	case DUMP_AMBIGUOUS:
		strbuf_puts(out,
			    "    [not read: of several interpreters, and not clear which]\n");
		break;
	case DUMP_RAN_ON:
		strbuf_puts(out,
			    "    [not read: it ran on at each try, see 'kaa help dump']\n");
		break;
	}
	if (thread->no_native && thread->frames.count)
		strbuf_puts(out,
			    "    [no native functions: it could not be stopped]\n");
	if (thread->no_locals && thread->frames.count)
		strbuf_puts(out,
			    "    [variables not read: it never held still for so long]\n");
}

/* --- recursion --- */

static bool is_same(const struct dump_frame *a, const struct dump_frame *b)
{
	return a->kind == b->kind && a->line == b->line &&
	       a->source_line == b->source_line &&
	       !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

/* So often the `size` frames from i on follow each other. */
static size_t count_rounds(const struct dump_frame_list *frames, size_t i,
			   size_t size)
{
	size_t same = 0;

	while (i + same + size < frames->count &&
	       is_same(&frames->data[i + same], &frames->data[i + same + size]))
		same++;
	return same / size + 1;
}

/* How many frames from i on are one round of many; 0: none. */
static size_t find_round(const struct dump_frame_list *frames, size_t i,
			 size_t *rounds)
{
	for (size_t size = 1; size <= ROUND_MAX; size++) {
		*rounds = count_rounds(frames, i, size);
		if (*rounds >= ROUNDS_MANY)
			return size;
	}
	return 0;
}

static void put_frames(const struct dump *dump, const struct dump_thread *thread,
		       const struct dump_words *words, size_t from, size_t to,
		       struct strbuf *out)
{
	for (size_t i = from; i < to; i++) {
		const struct dump_frame *frame = &thread->frames.data[i];

		frame_text(frame, words, FRAME_INDENT, out);
		if (dump->has_locals)
			frame_text_locals(&thread->locals, frame, words->width,
					  2 * FRAME_INDENT, out);
	}
}

/* A function that calls itself a thousand times is no thousand lines, unless they differ. */
static void put_stack(const struct dump *dump, const struct dump_thread *thread,
		      const struct dump_words *words, struct strbuf *out)
{
	size_t count = thread->frames.count, rounds = 0;

	for (size_t i = 0; i < count;) {
		size_t size = dump->has_locals ?
				      0 :
				      find_round(&thread->frames, i, &rounds);
		size_t shown = size ? size * ROUNDS_SHOWN : 1;

		put_frames(dump, thread, words, i, i + shown, out);
		if (size) {
			strbuf_fill(out, ' ', FRAME_INDENT);
			strbuf_printf(out, "[the same %zu function%s %zu more times]\n",
				      size, plural(size), rounds - ROUNDS_SHOWN);
		}
		i += size ? size * rounds : 1;
	}
}

void dump_text(const struct dump *dump, const struct dump_words *words,
	       struct strbuf *out)
{
	size_t width = words->width;

	put_process(dump, width, out);
	put_gil(dump, width, out);
	if (dump->has_tasks)
		async_text(dump, words, out);
	vec_for_each(thread, &dump->threads) {
		strbuf_putc(out, '\n');
		put_thread_head(dump, thread, width, out);
		put_stack(dump, thread, words, out);
		put_problem(thread, out);
	}
}

/* --- threads alone --- */

static bool is_of_library(const struct dump_frame *frame)
{
	return frame->kind != DUMP_FRAME_PYTHON || *frame->file == '<' ||
	       strstr(frame->file, "/lib/python");
}

/* NULL: all of it is Python's library. */
static const struct dump_frame *own_frame(const struct dump_thread *thread)
{
	vec_for_each(frame, &thread->frames)
		if (!is_of_library(frame))
			return frame;
	return NULL;
}

/* Returns the lines. */
static size_t put_brief(const struct dump *dump,
			const struct dump_thread *thread,
			const struct dump_words *words, struct strbuf *out)
{
	const struct dump_frame *own = own_frame(thread);

	put_thread_head(dump, thread, words->width, out);
	if (!thread->frames.count) {
		put_problem(thread, out);
		return 2;
	}
	frame_text(&thread->frames.data[0], words, FRAME_INDENT, out);
	if (!own || own == &thread->frames.data[0])
		return 2;
	frame_text(own, words, FRAME_INDENT, out);
	return 3;
}

size_t dump_text_brief(const struct dump *dump, const struct dump_words *words,
		       size_t lines, struct strbuf *out)
{
	size_t left = dump->threads.count, taken = 0;

	vec_for_each(thread, &dump->threads) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		size_t used = put_brief(dump, thread, words, &text);

		if (taken + used + (left > 1) > lines)
			break;
		strbuf_append(out, text.data, text.len);
		taken += used;
		left--;
	}
	if (left)
		strbuf_printf(out, "%zu%s thread%s\n", left,
			      left < dump->threads.count ? " more" : "",
			      plural(left));
	return taken + (left > 0);
}
