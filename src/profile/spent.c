// SPDX-License-Identifier: GPL-2.0-only
#include "profile/spent.h"

#include <stddef.h>
#include <string.h>

#include "base/name_match.h"
#include "base/path_name.h"
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

/* Of a function whose name is what Python calls it: python/method_names.h. */
static enum spent_kind kind_of_method(const char *name, bool in_cpython)
{
	/* Calls, attributes, classes: as type_call and others in spent.def. */
	static const char *const own[] = {
		"type.__call__",	    "type.__getattribute__",
		"super.__getattribute__", "module.__getattribute__",
		"__build_class__",	    "frame.tp_dealloc",
	};

	/* What the collector goes along objects by. */
	if (name_ends_with(name, ".tp_traverse") ||
	    (in_cpython && !strcmp(name, "gc.collect")))
		return SPENT_GC;
	if (in_cpython && (name_begins_with(name, "_imp.") ||
			   !strcmp(name, "__import__")))
		return SPENT_IMPORT;
	for (size_t i = 0; in_cpython && i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(name, own[i]))
			return SPENT_INTERPRETER;
	return SPENT_NATIVE;
}

enum spent_kind spent_kind_of_function(const char *name, bool in_cpython)
{
	size_t n = name ? strcspn(name, ".") : 0;
	enum spent_kind kind =
		name ? kind_of_method(name, in_cpython) : SPENT_NATIVE;

	if (kind != SPENT_NATIVE)
		return kind;
	for (size_t i = 0; name && i < sizeof(rows) / sizeof(*rows); i++)
		if ((in_cpython || rows[i].place == ANYWHERE) &&
		    name_pattern_fits(rows[i].name, name, n))
			return rows[i].kind;
	return SPENT_NATIVE;
}

/* Of the functions of CPython that start and end an interpreter. */
static uint8_t phase_of_function(const char *name)
{
	static const struct {
		const char *name;
		enum spent_kind kind;
	} phases[] = {
		{ "pymain_init", SPENT_START },
		{ "Py_InitializeFromConfig", SPENT_START },
		{ "Py_InitializeEx", SPENT_START },
		{ "_Py_InitializeEx_Private", SPENT_START },
		{ "Py_Initialize", SPENT_START },
		{ "Py_FinalizeEx", SPENT_END },
		{ "Py_Finalize", SPENT_END },
		{ "_Py_Finalize", SPENT_END },
	};
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++)
		if (name_pattern_fits(phases[i].name, name, n))
			return phases[i].kind;
	return 0;
}

/* --- The kernel --------------------------------------------------------- */

/*
 * Names of system calls' functions begin so (arch/x86/include/asm/syscall_wrapper.h,
 * include/linux/syscalls.h). Which of them is in a stack depends on what the
 * compiler made of the call between them.
 */
static const char *const calls[] = { "__x64_sys_", "__ia32_sys_", "__do_sys_",
				     "__se_sys_",  "__sys_",	  "ksys_",
				     "do_sys_" };

static const struct {
	const char *pattern;
	const char *what;
	bool is_system_call;
	bool is_interrupt;
} others[] = {
	{ "do_readv", "readv", true },
	{ "do_writev", "writev", true },
	{ "do_futex", "futex", true },
	{ "do_epoll_wait", "epoll_wait", true },
	{ "kernel_wait4", "wait4", true },
	{ "kernel_waitid", "waitid", true },
	/* Before 5.8. */
	{ "page_fault", "page fault" },
	{ "do_page_fault", "page fault" },
	{ "apic_timer_interrupt", "interrupt", false, true },
	{ "do_IRQ", "interrupt", false, true },
	{ "asm_exc_page_fault", "page fault" },
	{ "exc_page_fault", "page fault" },
	{ "asm_sysvec_*", "interrupt", false, true },
	{ "sysvec_*", "interrupt", false, true },
	{ "asm_common_interrupt", "interrupt", false, true },
	{ "common_interrupt", "interrupt", false, true },
	{ "__irq_exit_rcu", "interrupt", false, true },
};

