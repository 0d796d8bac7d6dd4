// SPDX-License-Identifier: GPL-2.0-only
/* Own time of Python code, on stacks whose answer is plain to see. */
#include "assert_ok.h"

#include "model.h"
#include "profile/installed_path.h"
#include "profile/library_files.h"
#include "profile/own_time.h"

#define F "py:py::f:/srv/x.py"
#define G "py:py::g:/srv/x.py"
#define BODY "py:py::<module>:/srv/y.py"

static struct own_time *own_of(const struct model *m)
{
	struct own_time *own = NULL;

	assert_ok(own_time_create(m->profile, 0, &own));
	return own;
}

static const struct own_entry *entry_of(const struct model *m,
					const struct own_entry_vec *entries,
					const char *name, uint32_t line)
{
	vec_for_each(entry, entries)
		if (!strcmp(profile_string(m->profile, entry->name, "-"),
			    name) &&
		    (!line || entry->line == line))
			return entry;
	fail_msg("no entry %s", name);
	return NULL;
}

static void check_entry(const struct model *m,
			const struct own_entry_vec *entries, const char *name,
			uint32_t line, uint64_t own, uint64_t total)
{
	const struct own_entry *entry = entry_of(m, entries, name, line);

	assert_int_equal(entry->own.period, own);
	assert_int_equal(entry->total.period, total);
}

static void test_own_and_total(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "_start I:eval " F "@3 I:eval " G "@8 list_sort");
	model_sample(&m, 2, "_start I:eval " F "@3 I:eval " G "@9 I:eval");
	model_sample(&m, 4, "_start I:eval " F "@4 lib:compress k:read");
	model_sample(&m, 8, "_start I:eval");
	own = own_of(&m);
	assert_int_equal(own->all.period, 15);
	assert_int_equal(own->all.samples, 4);
	assert_int_equal(own->functions.count, 3);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 4, 7);
	check_entry(&m, &own->functions, "py::g:/srv/x.py", 0, 3, 3);
	check_entry(&m, &own->functions, "-", 0, 8, 8);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 3, 0, 3);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 4, 4, 4);
	check_entry(&m, &own->lines, "py::g:/srv/x.py", 8, 1, 1);
	check_entry(&m, &own->lines, "py::g:/srv/x.py", 9, 2, 2);
	/* Heaviest own time first. */
	assert_int_equal(own->functions.data[0].own.period, 8);
	assert_int_equal(own->functions.data[2].own.period, 3);
	model_deinit(&m);
}

static void test_files_are_counted_as_functions_are(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	uint64_t sum = 0;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, BODY " I:eval " F "@3 I:eval " G "@8 list_sort");
	model_sample(&m, 2, BODY " I:eval " F "@3");
	model_sample(&m, 4, BODY " lib:compress");
	model_sample(&m, 8, "_start");
	own = own_of(&m);
	assert_int_equal(own->files.count, 3);
	/* Of the first function seen in it. */
	check_entry(&m, &own->files, "py::f:/srv/x.py", 0, 3, 3);
	check_entry(&m, &own->files, "py::<module>:/srv/y.py", 0, 4, 7);
	check_entry(&m, &own->files, "-", 0, 8, 8);
	vec_for_each(file, &own->files)
		sum += file->own.period;
	assert_int_equal(sum, own->all.period);
	model_deinit(&m);
}

/* The same with debug information and without, but for names that tell a kind. */
static void test_what_is_inlined_into_the_interpreter(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, F " I:eval i:set_attribute_error_context i:Py_DECREF");
	model_sample(&m, 2, F " I:eval PyObject_GetAttr i:Py_TYPE");
	model_sample(&m, 4, F " I:eval i:unpack list_append");
	model_sample(&m, 8, F " I:eval list_sort i:Py_DECREF");
	model_sample(&m, 16, F " I:eval i:_PyObject_Free");
	model_sample(&m, 32, F " I:eval i:take_gil");
	own = own_of(&m);
	assert_int_equal(own->kinds[SPENT_INTERPRETER].period, 3);
	assert_int_equal(own->kinds[SPENT_NATIVE].period, 12);
	assert_int_equal(own->kinds[SPENT_ALLOCATION].period, 16);
	assert_int_equal(own->kinds[SPENT_GIL].period, 32);
	model_deinit(&m);
}

