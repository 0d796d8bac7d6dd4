// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "cmd/doctor.h"
#include "cmd/doctor_fact.h"
#include "cmd/run.h"
#include "collect/python_source.h"
#include "python/releases.h"
#include "sys/file.h"

#define OS_RELEASE_MAX 65536

/* The first line of the error is the fact, the others are what a program said. */
void doctor_python_failed(const char *subject, const struct error *error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	enum mark mark = MARK_NO;
	const char *line;

	error_format(error, &text);
	doctor_section("Python: %s", subject);
	line = text.failed ? error->message : text.data;
	while (*line) {
		size_t length = strcspn(line, "\n");

		doctor_fact(mark, "%.*s", (int)length, line);
		line += length + (line[length] == '\n');
		mark = MARK_NOTE;
	}
}

static void tell_identity(const struct python_facts *facts)
{
	const char *name = facts->implementation;

	doctor_fact(facts->version ? MARK_OK : MARK_WARN, "%s %s at %s",
		    name && strcmp(name, "cpython") != 0 ? name : "CPython",
		    facts->version ? facts->version : "of unknown version",
		    facts->program);
	if (facts->shared)
		doctor_fact(MARK_NOTE, "interpreter: shared library, %s",
			    facts->library);
	else
		doctor_fact(MARK_NOTE, "interpreter: static, in %s",
			    facts->library);
}

/* What sysconfig says, then what the machine code says. */
static void tell_frame_pointers(const struct python_facts *facts)
{
	const struct prologue_count *count = &facts->prologues;
	enum answer code = prologue_answer(count);

	if (!facts->config.known)
		doctor_fact(MARK_NOTE,
			    "compiled with -fno-omit-frame-pointer: unknown, the build settings were not found");
	else if (facts->config.frame_pointer_variable)
		doctor_fact(MARK_OK,
			    "compiled with -fno-omit-frame-pointer: yes (in %s)",
			    facts->config.frame_pointer_variable);
	else
		doctor_fact(MARK_NOTE,
			    "compiled with -fno-omit-frame-pointer: no");
	if (code == ANSWER_UNKNOWN)
		doctor_fact(MARK_NOTE,
			    "frame pointers: unknown, there are too few symbols");
	else if (code == ANSWER_YES)
		doctor_fact(MARK_OK,
			    "frame pointers: yes, %zu of %zu functions set one up",
			    count->with_frame_pointer, count->functions);
	else
		doctor_fact(MARK_NOTE,
			    "frame pointers: no, %zu of %zu functions set one up; 'perf record -g' needs them, kaa record does not",
			    count->with_frame_pointer, count->functions);
}

/* Whose packages are called as Debian's are. */
static bool is_debian(void)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error =
		file_read(NULL, "/etc/os-release", OS_RELEASE_MAX, &text);
	const char *id = error ? NULL : strstr(text.data, "\nID=debian\n");

	error_destroy(error);
	return id || !strncmp(text.data, "ID=debian\n", 10);
}

/* What has the debug file: Debian's python3.13-dbg has that of python3.13. */
static void tell_debug_file(const struct python_facts *facts)
{
	static const char debian[] = "/usr/bin/python3.";
	char id[BUILD_ID_TEXT_SIZE];

	build_id_format(&facts->build_id, id);
	if (!strncmp(facts->library, debian, strlen(debian)) && is_debian())
		doctor_fact(MARK_NOTE,
			    "'sudo apt install %s-dbg' installs the other names",
			    strrchr(facts->library, '/') + 1);
	else
		doctor_fact(MARK_NOTE,
			    "the other names are in its debug file, /usr/lib/debug/.build-id/%.2s/%s.debug, if you install that",
			    id, id + 2);
}

static void tell_symbols(const struct python_facts *facts)
{
	char id[BUILD_ID_TEXT_SIZE] = "none";

	if (facts->build_id.size)
		build_id_format(&facts->build_id, id);
	switch (facts->symbols) {
	case SYMBOLS_OWN:
		doctor_fact(MARK_OK, "names of C functions: all");
		break;
	case SYMBOLS_DEBUG_FILE:
		doctor_fact(MARK_OK,
			    "names of C functions: all, from its debug file (build-id %s)",
			    id);
		break;
	case SYMBOLS_EXPORTED:
		doctor_fact(MARK_NOTE,
			    "names of C functions: those that it exports, and methods as Python calls them; it is stripped (build-id %s)",
			    id);
		if (facts->build_id.size)
			tell_debug_file(facts);
		break;
	}
}