bool spent_kernel_call(const char *name, struct spent_call *ret)
{
	size_t n = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		size_t prefix = strlen(calls[i]);

		if (n > prefix && !memcmp(name, calls[i], prefix)) {
			*ret = (struct spent_call){ name + prefix, n - prefix,
						    true, false };
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (name_pattern_fits(others[i].pattern, name, n)) {
			*ret = (struct spent_call){ others[i].what,
						    strlen(others[i].what),
						    others[i].is_system_call,
						    others[i].is_interrupt };
			return true;
		}
	}
	return false;
}

/* --- Python code -------------------------------------------------------- */

bool spent_is_importlib(const char *name)
{
	struct python_symbol python;

	if (!python_symbol_parse(name, &python))
		return false;
	return !strncmp(python.file, "<frozen importlib", 17) ||
	       !strcmp(python.file, "<frozen zipimport>") ||
	       name_ends_with(python.file, "/importlib/__init__.py") ||
	       name_ends_with(python.file, "/importlib/_bootstrap.py") ||
	       name_ends_with(python.file, "/importlib/_bootstrap_external.py") ||
	       name_ends_with(python.file, "/zipimport.py");
}

bool spent_is_module_body(const char *name)
{
	const char *const body = "<module>";
	struct python_symbol python;

	return python_symbol_parse(name, &python) &&
	       python.qualname_length == strlen(body) &&
	       !memcmp(python.qualname, body, strlen(body));
}

/* --- Stacks ------------------------------------------------------------- */

struct spent_symbol spent_symbol(const char *name, bool in_cpython)
{
	struct spent_call call = {};
	bool is_call = name && spent_kernel_call(name, &call);

	return (struct spent_symbol){
		.is_importlib = name && spent_is_importlib(name),
		.is_module_body = name && spent_is_module_body(name),
		.is_kernel_call = is_call,
		.is_interrupt = call.is_interrupt,
		.is_nameless = !name,
		.kind = spent_kind_of_function(name, in_cpython),
		.phase = name && in_cpython ? phase_of_function(name) : 0,
	};
}

void spent_enter_python(struct spent_below *below,
			const struct spent_symbol *symbol,
			const struct spent_symbol *outer)
{
	/* importlib runs the bodies of modules. */
	bool is_import = symbol->is_importlib ||
			 (symbol->is_module_body && outer &&
			  outer->is_importlib);

	*below = (struct spent_below){
		.kind = is_import ? SPENT_IMPORT : SPENT_INTERPRETER,
		.has_python = true,
	};
}

bool spent_enter_library(struct spent_below *below,
			 const struct spent_symbol *symbol,
			 const struct spent_symbol *outer)
{
	below->in_interpreter = false;
	if (below->kind == SPENT_LIBRARY ||
	    (below->kind == SPENT_IMPORT && below->has_python))
		return false;
	spent_enter_python(below, symbol, outer);
	if (below->kind == SPENT_IMPORT)
		return false;
	below->kind = SPENT_LIBRARY;
	return true;
}

enum spent_where spent_where(const char *file, bool in_cpython, bool is_glue,
			     bool starts)
{
	if (is_glue)
		return SPENT_IN_GLUE;
	if (starts)
		return SPENT_AT_START;
	if (in_cpython)
		return SPENT_IN_CPYTHON;
	if (file && (path_is_libc(file) || !strncmp(file, "ld-linux", 8) ||
		     !strcmp(file, "[vdso]")))
		return SPENT_IN_LIBC;
	return SPENT_IN_LIBRARY;
}

/* Of two native functions, none of which Python code called. */
static bool works_rather(const struct spent_below *below, uint8_t kind,
			 enum spent_where where)
{
	if (below->has_python || kind != SPENT_NATIVE || below->kind != kind)
		return false;
	return where == SPENT_IN_CPYTHON ? below->where < where :
					   below->where <= where;
}

