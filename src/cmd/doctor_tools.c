// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base/strbuf.h"
#include "cmd/doctor.h"
#include "cmd/doctor_fact.h"
#include "sys/capture.h"
#include "sys/perf_version.h"

/* First line of what `<file> --version` prints; "" if nothing. */
static struct error *ask_version(const struct doctor *doctor, const char *file,
				 struct strbuf *out)
{
	const char *const argv[] = { file, "--version", NULL };
	const struct capture capture = {
		.argv = argv,
		.invoker = &doctor->invoker,
		.path = doctor->path,
		.timeout_ms = 10000,
		.limit = 64 << 10,
	};
	struct error *error;
	int status;

	error = capture_run(&capture, out, &status);
	if (!error)
		strbuf_truncate(out, strcspn(out->data, "\n"));
	return error;
}

/* Tells of a missing tool; false if it is not there or says nothing. */
static bool find_tool(const struct doctor *doctor, const char *name,
		      char **file, struct strbuf *version)
{
	struct error *error = capture_which(doctor->path, name, file);

	if (error) {
		doctor_fact(MARK_NOTE, "%s: not on the PATH", name);
		error_destroy(error);
		return false;
	}
	error = ask_version(doctor, *file, version);
	if (error || !version->len) {
		doctor_fact(MARK_WARN, "%s at %s prints no version%s%s",
			    name, *file, error ? ": " : "",
			    error ? error->message : "");
		error_destroy(error);
		return false;
	}
	return true;
}

static void tell_perf(const struct doctor *doctor)
{
	_cleanup_free_ char *file = NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct perf_version version;

	if (!find_tool(doctor, "perf", &file, &text))
		return;
	doctor_fact(MARK_OK, "%s at %s", text.data, file);
	if (!perf_version_parse(text.data, &version))
		doctor_fact(MARK_WARN, "perf: kaa does not understand this version");
	else if (perf_version_has_jit_fault(&version))
		doctor_fact(MARK_WARN,
			    "perf: has the jit fault, unless the fix of 6.7.2 and 6.8 was backported: 'perf inject --jit' breaks stacks");
	else
		doctor_fact(MARK_OK,
			    "perf: does not have the jit fault (fixed in 6.7.2 and 6.8)");
}

static void tell_samply(const struct doctor *doctor)
{
	_cleanup_free_ char *file = NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (find_tool(doctor, "samply", &file, &text))
		doctor_fact(MARK_OK, "%s at %s", text.data, file);
}

void doctor_tools(const struct doctor *doctor)
{
	doctor_section("Tools");
	tell_perf(doctor);
	tell_samply(doctor);
}
