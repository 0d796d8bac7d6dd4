/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A profile in a few lines, for tests of what reads one.
 *
 *	struct model m;
 *	model_init(&m, NULL);
 *	model_sample(&m, 3, "_start main py:foo I:eval leaf");
 *	...
 *	model_deinit(&m);
 *
 * A stack is written from the outermost frame to the leaf. A function is its
 * name; before it may stand "py:" for a Python function (line 1, or the line
 * after '@': "py:foo@7"; in /srv/x.py, or the file that its name tells), "I:" for
 * a frame of the interpreter, "i:" for one that is inlined, "k:" for the kernel,
 * "lib:" for a function that is not in the interpreter's file, as all others are;
 * with "+0x" in its name no symbol names it; "c:" for one of libc, and "start:" for
 * one that starts a thread. A number is an address without a symbol. "m:" stands
 * before a marker.
 */
#ifndef KAA_TESTS_MODEL_H
#define KAA_TESTS_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/profile.h"
#include "view/report.h"

struct model {
	struct profile *profile;
	uint32_t task;
};

static inline void model_check(struct error *error)
{
	struct strbuf text = STRBUF_INIT;

	if (!error)
		return;
	error_format(error, &text);
	fprintf(stderr, "%s\n", text.data);
	abort();
}

static inline uint32_t model_string(struct model *m, const char *s)
{
	uint32_t id;

	model_check(profile_intern(m->profile, s, &id));
	return id;
}

static inline uint32_t model_thread(struct model *m, int pid, int tid,
				    const char *comm)
{
	struct profile_task task = { .pid = pid,
				     .name = PROFILE_NONE,
				     .tid = tid,
				     .comm = model_string(m, comm) };
	uint32_t id;

	model_check(profile_intern_task(m->profile, &task, &id));
	return id;
}

static inline uint32_t model_task(struct model *m, int tid, const char *comm)
{
	return model_thread(m, 100, tid, comm);
}

static inline uint32_t model_process(struct model *m, int pid, const char *comm)
{
	return model_thread(m, pid, pid, comm);
}

/* The outermost frame of a worker of multiprocessing. */
#define MODEL_WORKER "py:py::BaseProcess._bootstrap:/usr/lib/python3.11/multiprocessing/process.py@300 "

/* A process that another one has forked. */
static inline uint32_t model_child(struct model *m, int pid, const char *comm, int parent)
{
	uint32_t id = model_process(m, pid, comm);

	while (m->profile->task_parents.count < id)
		if (!vec_push(&m->profile->task_parents, 0))
			abort();
	if (!vec_push(&m->profile->task_parents, parent))
		abort();
	return id;
}

static inline void model_init(struct model *m,
			      const struct profile_options *options)
{
	struct profile_event event = { .has_callchain = true };
	uint32_t id;

	model_check(profile_create(options, &m->profile));
	model_check(profile_add_recording(m->profile, &id));
	event.name = model_string(m, "cycles");
	model_check(profile_add_event(m->profile, &event, &id));
	m->task = model_task(m, 100, "python3");
}

static inline void model_deinit(struct model *m)
{
	profile_destroy(m->profile);
}

static inline uint32_t model_dso(struct model *m, const char *name,
				 enum profile_dso_kind kind)
{
	struct profile_dso dso = {
		.short_name = model_string(m, name),
		.long_name = model_string(m, name),
		.build_id = PROFILE_NONE,
		.kind = kind,
	};
	uint32_t id;

	model_check(profile_intern_dso(m->profile, &dso, &id));
	return id;
}

/* Places the name: its handle is unique, so are addresses made of it. */
static inline void model_symbol(struct model *m, const char *name,
				struct profile_frame *frame)
{
	struct profile_symbol symbol = { .dso = frame->dso,
					 .name = model_string(m, name),
					 .is_nameless = strstr(name, "+0x") };

	symbol.start = (uint64_t)symbol.name << 12;
	symbol.end = symbol.start + 0x1000;
	frame->rel = symbol.start + frame->line;
	frame->address = frame->rel + 0x10000000;
	model_check(profile_intern_symbol(m->profile, &symbol, &frame->symbol));
}

/* Of "py::name:/srv/y.py" that file. */
static inline const char *model_file(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon && (colon[1] == '/' || !strcmp(colon, ":<string>")) ? colon + 1 : "/srv/x.py";
}