static bool is_odd(const struct profile *profile, size_t row, const void *arg)
{
	assert_ptr_equal(arg, profile);
	return row % 2;
}

static void test_rows_that_are_not_kept_are_not_there(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct own_time_options options = { .keep = is_odd };
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, BODY " I:eval " F "@3");
	model_sample(&m, 2, BODY " I:eval " G "@8 list_sort");
	model_sample(&m, 4, BODY " I:eval " F "@3");
	model_sample(&m, 8, BODY "@2");
	options.keep_arg = m.profile;
	assert_ok(own_time_select(m.profile, &options, &own));
	assert_int_equal(own->all.period, 10);
	assert_int_equal(own->all.samples, 2);
	assert_int_equal(own->functions.count, 2);
	check_entry(&m, &own->functions, "py::g:/srv/x.py", 0, 2, 2);
	check_entry(&m, &own->functions, "py::<module>:/srv/y.py", 0, 8, 10);
	assert_int_equal(own->kinds[SPENT_NATIVE].period, 2);
	model_deinit(&m);
}

#define LIB "/usr/lib/python3.11/"
#define LOADS "py:py::loads:" LIB "json/__init__.py"
#define DECODE "py:py::decode:" LIB "json/decoder.py"
#define FIND "py:py::find:" LIB "importlib/_bootstrap.py"
#define LIB_BODY "py:py::<module>:" LIB "json/__init__.py"
#define COMMAND "py:py::<module>:/usr/bin/pytest-3"

static struct own_time *own_without_libraries(const struct model *m)
{
	struct own_time_options options = { .without_libraries = true };
	struct own_time *own = NULL;

	assert_ok(own_time_select(m->profile, &options, &own));
	return own;
}

/* What one of the parts of a function weighs that are of a kind; 0: it has none. */
static uint64_t part_of(const struct own_time *own,
			const struct own_entry *function, enum spent_kind kind)
{
	uint64_t period = 0;

	for (uint32_t i = 0; i < function->part_count; i++)
		if (own->parts.data[function->first_part + i].kind == kind)
			period += own->parts.data[function->first_part + i].weight.period;
	return period;
}

static void test_libraries_count_for_who_calls_them(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	const struct own_entry *f;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, F "@3 I:eval " LOADS " I:eval " DECODE " scan");
	model_sample(&m, 2, F "@4 I:eval " LOADS " k:read");
	/* A function of the program that a library calls is the program's again. */
	model_sample(&m, 4, F "@3 I:eval " DECODE " I:eval " G "@8 list_sort");
	model_sample(&m, 8, F "@5 list_sort");
	/* What the machinery of imports does is no library that somebody chose. */
	model_sample(&m, 16, F "@2 I:eval " FIND " I:eval " LIB_BODY " " DECODE);
	model_sample(&m, 32, COMMAND " I:eval " LOADS " " DECODE " list_sort");
	model_sample(&m, 64, "_start I:eval");
	model_sample(&m, 128, LOADS " I:eval " G "@9");
	own = own_without_libraries(&m);
	assert_int_equal(own->all.period, 255);
	assert_int_equal(own->functions.count, 3);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 27, 31);
	check_entry(&m, &own->functions, "py::g:/srv/x.py", 0, 132, 132);
	check_entry(&m, &own->functions, "-", 0, 96, 96);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 3, 1, 5);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 4, 2, 2);
	assert_true(entry_of(&m, &own->functions, "-", 0)->is_library);
	f = entry_of(&m, &own->functions, "py::f:/srv/x.py", 0);
	assert_int_equal(part_of(own, f, SPENT_LIBRARY), 3);
	assert_int_equal(part_of(own, f, SPENT_NATIVE), 8);
	assert_int_equal(part_of(own, f, SPENT_IMPORT), 16);
	assert_int_equal(own->kinds[SPENT_LIBRARY].period, 35);
	own_time_destroy(own);
	own = own_of(&m);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 8, 31);
	assert_int_equal(own->kinds[SPENT_LIBRARY].period, 0);
	model_deinit(&m);
}

