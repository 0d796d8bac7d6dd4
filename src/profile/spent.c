// SPDX-License-Identifier: GPL-2.0-only
#include "profile/spent.h"

#include <stddef.h>
#include <string.h>

#include "base/name_pattern.h"
#include "profile/symbol_word.h"

enum place { CPYTHON, ANYWHERE };

struct row {
	enum spent_kind kind;
	enum place place;
	const char *name;
};

#define SPENT(kind, place, name) { SPENT_##kind, place, name },
static const struct row rows[] = {
#include "profile/spent.def"
};

enum spent_kind spent_kind_of_function(const char *name, bool in_cpython)
{
	size_t n = name ? strcspn(name, ".") : 0;

	for (size_t i = 0; name && i < sizeof(rows) / sizeof(*rows); i++)
		if ((in_cpython || rows[i].place == ANYWHERE) &&
		    name_pattern_fits(rows[i].name, name, n))
			return rows[i].kind;
	return SPENT_NATIVE;
}

/* --- The kernel --------------------------------------------------------- */

/*
 * Names of system calls' functions begin so (arch/x86/include/asm/syscall_wrapper.h,
 * include/linux/syscalls.h). Which of them is in a stack depends on what the
 * compiler made of the call between them.
 */
static const char *const calls[] = { "__x64_sys_", "__ia32_sys_", "__do_sys_",
				     "__se_sys_",  "ksys_",	  "do_sys_" };

static const struct {
	const char *pattern;
	const char *what;
} others[] = {
	{ "do_readv", "readv" },
	{ "do_writev", "writev" },
	{ "do_futex", "futex" },
	{ "do_epoll_wait", "epoll_wait" },
	{ "asm_exc_page_fault", "page fault" },
	{ "exc_page_fault", "page fault" },
	{ "asm_sysvec_*", "interrupt" },
	{ "sysvec_*", "interrupt" },
	{ "asm_common_interrupt", "interrupt" },
	{ "common_interrupt", "interrupt" },
	{ "__irq_exit_rcu", "interrupt" },
};

const char *spent_kernel_call(const char *name, int *length)
{
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		size_t prefix = strlen(calls[i]);

		if (n > prefix && !memcmp(name, calls[i], prefix)) {
			*length = (int)(n - prefix);
			return name + prefix;
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (name_pattern_fits(others[i].pattern, name, n)) {
			*length = (int)strlen(others[i].what);
			return others[i].what;
		}
	}
	return NULL;
}

/* --- Python code -------------------------------------------------------- */

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !memcmp(s + n - m, end, m);
}

bool spent_is_importlib(const char *name)
{
	struct python_symbol python;

	if (!python_symbol_parse(name, &python))
		return false;
	return !strncmp(python.file, "<frozen importlib", 17) ||
	       !strcmp(python.file, "<frozen zipimport>") ||
	       ends_with(python.file, "/importlib/__init__.py") ||
	       ends_with(python.file, "/importlib/_bootstrap.py") ||
	       ends_with(python.file, "/importlib/_bootstrap_external.py") ||
	       ends_with(python.file, "/zipimport.py");
}

bool spent_is_module_body(const char *name)
{
	const char *const body = "<module>";
	struct python_symbol python;

	return python_symbol_parse(name, &python) &&
	       python.qualname_length == strlen(body) &&
	       !memcmp(python.qualname, body, strlen(body));
}