/* A stripped CPython's ternary_op() has no name, but int.__pow__() that it calls. */
static bool has_name_for(const struct spent_below *below,
			 const struct spent_symbol *symbol,
			 enum spent_where where)
{
	return below->kind == SPENT_NATIVE && below->is_nameless &&
	       symbol->kind == SPENT_NATIVE && !symbol->is_nameless &&
	       (where == SPENT_IN_LIBRARY ||
		(where == SPENT_IN_CPYTHON && below->where <= SPENT_IN_CPYTHON));
}

/* Call glue behind functions of the interpreter is that, too: binary_op1(), slot_nb_add(). */
static uint8_t kind_of_native(const struct spent_below *below,
			      const struct spent_symbol *symbol,
			      enum spent_where where)
{
	if (where == SPENT_IN_KERNEL)
		return SPENT_KERNEL;
	return where == SPENT_IN_GLUE && below->has_python &&
			       symbol->kind == SPENT_NATIVE ?
		       SPENT_INTERPRETER :
		       symbol->kind;
}

void spent_pass_interpreter(struct spent_below *below)
{
	below->in_interpreter = true;
}

bool spent_enter_native(struct spent_below *below,
			const struct spent_symbol *symbol,
			enum spent_where where, bool is_inlined)
{
	bool in_kernel = where == SPENT_IN_KERNEL;
	uint8_t kind = kind_of_native(below, symbol, where);
	/* The first frames in the kernel are entry code. */
	bool tells_more = kind == SPENT_KERNEL && below->kind == kind &&
			  !below->is_call_known && symbol->is_kernel_call;

	if (is_inlined && below->in_interpreter && symbol->kind == SPENT_NATIVE)
		return false;
	if (!is_inlined)
		below->in_interpreter = kind == SPENT_INTERPRETER;
	tells_more |= works_rather(below, kind, where) ||
		      has_name_for(below, symbol, where);
	if (in_kernel && symbol->is_interrupt)
		below->is_interrupted = true;
	if (!below->has_python && symbol->phase)
		below->phase = symbol->phase;
	/* Who sleeps for the GIL waits for that. */
	if (below->is_interrupted || (kind <= below->kind && !tells_more) ||
	    (kind == SPENT_IDLE && below->kind == SPENT_GIL))
		return false;
	below->kind = kind;
	below->where = (uint8_t)where;
	below->is_nameless = symbol->is_nameless;
	below->is_call_known = in_kernel && symbol->is_kernel_call;
	return true;
}

/* --- Behind the last frame ---------------------------------------------- */

static bool is_work(enum spent_kind kind)
{
	return kind < SPENT_UNTOLD && kind != SPENT_LIBRARY && kind != SPENT_GIL;
}

/* What a thread waited for is told, or it waited for its memory or its turn. */
static bool is_wait_told(const struct spent_below *below, bool has_subject)
{
	switch (below->kind) {
	case SPENT_INTERPRETER:
	case SPENT_UNTOLD:
		return false;
	case SPENT_KERNEL:
		return below->is_call_known;
	case SPENT_NATIVE:
		return has_subject;
	default:
		return true;
	}
}

bool spent_settle(struct spent_below *below, struct spent_event event,
		  bool has_subject)
{
	if (event.python_only && (below->kind == SPENT_INTERPRETER ||
				  below->kind == SPENT_NATIVE)) {
		below->kind = SPENT_UNTOLD;
		has_subject = false;
	}
	if (event.is_wait && !is_wait_told(below, has_subject)) {
		below->kind = SPENT_WAITING;
		has_subject = false;
	}
	if (!event.is_wait && below->phase && is_work(below->kind)) {
		below->kind = below->phase;
		has_subject = false;
	}
	return has_subject;
}