/* Of a garbage collector and of who waits for the GIL that is told in libraries, too. */
static void test_what_libraries_wait_for_is_told(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, F " I:eval " LOADS " take_gil k:futex");
	model_sample(&m, 2, F " I:eval " LOADS " malloc");
	/* A finalizer, which is code of a library again. */
	model_sample(&m, 4, F " I:eval " LOADS " gc_collect_main " DECODE);
	model_sample(&m, 8, F " gc_collect_main");
	own = own_without_libraries(&m);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 15, 15);
	assert_int_equal(own->kinds[SPENT_GIL].period, 1);
	assert_int_equal(own->kinds[SPENT_LIBRARY].period, 6);
	assert_int_equal(own->kinds[SPENT_GC].period, 8);
	model_deinit(&m);
}

/* The command of a package is known by the folder that its library is in. */
static void test_whose_files_are_libraries(void **state)
{
	static const struct {
		const char *path;
		bool is_library;
	} files[] = {
		{ "/srv/venv/lib/python3.12/site-packages/a/b.py", true },
		{ "/srv/venv/bin/pytest", true },
		{ "/srv/venv/bin/tool.py", false },
		{ "/srv/venv/bin/sub/pytest", false },
		{ "/srv/bin/pytest", false },
		{ "/usr/lib/python3/dist-packages/apt/cache.py", true },
		{ "/usr/bin/unattended-upgrade", true },
		{ "/usr/bin/program", false },
		{ "/opt/py27/lib/python2.7/json/decoder.py", true },
		{ "/opt/py27/bin/thing", true },
		{ "/opt/lib/python4.1/x.py", false },
		{ "/home/me/lib/pythonic/x.py", false },
		{ "/srv/x.py", false },
	};
	enum { COUNT = sizeof(files) / sizeof(*files) };
	_cleanup_free_ bool *libraries = NULL;
	struct model m;
	char name[128];

	(void)state;
	model_init(&m, NULL);
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(name, sizeof(name), "py:py::<module>:%s", files[i].path);
		model_sample(&m, 1, name);
	}
	/* It has functions of its own. */
	model_sample(&m, 1, "py:py::<module>:/usr/bin/program py:py::f:/usr/bin/program");
	assert_ok(library_files_find(m.profile, &libraries));
	assert_true(path_is_library("<frozen os>"));
	assert_true(path_is_library("<attrs generated init a.B>"));
	assert_false(path_is_library("<string>"));
	for (size_t i = 0; i < COUNT; i++)
		if (libraries[model_string(&m, files[i].path)] !=
		    files[i].is_library)
			fail_msg("%s", files[i].path);
	model_deinit(&m);
}

static void test_recursion_counts_once(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 5,
		     F "@3 I:eval " G "@8 I:eval " F "@3 I:eval " F "@5");
	own = own_of(&m);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 5, 5);
	check_entry(&m, &own->functions, "py::g:/srv/x.py", 0, 0, 5);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 3, 0, 5);
	check_entry(&m, &own->lines, "py::f:/srv/x.py", 5, 5, 5);
	model_deinit(&m);
}

static void test_native_frames_between_are_the_callers(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	/* A key function that sort() calls: its time is its own. */
	model_sample(&m, 3, "I:eval " F " list_sort I:eval " G);
	model_sample(&m, 4, "I:eval " F " list_sort");
	own = own_of(&m);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 4, 7);
	check_entry(&m, &own->functions, "py::g:/srv/x.py", 0, 3, 3);
	assert_int_equal(own->kinds[SPENT_INTERPRETER].period, 3);
	assert_int_equal(own->kinds[SPENT_NATIVE].period, 4);
	model_deinit(&m);
}

static void test_markers_are_no_code(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct profile_frame marker = { .symbol = PROFILE_NONE,
					.dso = PROFILE_NONE,
					.file = PROFILE_NONE,
					.kind = PROFILE_FRAME_MARKER };
	struct profile_sample sample = { .period = 6, .count = 2 };
	uint32_t frame, stack;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_check(profile_intern_frame(m.profile, &marker, &frame));
	sample.stack = model_stack(&m, "I:eval " F);
	sample.task = m.task;
	model_check(profile_stack_push(m.profile, sample.stack, frame, &stack));
	sample.stack = stack;
	model_check(profile_add_sample(m.profile, &sample));
	sample.stack = PROFILE_NONE;
	model_check(profile_add_sample(m.profile, &sample));
	own = own_of(&m);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 6, 6);
	check_entry(&m, &own->functions, "-", 0, 6, 6);
	assert_int_equal(own->all.samples, 4);
	assert_int_equal(own->kinds[SPENT_INTERPRETER].period, 6);
	model_deinit(&m);
}