static inline uint32_t model_frame(struct model *m, const char *text)
{
	struct profile_frame frame = { .symbol = PROFILE_NONE,
				       .file = PROFILE_NONE };
	char name[256];
	char *at;
	uint32_t id;

	snprintf(name, sizeof(name), "%s", text);
	if (!strncmp(text, "py:", 3)) {
		at = strchr(name, '@');
		frame.kind = PROFILE_FRAME_PYTHON;
		frame.line = at ? (uint32_t)atoi(at + 1) : 1;
		frame.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
		if (at)
			*at = '\0';
		frame.file = model_string(m, model_file(name));
		memmove(name, name + 3, strlen(name + 3) + 1);
		model_symbol(m, name, &frame);
	} else if (!strncmp(text, "k:", 2)) {
		frame.kind = PROFILE_FRAME_KERNEL;
		frame.dso =
			model_dso(m, "[kernel.kallsyms]", PROFILE_DSO_KERNEL);
		model_symbol(m, name + 2, &frame);
	} else if (!strncmp(text, "m:", 2)) {
		frame.kind = PROFILE_FRAME_MARKER;
		frame.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
		model_symbol(m, name + 2, &frame);
	} else if (!strncmp(text, "lib:", 4)) {
		frame.dso = model_dso(m, "libother.so", PROFILE_DSO_USER);
		model_symbol(m, name + 4, &frame);
	} else if (!strncmp(text, "c:", 2)) {
		frame.dso = model_dso(m, "libc.so.6", PROFILE_DSO_USER);
		model_symbol(m, name + 2, &frame);
	} else if (!strncmp(text, "start:", 6)) {
		frame.flags = PROFILE_FRAME_STARTS;
		frame.dso = model_dso(m, "libc.so.6", PROFILE_DSO_USER);
		model_symbol(m, name + 6, &frame);
	} else if (!strncmp(text, "glue:", 5)) {
		frame.flags = PROFILE_FRAME_GLUE | PROFILE_FRAME_IN_CPYTHON;
		frame.dso = model_dso(m, "python3.11", PROFILE_DSO_USER);
		model_symbol(m, name + 5, &frame);
	} else if (!strncmp(text, "nameless:", 9)) {
		frame.flags = PROFILE_FRAME_STARTS | PROFILE_FRAME_IN_CPYTHON;
		frame.dso = model_dso(m, "python3.11", PROFILE_DSO_USER);
		model_symbol(m, name + 9, &frame);
	} else if (text[0] >= '0' && text[0] <= '9') {
		frame.address = frame.rel = strtoull(text, NULL, 0);
		frame.dso = PROFILE_NONE;
	} else {
		bool glue = !strncmp(text, "I:", 2);
		bool inlined = !strncmp(text, "i:", 2);

		frame.flags = PROFILE_FRAME_IN_CPYTHON;
		if (glue)
			frame.flags |= PROFILE_FRAME_INTERPRETER;
		if (inlined)
			frame.flags |= PROFILE_FRAME_INLINED;
		frame.dso = model_dso(m, *text == '/' ? "/usr/bin/python3.11" : "python3.11",
				      PROFILE_DSO_USER);
		model_symbol(m, glue || inlined ? name + 2 : name, &frame);
	}
	model_check(profile_intern_frame(m->profile, &frame, &id));
	return id;
}

static inline uint32_t model_stack(struct model *m, const char *text)
{
	char *copy = strdup(text), *save = NULL;
	uint32_t stack = PROFILE_NONE;

	for (char *name = strtok_r(copy, " ", &save); name;
	     name = strtok_r(NULL, " ", &save))
		model_check(profile_stack_push(m->profile, stack,
					       model_frame(m, name), &stack));
	free(copy);
	return stack;
}

static inline void model_add(struct model *m, uint64_t period,
			     const char *stack, uint16_t flags)
{
	const uint32_t cpu = 1;
	struct profile_sample sample = {
		.period = period,
		.stack = model_stack(m, stack),
		.task = m->task,
		.labels = &cpu,
		.count = 1,
		.flags = flags,
	};

	model_check(profile_add_sample(m->profile, &sample));
}

static inline void model_sample(struct model *m, uint64_t period,
				const char *stack)
{
	model_add(m, period, stack, 0);
}

/* A task of asyncio: its outermost frame has its name, which may have blanks. */
static inline void model_task_sample(struct model *m, uint64_t period,
				     const char *words, const char *coroutine)
{
	struct profile_sample sample = { .period = period,
					 .count = 1,
					 .task = m->task };
	char name[64];

	snprintf(name, sizeof(name), "py:py::%s:<asyncio>", words);
	model_check(profile_stack_push(m->profile, PROFILE_NONE,
				       model_frame(m, name), &sample.stack));
	if (*coroutine)
		model_check(profile_stack_push(m->profile, sample.stack,
					       model_frame(m, coroutine),
					       &sample.stack));
	model_check(profile_add_sample(m->profile, &sample));
}

/* The report, to be freed. */
static inline char *model_report(const struct model *m,
				 const struct report_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	model_check(report_write(m->profile, options, out));
	fclose(out);
	return text;
}

#endif