static void tell_perf_support(const struct python_facts *facts)
{
	switch (facts->config.perf_trampoline) {
	case ANSWER_UNKNOWN:
		doctor_fact(MARK_NOTE,
			    "PY_HAVE_PERF_TRAMPOLINE: unknown, the build settings were not found");
		break;
	case ANSWER_NO:
		doctor_fact(MARK_NOTE,
			    "PY_HAVE_PERF_TRAMPOLINE: 0, this Python has no -X perf");
		break;
	case ANSWER_YES:
		doctor_fact(MARK_OK,
			    "PY_HAVE_PERF_TRAMPOLINE: 1, this Python has -X perf");
		break;
	}
}

static void tell_build(const struct python_facts *facts)
{
	const struct python_config *config = &facts->config;

	if (!config->known)
		return;
	doctor_fact(MARK_NOTE, "GIL: %s",
		    config->free_threaded == ANSWER_YES ?
			    "no, a free-threaded build" :
			    "yes");
	doctor_fact(MARK_NOTE, "JIT: %s",
		    config->jit != ANSWER_YES	       ? "no" :
		    facts->jit_enabled == ANSWER_YES ? "built in, switched on" :
		    facts->jit_enabled == ANSWER_NO  ? "built in, switched off" :
						       "built in");
}

/* A CPython that the agent can be loaded into, by its version. */
static bool is_for_agent(const struct python_facts *facts)
{
	struct py_release_span known = py_releases_for(PY_FOR_AGENT);
	const char *name = facts->implementation;
	unsigned int minor;

	if ((name && strcmp(name, "cpython") != 0) || !facts->version ||
	    sscanf(facts->version, "3.%u", &minor) != 1)
		return false;
	return minor >= known.first && minor <= known.last;
}

/* Whose trampolines this interpreter can have; NULL: none. */
static const char *trampolines_of(const struct python_facts *facts)
{
	const struct python_config *config = &facts->config;
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	struct error *error;

	if (config->perf_trampoline == ANSWER_YES &&
	    facts->jit_enabled != ANSWER_YES)
		return "its own, -X perf";
	if (!is_for_agent(facts) || config->free_threaded == ANSWER_YES ||
	    facts->jit_enabled == ANSWER_YES)
		return NULL;
	error = run_find_agent(&path);
	if (!error)
		return "kaa's";
	error_destroy(error);
	return NULL;
}

/* Where Python frames come from if the walker cannot give them. */
static void tell_without_bpf(const struct doctor *doctor,
			     const struct python_facts *facts, const char *why)
{
	const struct python_source *source = &python_source_trampoline;
	_cleanup_strbuf_ struct strbuf reasons = STRBUF_INIT;
	const char *trampolines = source->probe(&doctor->machine, &reasons) ?
					  trampolines_of(facts) :
					  NULL;

	if (trampolines)
		doctor_fact(MARK_WARN,
			    "Python frames: from source %s (%s), if kaa record starts this Python; %s",
			    source->name, trampolines, why);
	else
		doctor_fact(MARK_NO, "Python frames: none; %s", why);
}

/* The walk is the same in user space. */
static bool tell_polling(const struct doctor *doctor, const char *why)
{
	const struct python_source *source = &python_source_poll;
	_cleanup_strbuf_ struct strbuf reasons = STRBUF_INIT;

	if (!source->probe(&doctor->machine, &reasons))
		return false;
	doctor_fact(MARK_WARN,
		    "Python frames: from source %s, native functions with --native; %s",
		    source->name, why);
	return true;
}

static void tell_source(const struct doctor *doctor,
			const struct python_facts *facts)
{
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT, reasons = STRBUF_INIT;
	const struct python_source *source = &python_source_bpf;

	if (facts->walker_refusal) {
		strbuf_printf(&why,
			      "source %s does not support this interpreter: %s",
			      source->name, facts->walker_refusal);
		tell_without_bpf(doctor, facts, why.data);
		return;
	}
	if (source->probe(&doctor->machine, &reasons)) {
		doctor_fact(MARK_OK, "Python frames: from source %s",
			    source->name);
		return;
	}
	strbuf_printf(&why,
		      "source %s supports this interpreter, but %s",
		      source->name, reasons.data);
	if (!tell_polling(doctor, why.data))
		tell_without_bpf(doctor, facts, why.data);
}

void doctor_python(const struct doctor *doctor, const char *subject,
		   const struct python_facts *facts)
{
	doctor_section("Python: %s", subject);
	tell_identity(facts);
	tell_symbols(facts);
	tell_frame_pointers(facts);
	tell_perf_support(facts);
	tell_build(facts);
	tell_source(doctor, facts);
}