static void test_other_events_do_not_count(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct profile_event event = {};
	struct profile_sample sample = { .period = 9, .count = 1 };
	struct model m;
	uint32_t id;

	(void)state;
	model_init(&m, NULL);
	event.name = model_string(&m, "page-faults");
	model_check(profile_add_event(m.profile, &event, &id));
	model_sample(&m, 3, "I:eval " F);
	sample.event = (uint16_t)id;
	sample.stack = model_stack(&m, "I:eval " G);
	sample.task = m.task;
	model_check(profile_add_sample(m.profile, &sample));
	own = own_of(&m);
	assert_int_equal(own->functions.count, 1);
	assert_int_equal(own->lines.count, 1);
	check_entry(&m, &own->functions, "py::f:/srv/x.py", 0, 3, 3);
	model_deinit(&m);
}

/* --- Kinds -------------------------------------------------------------- */

static const struct {
	const char *stack;
	enum spent_kind kind;
	/* A function's name, "-": none. */
	const char *subject;
} kinds[] = {
	{ "I:eval " F, SPENT_INTERPRETER, "-" },
	{ "I:eval " F " I:eval", SPENT_INTERPRETER, "-" },
	{ "I:eval " F " PyObject_GetAttr", SPENT_INTERPRETER, "-" },
	{ "I:eval " F " PyNumber_Add long_add", SPENT_NATIVE,
	  "long_add" },
	{ "I:eval " F " PyObject_GetItem list_subscript.cold",
	  SPENT_NATIVE, "list_subscript.cold" },
	/* What Python code called, not what that calls. */
	{ "I:eval " F " list_sort unicode_compare", SPENT_NATIVE,
	  "list_sort" },
	{ "I:eval " F " lib:PyObject_Own", SPENT_NATIVE,
	  "PyObject_Own" },
	{ "I:eval " F " list_append realloc k:__x64_sys_mremap",
	  SPENT_ALLOCATION, "realloc" },
	{ "I:eval " F " lib:je_malloc", SPENT_ALLOCATION, "je_malloc" },
	{ "I:eval " F " _PyObject_GC_Alloc gc_collect_main free",
	  SPENT_GC, "gc_collect_main" },
	/* A function without a name, in such a file. */
	{ "I:eval " F " lib:free.so+0x40", SPENT_NATIVE,
	  "free.so+0x40" },
	/* As Python calls what no symbol names. */
	{ "I:eval " F " list.sort int.tp_richcompare", SPENT_NATIVE,
	  "list.sort" },
	{ "I:eval " F " python3.11+0x40 set.tp_traverse lib:app.T.tp_traverse",
	  SPENT_GC, "set.tp_traverse" },
	{ "I:eval " F " gc.collect python3.11+0x40", SPENT_GC,
	  "gc.collect" },
	{ "I:eval " F " _imp.create_dynamic lib:app.init", SPENT_IMPORT,
	  "_imp.create_dynamic" },
	{ "I:eval " F " __import__ dict.get", SPENT_IMPORT, "__import__" },
	{ "I:eval " F " type.__call__ set.__init__", SPENT_NATIVE,
	  "set.__init__" },
	{ "I:eval " F " lib:gc.collect", SPENT_NATIVE, "gc.collect" },
	/* What has no name calls a library, and that has one. */
	{ "I:eval " F " python3.11+0x40 lib:deflate lib:longest_match",
	  SPENT_NATIVE, "deflate" },
	{ "I:eval " F " python3.11+0x40 lib:libother.so+0x40 lib:deflate",
	  SPENT_NATIVE, "deflate" },
	{ "I:eval " F " python3.11+0x40 python3.11+0x80 int.__pow__ PyLong_New",
	  SPENT_NATIVE, "int.__pow__" },
	{ "I:eval " F " python3.11+0x40 c:memcpy", SPENT_NATIVE,
	  "python3.11+0x40" },
	{ "I:eval " F " lib:libother.so+0x40 PyUnicode_New",
	  SPENT_NATIVE, "libother.so+0x40" },
	{ "I:eval " F " python3.11+0x40 lib:grow c:malloc",
	  SPENT_ALLOCATION, "malloc" },
	/* A library may have a function of that name. */
	{ "I:eval " F " lib:collect", SPENT_NATIVE, "collect" },
	{ "I:eval " F " os_read k:entry_SYSCALL_64 k:do_syscall_64 "
	  "k:__x64_sys_read k:vfs_read",
	  SPENT_KERNEL, "__x64_sys_read" },
	{ "I:eval " F " lib:fill k:asm_exc_page_fault k:exc_page_fault",
	  SPENT_KERNEL, "asm_exc_page_fault" },
	{ "I:eval " F " k:unheard_of k:of_this", SPENT_KERNEL,
	  "unheard_of" },
	/* A timer or a device, while this was at work. */
	{ "I:eval " F " list_sort k:asm_sysvec_apic_timer_interrupt "
	  "k:__irq_exit_rcu k:net_rx_action",
	  SPENT_NATIVE, "list_sort" },
	{ "I:eval " F " k:asm_common_interrupt k:handle_softirqs",
	  SPENT_INTERPRETER, "-" },
	{ "I:eval " F " PyEval_RestoreThread take_gil k:futex",
	  SPENT_GIL, "PyEval_RestoreThread" },
	{ "I:eval " F " PyImport_ImportModuleLevelObject malloc",
	  SPENT_IMPORT, "PyImport_ImportModuleLevelObject" },
	{ "I:eval " F " object_vacall lib:ufunc_generic_fastcall",
	  SPENT_NATIVE, "ufunc_generic_fastcall" },
	/* Cython's own call glue, in whichever module. */
	{ "I:eval " F " lib:__Pyx_CyFunction_CallAsMethod "
	  "lib:__pyx_pw_3app_1f lib:rand",
	  SPENT_NATIVE, "__pyx_pw_3app_1f" },
	{ "I:eval " F " lib:__Pyx_CyFunction_CallAsMethod",
	  SPENT_INTERPRETER, "-" },
	/* Call glue that no evaluation function stands behind. */
	{ "I:eval " F " binary_op1 glue:slot_nb_add "
	  "glue:cfunction_vectorcall_O",
	  SPENT_INTERPRETER, "-" },
	{ "I:eval " F " glue:cfunction_vectorcall_O", SPENT_INTERPRETER,
	  "-" },
	{ "I:eval " F " binary_op1 glue:slot_nb_add builtin_abs "
	  "long_abs",
	  SPENT_NATIVE, "builtin_abs" },
	{ "I:eval " F " list_sort glue:cfunction_vectorcall_O builtin_abs",
	  SPENT_NATIVE, "list_sort" },
	/* Without a name, and it starts nothing there: replace() of str.replace(). */
	{ "I:eval " F " nameless:python3.11+0x40 c:memcpy", SPENT_NATIVE,
	  "python3.11+0x40" },
	{ "I:eval " F " PyObject_Vectorcall glue:python3.11+0x80 "
	  "nameless:python3.11+0x40",
	  SPENT_NATIVE, "python3.11+0x40" },
	{ "I:eval " F " glue:python3.11+0x80", SPENT_INTERPRETER, "-" },
	{ "0x1000", SPENT_NATIVE, "-" },
	/* A library's own thread: who works there, not what started it. */
	{ "start:clone3 start:start_thread lib:blas_thread_server "
	  "lib:dgemm_kernel",
	  SPENT_NATIVE, "dgemm_kernel" },
	{ "start:clone3 start:start_thread lib:pack c:memcpy",
	  SPENT_NATIVE, "pack" },
	{ "start:clone3 c:memcpy c:copy_tail", SPENT_NATIVE,
	  "copy_tail" },
	{ "start:clone3 start:start_thread", SPENT_NATIVE,
	  "start_thread" },
	{ "m:[truncated] lib:dgemm_kernel lib:unpack", SPENT_NATIVE,
	  "unpack" },
	{ "start:clone3 lib:blas_thread_server c:sched_yield "
	  "k:__x64_sys_sched_yield",
	  SPENT_KERNEL, "__x64_sys_sched_yield" },
	{ "start:clone3 lib:grow c:malloc", SPENT_ALLOCATION, "malloc" },
	/* It calls Python's functions, and they are not at work for themselves. */
	{ "start:clone3 lib:callback PyErr_Occurred PyUnicode_New",
	  SPENT_NATIVE, "callback" },
	{ "start:_start tool_main PyUnicode_New c:memset", SPENT_NATIVE,
	  "tool_main" },
	/* Before and behind all Python code; within it is what else it is. */
	{ "start:_start Py_InitializeFromConfig PyUnicode_New c:memset",
	  SPENT_START, "-" },
	{ "start:_start Py_InitializeFromConfig.cold k:asm_exc_page_fault",
	  SPENT_START, "-" },
	{ "start:_start Py_FinalizeEx gc_collect_main", SPENT_END, "-" },
	{ "start:_start Py_FinalizeEx c:free", SPENT_END, "-" },
	{ "start:_start Py_FinalizeEx take_gil", SPENT_GIL, "take_gil" },
	{ "start:_start lib:Py_FinalizeEx", SPENT_NATIVE, "Py_FinalizeEx" },
	{ "start:_start Py_FinalizeEx I:eval " F " builtin_len", SPENT_NATIVE,
	  "builtin_len" },
	{ "I:eval " F " Py_FinalizeEx gc_collect_main", SPENT_GC,
	  "gc_collect_main" },
};

