// SPDX-License-Identifier: GPL-2.0-only
#include "view/nameless_text.h"

#include <stdint.h>
#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"
#include "view/own_command.h"
#include "view/spent_text.h"
#include "view/text.h"

/* Files that are named. */
enum { NAMELESS_MAX = 3 };

/* Debian and Ubuntu have the names of /usr/bin/python3.11 in python3.11-dbg. */
static bool has_debug_package(const char *path)
{
	static const char python[] = "/usr/bin/python3.";

	return !strncmp(path, python, strlen(python)) &&
	       strspn(path + strlen(python), "0123456789") ==
		       strlen(path + strlen(python));
}

static const char *nameless_path(const struct profile *profile,
				 const struct own_nameless *file)
{
	const struct profile_dso *dso = profile_dso(profile, file->dso);

	return dso ? profile_string(profile, dso->long_name, "") : "";
}

static void put_nameless_file(const struct profile *profile,
			      const struct own_nameless *file,
			      struct strbuf *out)
{
	const char *path = nameless_path(profile, file);
	const char *name = path_name(path);

	if (*name)
		text_append(out, name, strlen(name));
	else
		strbuf_puts(out, "no known file");
}

/* How many are named: the first, and others of one percent. */
static size_t count_nameless(const struct own_time *own)
{
	size_t count = 0;

	while (count < own->nameless.count && count < NAMELESS_MAX &&
	       (!count || own->nameless.data[count].weight.period >=
				  own->all.period / 100))
		count++;
	return count;
}

/* Not "//anon", "[heap]" or the perf map of made code. */
static bool is_file(const char *path)
{
	return *path && *path != '[' && strncmp(path, "//", 2) != 0 &&
	       strncmp(path, "/tmp/perf-", 10) != 0;
}

/* Debian has the names of CPython's own modules where it has those of CPython. */
static bool is_module_of_python(const char *path)
{
	return strstr(path, "/lib-dynload/") != NULL;
}

/* "33 % in python3.11, 12 % in libcrypto.so.3" */
static void put_nameless_files(const struct profile *profile,
			       const struct own_time *own, size_t count,
			       uint64_t rest, struct strbuf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct own_nameless *file = &own->nameless.data[i];

		strbuf_puts(out, i ? ", " : "");
		strbuf_percent(out, file->weight.period, own->all.period);
		strbuf_puts(out, " in ");
		put_nameless_file(profile, file, out);
		rest -= file->weight.period;
	}
	if (rest) {
		strbuf_puts(out, ", ");
		strbuf_percent(out, rest, own->all.period);
		strbuf_puts(out, " in others");
	}
}

/* What gives names to the interpreter's functions. */
static void advise_python(const struct profile *profile,
			  const struct own_nameless *python,
			  struct strbuf *out)
{
	const char *path = nameless_path(profile, python);
	const char *file = path_name(path);
	_cleanup_strbuf_ struct strbuf advice = STRBUF_INIT;

	strbuf_puts(out, "Allocation, garbage collection and waits for the GIL may be among them, or inlined into others.\n");
	if (has_debug_package(path))
		strbuf_printf(&advice,
			      "Debian's package %s-dbg gives them names, in this recording too: 'sudo apt install %s-dbg'.\n",
			      file, file);
	else
		strbuf_puts(&advice,
			    "'kaa doctor' says which file has the names, for this recording too.\n");
	own_command_puts(out, advice.data);
}

/* Debian and Ubuntu have the names of these in libc6-dbg: libc.so.6, libm-2.31.so. */
static bool is_of_glibc(const char *path)
{
	static const char *const names[] = { "libc.so.6", "libm.so.6",
					     "libc-2.",	  "libm-2.",
					     "libpthread", "ld-linux-",
					     "ld-2." };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (name_begins_with(path_name(path), names[i]))
			return true;
	return false;
}

/* The same of other files. python: of that, its own modules have been told of. */
static void advise_others(const struct profile *profile,
			  const struct own_time *own, size_t count,
			  const struct own_nameless *python,
			  struct strbuf *out)
{
	size_t start = out->len;
	bool of_glibc = true;

	for (size_t i = 0; i < count; i++) {
		const struct own_nameless *file = &own->nameless.data[i];
		const char *path = nameless_path(profile, file);

		/* Nobody has symbols of what comes as wheels. */
		if (file->in_cpython || !is_file(path) ||
		    strstr(path, "/site-packages/") ||
		    file->weight.period < own->all.period / 100 ||
		    (python && is_module_of_python(path)))
			continue;
		strbuf_puts(out, out->len > start ? ", " : "Debug symbols of ");
		put_nameless_file(profile, file, out);
		of_glibc &= is_of_glibc(path);
	}
	if (out->len > start)
		strbuf_printf(
			out,
			" give names, in this recording too (in Debian: %s).\n",
			of_glibc ? "package libc6-dbg" : "packages -dbg, -dbgsym");
}

/* Of several files each has its share. */
static void put_amount(const struct profile *profile,
		       const struct own_time *own, uint64_t period,
		       size_t count, struct strbuf *out)
{
	strbuf_percent(out, period, own->all.period);
	strbuf_puts(out, " is native time in C functions ");
	if (own->nameless.count == 1) {
		strbuf_puts(out, "of ");
		put_nameless_file(profile, &own->nameless.data[0], out);
		strbuf_puts(out, " without names.\n");
		return;
	}
	if (own->nameless.data[0].weight.period > period - period / 10) {
		strbuf_puts(out, "without names, nearly all in ");
		put_nameless_file(profile, &own->nameless.data[0], out);
		strbuf_puts(out, ".\n");
		return;
	}
	strbuf_puts(out, "without names: ");
	put_nameless_files(profile, own, count, period, out);
	strbuf_puts(out, ".\n");
}

void nameless_note(const struct profile *profile, const struct own_time *own,
		   struct strbuf *out)
{
	uint64_t period = spent_nameless(own);
	const struct own_nameless *python = NULL;
	size_t count = count_nameless(own);

	if (!period)
		return;
	put_amount(profile, own, period, count, out);
	for (size_t i = 0; i < count && !python; i++)
		if (own->nameless.data[i].in_cpython)
			python = &own->nameless.data[i];
	if (python)
		advise_python(profile, python, out);
	advise_others(profile, own, count, python, out);
}
