// SPDX-License-Identifier: GPL-2.0-only
/* A dump for programs: docs/dump.md has the schema. */
#include <inttypes.h>

#include "dump/async_awaits.h"
#include "dump/async_text.h"
#include "dump/dump.h"
#include "sys/task_syscall.h"
#include "view/json_text.h"

static void put_string(struct strbuf *out, const char *text)
{
	if (text)
		json_text(out, text);
	else
		strbuf_puts(out, "null");
}

static void put_key(struct strbuf *out, const char *key, const char *text)
{
	strbuf_printf(out, ", \"%s\": ", key);
	put_string(out, text);
}

static void put_bool(struct strbuf *out, const char *key, bool value)
{
	strbuf_printf(out, ", \"%s\": %s", key, value ? "true" : "false");
}

static void put_locals(const struct dump_locals *locals,
		       const struct dump_frame *frame, struct strbuf *out)
{
	strbuf_puts(out, ", \"locals\": [");
	for (uint32_t i = 0; i < frame->local_count; i++) {
		const struct dump_local *local =
			&locals->list.data[frame->first_local + i];

		strbuf_puts(out, i ? ", {\"name\": " : "{\"name\": ");
		put_string(out, locals->text.data + local->name);
		put_bool(out, "argument", local->is_argument);
		put_key(out, "value", locals->text.data + local->value);
		strbuf_putc(out, '}');
	}
	strbuf_putc(out, ']');
}

static void put_place(const struct dump_frame *frame, struct strbuf *out)
{
	strbuf_puts(out, "\n    {\"function\": ");
	put_string(out, frame->function);
	put_key(out, "file", frame->file);
	if (frame->line)
		strbuf_printf(out, ", \"line\": %" PRIu32, frame->line);
	else
		strbuf_puts(out, ", \"line\": null");
}

static void put_native(const struct dump_frame *frame, struct strbuf *out)
{
	strbuf_printf(out, ", \"kind\": \"native\", \"address\": \"0x%" PRIx64 "\"",
		      frame->address);
	put_bool(out, "inlined", frame->is_inlined);
	put_key(out, "source", frame->source);
	if (frame->source)
		strbuf_printf(out, ", \"source_line\": %" PRIu32,
			      frame->source_line);
	else
		strbuf_puts(out, ", \"source_line\": null");
}

static void put_kind(const struct dump_frame *frame, struct strbuf *out)
{
	if (frame->kind == DUMP_FRAME_NATIVE)
		put_native(frame, out);
	else if (frame->kind == DUMP_FRAME_MARKER)
		strbuf_puts(out, ", \"kind\": \"missing\"");
}

static void put_frame(const struct dump_thread *thread,
		      const struct dump_frame *frame, bool locals,
		      struct strbuf *out)
{
	put_place(frame, out);
	put_kind(frame, out);
	if (locals && !thread->no_locals && frame->kind == DUMP_FRAME_PYTHON)
		put_locals(&thread->locals, frame, out);
	strbuf_putc(out, '}');
}

static const char *state_word(char state)
{
	if (!state)
		return NULL;
	if (state == 'R')
		return "running";
	return state == 'T' || state == 't' ? "stopped" : "sleeping";
}

static const char *problem_word(enum dump_problem problem)
{
	switch (problem) {
	case DUMP_UNREADABLE:
		return "unreadable";
	case DUMP_TOO_DEEP:
		return "too deep";
	case DUMP_AMBIGUOUS:
		return "several interpreters";
	case DUMP_RAN_ON:
		return "ran on";
	default:
		return NULL;
	}
}

static void put_call(const struct dump_thread *thread, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf call = STRBUF_INIT;

	if (thread->has_call)
		task_syscall_name(thread->call, &call);
	put_key(out, "system_call", thread->has_call ? call.data : NULL);
}

static void put_thread(const struct dump_thread *thread, bool locals,
		       bool native, struct strbuf *out)
{
	const char *separator = "";

	strbuf_printf(out, "\n  {\"tid\": %d", (int)thread->tid);
	if (thread->has_python)
		strbuf_printf(out, ", \"ident\": %" PRIu64, thread->ident);
	else
		strbuf_puts(out, ", \"ident\": null");
	put_key(out, "name", thread->name);
	put_key(out, "comm", thread->comm);
	put_key(out, "state", state_word(thread->state));
	put_call(thread, out);
	put_bool(out, "holds_gil", thread->holds_gil);
	put_bool(out, "wants_gil", thread->wants_gil);
	put_bool(out, "collects_garbage", thread->collects_garbage);
	put_bool(out, "complete", thread->problem == DUMP_NO_PROBLEM);
	put_key(out, "problem", problem_word(thread->problem));
	if (native)
		put_bool(out, "native", !thread->no_native);
	strbuf_puts(out, ", \"frames\": [");
	vec_for_each(frame, &thread->frames) {
		strbuf_puts(out, separator);
		put_frame(thread, frame, locals, out);
		separator = ",";
	}
	strbuf_puts(out, "]}");
}