static void test_kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		_cleanup_own_time_ struct own_time *own = NULL;
		const struct own_part *part;
		const char *subject = "-";
		struct model m;

		model_init(&m, NULL);
		model_sample(&m, 1, kinds[i].stack);
		own = own_of(&m);
		assert_int_equal(own->parts.count, 1);
		part = &own->parts.data[0];
		if (part->subject != PROFILE_NONE) {
			const struct profile_symbol *symbol = profile_symbol(
				m.profile,
				profile_frame(m.profile, part->subject)->symbol);

			if (symbol)
				subject = profile_string(m.profile,
							 symbol->name, "?");
		}
		if (part->kind != kinds[i].kind ||
		    strcmp(subject, kinds[i].subject) != 0)
			fail_msg("'%s': kind %d of %s", kinds[i].stack,
				 (int)part->kind, subject);
		assert_int_equal(own->kinds[kinds[i].kind].samples, 1);
		model_deinit(&m);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *name;
		bool in_cpython;
		enum spent_kind kind;
	} cases[] = {
		{ "operator new(unsigned long)", false, SPENT_ALLOCATION },
		{ "_int_free_merge_chunk.part.0", false, SPENT_ALLOCATION },
		{ "tc_parse", false, SPENT_NATIVE },
		/* Rules of the parser. */
		{ "import_from_targets_rule", true, SPENT_NATIVE },
		{ "import_from", true, SPENT_IMPORT },
		{ "import_from", false, SPENT_NATIVE },
		{ "_PyEval_ImportName", true, SPENT_IMPORT },
		{ "_PyObject_MiMalloc", true, SPENT_ALLOCATION },
		{ "_PyEvalFramePushAndInit", true, SPENT_INTERPRETER },
		{ "drop_gil.isra.0", true, SPENT_GIL },
		{ NULL, true, SPENT_NATIVE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (spent_kind_of_function(cases[i].name,
					   cases[i].in_cpython) !=
		    cases[i].kind)
			fail_msg("%s", cases[i].name);
}

static void test_calls_of_the_kernel(void **state)
{
	static const struct {
		const char *name;
		const char *what;
		bool is_system_call;
	} cases[] = {
		{ "__x64_sys_read", "read", true },
		{ "ksys_write.isra.0", "write", true },
		{ "__sys_sendto", "sendto", true },
		{ "do_futex", "futex", true },
		{ "asm_exc_page_fault", "page fault", false },
		{ "asm_sysvec_apic_timer_interrupt", "interrupt", false },
	};
	struct spent_call call;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(spent_kernel_call(cases[i].name, &call));
		assert_int_equal(call.length, strlen(cases[i].what));
		assert_memory_equal(call.name, cases[i].what, call.length);
		assert_int_equal(call.is_system_call, cases[i].is_system_call);
	}
	assert_false(spent_kernel_call("vfs_read", &call));
	assert_false(spent_kernel_call("__x64_sys_", &call));
}

