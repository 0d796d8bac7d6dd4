// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor_fix.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/doctor_fact.h"
#include "collect/python_source.h"
#include "sys/capability.h"
#include "sys/capture.h"
#include "sys/file_capability.h"

/* Not the user's PATH: these run as root. */
static const char tool_path[] = "/usr/sbin:/usr/bin:/sbin:/bin";

enum { TIMEOUT_MS = 60000, OUTPUT_MAX = 64 << 10 };

static struct error *missing_tool(const char *name)
{
	if (!strcmp(name, "setcap"))
		return error_create(ERROR_NOT_FOUND,
				    "there is no setcap in %s: 'sudo apt install libcap2-bin' installs it (on Fedora libcap)",
				    tool_path);
	return error_create(ERROR_NOT_FOUND, "there is no %s in %s", name,
			    tool_path);
}

struct error *fix_find_tools(const struct fix *fix)
{
	for (size_t i = 0; i < fix->todo.count; i++) {
		const char *name = fix->todo.list[i].words[0];
		_cleanup_error_ struct error *error = NULL;
		_cleanup_free_ char *file = NULL;

		error = capture_which(tool_path, name, &file);
		if (error)
			return missing_tool(name);
	}
	return NULL;
}

static struct error *run_command(const struct fix_command *command)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	const struct capture capture = {
		.argv = command->words,
		.path = tool_path,
		.timeout_ms = TIMEOUT_MS,
		.limit = OUTPUT_MAX,
		.errors = &said,
	};
	struct error *error;
	int status = 0;

	fix_command_format(command, &line);
	error = capture_run(&capture, &out, &status);
	if (error)
		return error;
	if (status == 0) {
		doctor_fact(MARK_OK, "%s", line.data);
		return NULL;
	}
	doctor_fact(MARK_NO, "%s", line.data);
	strbuf_truncate(&said, strcspn(said.data, "\n"));
	return error_create(ERROR_OS, "'%s' failed: %s", line.data,
			    said.len ? said.data : "it does not say why");
}

/* What kaa itself says when the user who typed sudo runs it. */
static struct error *ask_as_user(const struct fix *fix, bool *ret)
{
	const struct doctor *doctor = fix->doctor;
	const char *const words[] = { fix->file, "doctor", NULL };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct capture capture = {
		.argv = words,
		.invoker = &doctor->invoker,
		.path = doctor->path,
		.timeout_ms = TIMEOUT_MS,
		.limit = OUTPUT_MAX,
	};
	struct error *error;
	int status;

	error = capture_run(&capture, &out, &status);
	if (error)
		return error;
	*ret = status == 0 &&
	       strstr(out.data,
		      fix->kind == FIX_FILE ?
			      "source: bpf" :
			      "user space: can be recorded");
	return NULL;
}

static struct error *check_file(const struct fix *fix)
{
	const uint64_t needed = CAPABILITY_BIT(CAP_BPF) |
				CAPABILITY_BIT(CAP_PERFMON);
	uint64_t has = 0;
	int err = file_capabilities_read(fix->file, &has);

	if (err < 0 || needed & ~has)
		return error_create(ERROR_OS,
				    "'%s' still lacks the capabilities",
				    fix->file);
	doctor_fact(MARK_OK, "%s has cap_bpf and cap_perfmon", fix->file);
	return NULL;
}

static struct error *check(const struct fix *fix)
{
	const struct invoker *invoker = &fix->doctor->invoker;
	struct error *error = NULL;
	bool works = false;

	if (fix->kind == FIX_FILE)
		error = check_file(fix);
	if (error)
		return error;
	if (!invoker->present) {
		doctor_fact(MARK_NOTE,
			    "root cannot try it for a user; a user's 'kaa doctor' does");
		return NULL;
	}
	error = ask_as_user(fix, &works);
	if (error)
		return error;
	if (!works)
		return error_create(ERROR_OS,
				    "'%s' still needs root when %s runs it; 'kaa doctor' as %s says why",
				    fix->file, invoker->user, invoker->user);
	doctor_fact(MARK_OK, "user %s records without root: %s", invoker->user,
		    fix->kind == FIX_FILE ?
			    "Python functions with their lines" :
			    "Python functions, with the line of their def");
	return NULL;
}

struct error *fix_may_run(const struct fix *fix)
{
	if (fix->kind == FIX_DONE || fix->kind == FIX_NOTHING)
		return NULL;
	if (geteuid() != 0)
		return error_create(ERROR_PERMISSION,
				    "--fix=run needs root: 'sudo %s doctor --fix=run%s%s'",
				    fix->file, fix->group ? " --group " : "",
				    fix->group ? fix->group : "");
	return fix_find_tools(fix);
}

struct error *fix_run(const struct fix *fix)
{
	struct error *error;

	if (fix->kind == FIX_DONE)
		return NULL;
	if (fix->kind == FIX_NOTHING)
		return error_create(ERROR_UNSUPPORTED,
				    "there is nothing to run: '%s' cannot have capabilities",
				    fix->file);
	doctor_section("What was run");
	for (size_t i = 0; i < fix->todo.count; i++) {
		error = run_command(&fix->todo.list[i]);
		if (error)
			return error;
	}
	doctor_section("Whether it helped");
	return check(fix);
}
