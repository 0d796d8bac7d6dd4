// SPDX-License-Identifier: GPL-2.0-only
#include "obj/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

/* Longer names are hostile or of no use to a reader. */
#define MANGLED_MAX 16384

static const char base_62[] = "0123456789abcdefghijklmnopqrstuvwxyz"
			      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/*
 * A short name can stand for an exponentially long one. libiberty has no way
 * to stop but leaving its callback; in callback mode it keeps its state on
 * the stack, so that leaving loses nothing but a Punycode identifier's memory.
 */
struct output {
	struct strbuf text;
	jmp_buf stop;
};

static void take_output(const char *text, size_t len, void *opaque)
{
	struct output *out = opaque;

	if (out->text.len + len > DEMANGLE_MAX)
		longjmp(out->stop, 1);
	strbuf_append(&out->text, text, len);
}

/*
 * "for<'a, 'b>" of more than 63 lifetimes, which precedes a function's types
 * or a trait object's bounds (Rust RFC 2603, binder): libiberty goes through
 * a v0 name once without printing, and counts there up to any number, 2^64 at
 * most, without calling back.
 */
static bool binds_too_many_lifetimes(const char *name)
{
	if (name[1] != 'R')
		return false;
	for (const char *p = name; (p = strchr(p, 'G')); p++) {
		size_t digits = strspn(p + 1, base_62);

		if ((p[-1] == 'F' || p[-1] == 'D') && digits > 1 &&
		    p[1 + digits] == '_')
			return true;
	}
	return false;
}

static bool run(const char *name, bool rust, struct output *out)
{
	if (setjmp(out->stop))
		return false;
	if (rust && binds_too_many_lifetimes(name))
		return false;
	if (rust)
		return rust_demangle_callback(name, 0, take_output, out);
	return cplus_demangle_v3_callback(name, DMGL_PARAMS | DMGL_ANSI,
					  take_output, out);
}

static char *try_one(const char *name, bool rust)
{
	struct output out = { .text = STRBUF_INIT };
	char *text = NULL;

	if (run(name, rust, &out))
		text = strbuf_take(&out.text);
	strbuf_deinit(&out.text);
	return text;
}

static char *demangle_plain(const char *name)
{
	/* Legacy Rust names are C++ names with a hash as their last part. */
	char *text = try_one(name, true);

	if (!text && name[1] == 'Z')
		text = try_one(name, false);
	return text;
}

/* "NAME@plt": the name alone is mangled. */
static char *demangle_plt(const char *name, size_t len)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	_cleanup_free_ char *mangled = strndup(name, len);
	_cleanup_free_ char *text = mangled ? demangle_plain(mangled) : NULL;

	if (!text)
		return NULL;
	strbuf_puts(&out, text);
	strbuf_puts(&out, name + len);
	return strbuf_take(&out);
}

char *demangle(const char *name)
{
	size_t len = strnlen(name, MANGLED_MAX + 1);

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') ||
	    len > MANGLED_MAX)
		return NULL;
	if (len > 4 && !strcmp(name + len - 4, "@plt"))
		return demangle_plt(name, len - 4);
	return demangle_plain(name);
}