static void test_python_code_without_a_name(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct profile_frame frame = { .symbol = PROFILE_NONE,
				       .dso = PROFILE_NONE,
				       .file = PROFILE_NONE,
				       .kind = PROFILE_FRAME_PYTHON };
	struct profile_sample sample = { .period = 6, .count = 1 };
	struct model m;
	uint32_t id;

	(void)state;
	model_init(&m, NULL);
	model_check(profile_intern_frame(m.profile, &frame, &id));
	model_check(profile_stack_push(m.profile, PROFILE_NONE, id,
				       &sample.stack));
	sample.task = m.task;
	model_check(profile_add_sample(m.profile, &sample));
	model_sample(&m, 1, "_start");
	own = own_of(&m);
	assert_int_equal(own->functions.count, 2);
	assert_true(own->functions.data[0].is_python);
	assert_int_equal(own->functions.data[0].own.period, 6);
	assert_false(own->functions.data[1].is_python);
	model_deinit(&m);
}

/* model.h separates frames by blanks, which this file's name has. */
static uint32_t bootstrap_stack(struct model *m, const char *qualname,
				uint32_t parent)
{
	struct profile_frame frame = { .kind = PROFILE_FRAME_PYTHON,
				       .line = 1 };
	const char *const file = "<frozen importlib._bootstrap>";
	char name[128];
	uint32_t handle, stack;

	snprintf(name, sizeof(name), "py::%s:%s", qualname, file);
	frame.file = model_string(m, file);
	frame.dso = model_dso(m, "[python]", PROFILE_DSO_PYTHON);
	model_symbol(m, name, &frame);
	model_check(profile_intern_frame(m->profile, &frame, &handle));
	model_check(profile_stack_push(m->profile, parent, handle, &stack));
	return stack;
}