/* --- tasks --- */

static const char *task_problem_word(enum dump_task_problem problem)
{
	switch (problem) {
	case DUMP_TASK_RAN_ON:
		return "ran on";
	case DUMP_TASK_THREAD_ENDED:
		return "thread ended";
	case DUMP_TASK_NOT_READ:
	case DUMP_TASK_UNREADABLE:
		return "unreadable";
	case DUMP_TASK_TOO_DEEP:
		return "too deep";
	case DUMP_TASK_FOREIGN:
		return "other coroutine";
	default:
		return NULL;
	}
}

static void put_awaits(const struct dump_tasks *tasks, uint32_t index,
		       struct strbuf *out)
{
	size_t count;
	const struct dump_await *awaits = async_awaits_of(tasks, index, &count);

	strbuf_puts(out, ", \"awaits\": [");
	for (size_t i = 0; i < count; i++)
		strbuf_printf(out, "%s%" PRIu32, i ? ", " : "",
			      awaits[i].awaited);
	strbuf_putc(out, ']');
}

/* "id" is what id() says in the process. */
static void put_task(const struct dump_tasks *tasks, uint32_t index,
		     bool locals, struct strbuf *out)
{
	const struct dump_task *task = &tasks->list.data[index];
	bool is_read = dump_task_is_read(task);

	strbuf_printf(out, "\n  {\"index\": %" PRIu32 ", \"id\": %" PRIu64,
		      index, task->address);
	put_key(out, "name", task->name);
	put_key(out, "state", is_read ? async_state_word(task->state) : NULL);
	if (task->tid)
		strbuf_printf(out, ", \"tid\": %d", (int)task->tid);
	else
		strbuf_puts(out, ", \"tid\": null");
	put_key(out, "waits_for", async_wait_word(task->wait));
	put_key(out, "detail", task->waits_for);
	put_awaits(tasks, index, out);
	put_key(out, "problem", task_problem_word(task->problem));
	put_bool(out, "proven", is_read && !task->is_unproven);
	strbuf_puts(out, ", \"frames\": [");
	for (uint32_t i = 0; i < task->frame_count; i++) {
		strbuf_puts(out, i ? "," : "");
		put_place(&tasks->frames.data[task->first_frame + i], out);
		if (locals && !task->no_locals)
			put_locals(&tasks->locals,
				   &tasks->frames.data[task->first_frame + i],
				   out);
		strbuf_putc(out, '}');
	}
	strbuf_puts(out, "]}");
}

static void put_tasks(const struct dump_tasks *tasks, bool locals,
		      struct strbuf *out)
{
	strbuf_printf(out, ",\n \"unknown_tasks\": %zu", tasks->unknown);
	put_bool(out, "tasks_complete", !tasks->is_cut && !tasks->unknown);
	strbuf_puts(out, ",\n \"tasks\": [");
	for (uint32_t i = 0; i < tasks->list.count; i++) {
		strbuf_puts(out, i ? "," : "");
		put_task(tasks, i, locals, out);
	}
	strbuf_putc(out, ']');
}

void dump_json(const struct dump *dump, struct strbuf *out)
{
	const char *separator = "";

	strbuf_printf(out, "{\"pid\": %d", (int)dump->pid);
	put_key(out, "core", dump->core);
	if (dump->signal)
		strbuf_printf(out, ", \"signal\": %d", dump->signal);
	else
		strbuf_puts(out, ", \"signal\": null");
	put_key(out, "command", dump->command);
	strbuf_printf(out, ", \"python\": \"%u.%u.%u\"", dump->version >> 24,
		      dump->version >> 16 & 255, dump->version >> 8 & 255);
	put_key(out, "interpreter", dump->interpreter);
	put_bool(out, "gil", dump->has_gil);
	strbuf_puts(out, ",\n \"threads\": [");
	vec_for_each(thread, &dump->threads) {
		strbuf_puts(out, separator);
		put_thread(thread, dump->has_locals, dump->has_native, out);
		separator = ",";
	}
	strbuf_putc(out, ']');
	if (dump->has_tasks)
		put_tasks(&dump->tasks, dump->has_locals, out);
	strbuf_puts(out, "}\n");
}