static void push_and_add(struct model *m, const char *frames, uint32_t stack)
{
	struct profile_sample sample = { .period = 1, .count = 1 };
	char *copy = strdup(frames), *save = NULL;

	for (char *name = strtok_r(copy, " ", &save); name;
	     name = strtok_r(NULL, " ", &save))
		model_check(profile_stack_push(m->profile, stack,
					       model_frame(m, name), &stack));
	free(copy);
	sample.stack = stack;
	sample.task = m->task;
	model_check(profile_add_sample(m->profile, &sample));
}

static void test_imports(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	struct model m;
	uint32_t importlib;

	(void)state;
	model_init(&m, NULL);
	importlib = bootstrap_stack(&m, "_call_with_frames_removed",
				    model_stack(&m, F));
	push_and_add(&m, "", importlib);
	push_and_add(&m, "k:__x64_sys_newfstatat", importlib);
	/* The body of a module is import; what it calls is not. */
	push_and_add(&m, "builtin_exec I:eval " BODY " malloc", importlib);
	push_and_add(&m, "builtin_exec I:eval " BODY " I:eval " G, importlib);
	model_sample(&m, 1, "I:eval " BODY);
	own = own_of(&m);
	assert_int_equal(own->kinds[SPENT_IMPORT].samples, 3);
	assert_int_equal(own->kinds[SPENT_INTERPRETER].samples, 2);
	model_deinit(&m);
}

static void test_parts_add_up(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	const struct own_entry *f;
	uint64_t sum = 0, before = UINT64_MAX;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "I:eval " F);
	model_sample(&m, 2, "I:eval " F " list_sort");
	model_sample(&m, 4, "I:eval " F " list_sort long_compare");
	model_sample(&m, 3, "I:eval " F " lib:deflate");
	model_sample(&m, 9, "I:eval " G " lib:deflate");
	own = own_of(&m);
	f = entry_of(&m, &own->functions, "py::f:/srv/x.py", 0);
	assert_int_equal(f->part_count, 3);
	for (uint32_t i = 0; i < f->part_count; i++) {
		uint64_t period =
			own->parts.data[f->first_part + i].weight.period;

		assert_true(period <= before);
		before = period;
		sum += period;
	}
	assert_int_equal(sum, f->own.period);
	assert_int_equal(own->parts.data[f->first_part].weight.period, 6);
	model_deinit(&m);
}

static void test_a_line_has_parts_of_several_functions(void **state)
{
	_cleanup_own_time_ struct own_time *own = NULL;
	const struct own_entry *line;
	const struct own_part *parts;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	model_sample(&m, 1, "I:eval " F "@3");
	model_sample(&m, 2, "I:eval " F "@3 list_sort");
	model_sample(&m, 9, "I:eval " G "@3 list_sort");
	model_sample(&m, 5, "I:eval " F "@4 list_sort");
	own = own_of(&m);
	line = entry_of(&m, &own->lines, "py::f:/srv/x.py", 3);
	assert_int_equal(line->own.period, 12);
	assert_int_equal(line->part_count, 3);
	parts = &own->line_parts.data[line->first_part];
	/* The entry of a function is found where it stands now. */
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(
			profile_string(m.profile,
				       own->functions.data[parts[i].function].name,
				       "-"),
			parts[i].weight.period == 9 ? "py::g:/srv/x.py" :
						      "py::f:/srv/x.py");
	line = entry_of(&m, &own->lines, "py::f:/srv/x.py", 4);
	assert_int_equal(line->part_count, 1);
	assert_int_equal(own->line_parts.data[line->first_part].weight.period,
			 5);
	model_deinit(&m);
}

/* An event of waits: nobody ran, whatever the frames say or leave out. */
static void test_waits_are_none_of_the_interpreters(void **state)
{
	static const struct {
		const char *stack;
		enum spent_kind kind;
		bool has_subject;
	} cases[] = {
		{ "I:eval " F, SPENT_WAITING },
		{ "I:eval " F " I:eval", SPENT_WAITING },
		{ "_start", SPENT_NATIVE, true },
		{ "I:eval", SPENT_WAITING },
		{ F " lib:recv", SPENT_NATIVE, true },
		{ F " lib:recv k:entry_SYSCALL_64 k:schedule", SPENT_WAITING },
		{ F " lib:recv k:__x64_sys_recvfrom k:schedule", SPENT_KERNEL,
		  true },
		{ F " I:eval k:asm_exc_page_fault k:schedule", SPENT_KERNEL,
		  true },
		{ F " malloc", SPENT_ALLOCATION, true },
		{ "_start Py_FinalizeEx k:do_futex", SPENT_KERNEL, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_own_time_ struct own_time *own = NULL;
		struct own_spent spent[16];
		struct model m;

		model_init(&m, NULL);
		m.profile->events.data[0].kind = EVENT_WAIT;
		model_sample(&m, 1, cases[i].stack);
		own = own_of(&m);
		assert_int_equal(own->parts.count, 1);
		assert_int_equal(own->parts.data[0].kind, cases[i].kind);
		assert_int_equal(own->parts.data[0].subject != PROFILE_NONE,
				 cases[i].has_subject);
		assert_ok(own_time_spent(m.profile, 0, false, spent));
		assert_int_equal(spent[m.profile->samples.stack[0]].kind,
				 cases[i].kind);
		model_deinit(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_and_total),
		cmocka_unit_test(test_files_are_counted_as_functions_are),
		cmocka_unit_test(test_what_is_inlined_into_the_interpreter),
		cmocka_unit_test(test_rows_that_are_not_kept_are_not_there),
		cmocka_unit_test(test_recursion_counts_once),
		cmocka_unit_test(test_libraries_count_for_who_calls_them),
		cmocka_unit_test(test_what_libraries_wait_for_is_told),
		cmocka_unit_test(test_whose_files_are_libraries),
		cmocka_unit_test(test_native_frames_between_are_the_callers),
		cmocka_unit_test(test_markers_are_no_code),
		cmocka_unit_test(test_other_events_do_not_count),
		cmocka_unit_test(test_python_code_without_a_name),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_waits_are_none_of_the_interpreters),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_calls_of_the_kernel),
		cmocka_unit_test(test_imports),
		cmocka_unit_test(test_parts_add_up),
		cmocka_unit_test(test_a_line_has_parts_of_several_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
