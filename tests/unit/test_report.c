// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the report does that perf's does not: Python frames, folding, notes,
 * filters by entry. Its layout is compared with perf itself in
 * tests/live/test_report_like_perf.py.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "view/fault_text.h"

/* A stack as kaa records it: glue around an evaluation function. */
#define GLUE_OUT "_start I:Py_BytesMain I:_PyEval_EvalFrameDefault "

static void fill_python(struct model *m)
{
	model_sample(m, 60,
		     GLUE_OUT "py:py::<module>:/srv/x.py@9 "
			      "py:py::foo:/srv/x.py@3 long_add");
	model_sample(m, 30,
		     GLUE_OUT "py:py::<module>:/srv/x.py@9 "
			      "py:py::foo:/srv/x.py@4");
	model_sample(m, 10,
		     GLUE_OUT "py:py::<module>:/srv/x.py@9 "
			      "py:py::foo:/srv/x.py@4 "
			      "I:_PyEval_EvalFrameDefault");
}

static void check_report(const struct model *m,
			 const struct report_options *options,
			 const char *expected)
{
	char *text = model_report(m, options);

	assert_string_equal(text, expected);
	free(text);
}

static void check_has(const struct model *m,
		      const struct report_options *options, const char *part,
		      bool has)
{
	char *text = model_report(m, options);

	if (!strstr(text, part) == has)
		fail_msg("'%s' is %sin:\n%s", part, has ? "not " : "", text);
	free(text);
}

#define HEAD                                                                                   \
	"# To display the perf.data header info, please use --header/--header-only options.\n" \
	"#\n#\n# Total Lost Samples: 0\n#\n"                                                   \
	"# Samples: 3  of event 'cycles'\n"                                                    \
	"# Event count (approx.): 100\n#\n"

/*
 * The evaluation function's own time is its Python function's. (foo stands
 * before its caller: among equals perf takes the longer chain first, and what
 * was hit has its chain from the outermost frame on.)
 */
static void test_interpreter_frames_are_folded(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.samples = true;
	model_init(&m, NULL);
	fill_python(&m);
	check_report(
		&m, &options,
		HEAD
		"# Children      Self       Samples  Command  Shared Object  Symbol                    \n"
		"# ........  ........  ............  .......  .............  ..........................\n"
		"#\n"
		"   100.00%     0.00%             0  python3  python3.11     [.] _start\n"
		"            |\n"
		"            ---_start\n"
		"               py::<module>:/srv/x.py\n"
		"               py::foo:/srv/x.py\n"
		"               |          \n"
		"                --60.00%--long_add\n"
		"\n"
		"   100.00%    40.00%             2  python3  [python]       [.] py::foo:/srv/x.py\n"
		"            |          \n"
		"            |--60.00%--py::foo:/srv/x.py\n"
		"            |          long_add\n"
		"            |          \n"
		"             --40.00%--_start\n"
		"                       py::<module>:/srv/x.py\n"
		"                       py::foo:/srv/x.py\n"
		"\n"
		"   100.00%     0.00%             0  python3  [python]       [.] py::<module>:/srv/x.py\n"
		"            |\n"
		"            ---py::<module>:/srv/x.py\n"
		"               py::foo:/srv/x.py\n"
		"               |          \n"
		"                --60.00%--long_add\n"
		"\n"
		"    60.00%    60.00%             1  python3  python3.11     [.] long_add\n"
		"            |\n"
		"            ---_start\n"
		"               py::<module>:/srv/x.py\n"
		"               py::foo:/srv/x.py\n"
		"               long_add\n"
		"\n\n\n");
	options.interpreter_frames = true;
	check_has(&m, &options, "[.] _PyEval_EvalFrameDefault\n", true);
	check_has(&m, &options, "[.] Py_BytesMain\n", true);
	model_deinit(&m);
}

/* Before its first Python frame, the interpreter is a program like any. */
static void test_start_up_is_not_folded(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.percent_limit = 0;
	model_init(&m, NULL);
	model_sample(&m, 1, "_start I:Py_BytesMain init_import");
	fill_python(&m);
	check_has(
		&m, &options,
		"     0.99%     0.00%  python3  python3.11     [.] Py_BytesMain\n",
		true);
	model_deinit(&m);
}

/* What is below a Python frame hits it; a stack without one is as ever. */
static void test_python_only(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.callgraph.type = CALLGRAPH_NONE;
	options.python_only = true;
	model_init(&m, NULL);
	fill_python(&m);
	model_sample(&m, 100, "_start plain k:sys_read");
	check_has(&m, &options,
		  "    50.00%    50.00%  python3  [python]           [.] py::foo:/srv/x.py\n",
		  true);
	check_has(&m, &options,
		  "    50.00%    50.00%  python3  [kernel.kallsyms]  [k] sys_read\n",
		  true);
	check_has(&m, &options, "long_add", false);
	check_has(&m, &options, "[.] plain", true);
	model_deinit(&m);
}

/* A terminal would wrap them; names are whole. */
static void test_titles_fit(void **state)
{
	const char *name =
		"a_function_whose_name_is_longer_than_what_is_left_of_a_line";
	struct report_options options;
	struct model m;
	char row[128];

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	model_sample(&m, 1, name);
	snprintf(row, sizeof(row), "[.] %s\n", name);
	options.title_columns = 60;
	check_has(&m, &options, row, true);
	check_has(&m, &options,
		  "# Children      Self  Command  Shared Object  Symbol        \n"
		  "# ........  ........  .......  .............  ..............\n",
		  true);
	model_deinit(&m);
}

/* Unless somebody asks for all of them, or has a program read them. */
static void test_light_graphs_are_left_out(void **state)
{
	const char *note =
		"# 2 entries below 2% are left out: --percent-limit 0 shows them.\n";
	const char *both =
		"# 2 entries and branches of graphs below 2% are left out: --percent-limit 0 shows them.\n";
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	model_sample(&m, 197, "_start heavy");
	model_sample(&m, 3, "_start light lighter");
	check_has(&m, &options, both, true);
	check_has(&m, &options, "[.] light\n", false);
	check_has(&m, &options, "--1.50%--light", false);
	model_check(report_parse_callgraph(&options, "graph,0.5"));
	check_has(&m, &options, "--1.50%--light", true);
	check_has(&m, &options, "[.] light\n", false);
	check_has(&m, &options, note, true);
	report_options_init(&options);
	options.symbol_filter = "_start";
	check_has(&m, &options, "--1.50%--light", false);
	check_has(&m, &options, "# Branches of graphs below 2% are left out: --percent-limit 0 shows them.\n", true);
	options.symbol_filter = NULL;
	options.quiet = true;
	check_has(&m, &options, "[.] light\n", true);
	options.quiet = false;
	options.symbol_filter = "light";
	check_has(&m, &options, "[.] light\n", true);
	check_has(&m, &options, "left out", false);
	options.symbol_filter = NULL;
	options.percent_limit = 0;
	check_has(&m, &options, "[.] light\n", true);
	check_has(&m, &options, "left out", false);
	options.percent_limit = -1;
	model_check(report_parse_callgraph(&options, "none"));
	check_has(&m, &options, "[.] light\n", true);
	check_has(&m, &options, "left out", false);
	model_deinit(&m);
}

static void test_lines_on_request(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	fill_python(&m);
	check_has(&m, &options, "x.py:3", false);
	model_check(report_parse_callgraph(&options, "srcline,callee"));
	check_has(&m, &options,
		  "            |          \n"
		  "            |--60.00%--py::foo:/srv/x.py x.py:3\n"
		  "            |          py::<module>:/srv/x.py x.py:9\n"
		  "            |          _start\n"
		  "            |          \n"
		  "             --40.00%--py::foo:/srv/x.py x.py:4\n",
		  true);
	model_check(report_parse_callgraph(&options, "none"));
	model_check(report_parse_sort(&options, "srcline"));
	options.children = false;
	check_has(&m, &options,
		  "    60.00%  python3.11[long_add]\n"
		  "    40.00%  x.py:4\n",
		  true);
	model_deinit(&m);
}

/* A function defined in two code objects of one name is one function. */
static void test_python_functions_merge_by_name(void **state)
{
	struct report_options options;
	struct profile_frame twin;
	struct profile_symbol symbol;
	struct profile_sample sample;
	struct model m;
	uint32_t frame;

	(void)state;
	report_options_init(&options);
	options.callgraph.type = CALLGRAPH_NONE;
	model_init(&m, NULL);
	model_sample(&m, 1, "py:py::f:/srv/x.py@1");
	twin = *profile_frame(m.profile, 0);
	symbol = *profile_symbol(m.profile, twin.symbol);
	symbol.start += 0x100000;
	symbol.end += 0x100000;
	twin.address += 0x100000;
	twin.rel += 0x100000;
	model_check(profile_intern_symbol(m.profile, &symbol, &twin.symbol));
	model_check(profile_intern_frame(m.profile, &twin, &frame));
	sample = profile_sample(m.profile, 0);
	model_check(profile_stack_push(m.profile, PROFILE_NONE, frame,
				       &sample.stack));
	model_check(profile_add_sample(m.profile, &sample));
	check_has(
		&m, &options,
		"   100.00%   100.00%  python3  [python]       [.] py::f:/srv/x.py\n",
		true);
	model_deinit(&m);
}

static void test_kernel_callers_are_kernel(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.callgraph.type = CALLGRAPH_NONE;
	model_init(&m, NULL);
	model_sample(&m, 1, "main k:entry_SYSCALL_64 k:do_syscall_64");
	check_has(&m, &options, "[k] entry_SYSCALL_64\n", true);
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "[.] entry_SYSCALL_64\n", true);
	check_has(&m, &options, "[k] do_syscall_64\n", true);
	model_deinit(&m);
}

static void test_filters(void **state)
{
	const char *const worker = "worker";
	const char *const python = "[python]";
	const char *const names[] = { "long_add", "py::foo:/srv/x.py" };
	struct report_options options;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	fill_python(&m);
	m.task = model_task(&m, 101, worker);
	model_sample(&m, 100, "clone py:py::run:/srv/x.py@20");

	report_options_init(&options);
	options.comms = (struct name_list){ &worker, 1 };
	check_has(&m, &options, "# comm: worker\n", true);
	check_has(&m, &options,
		  "    50.00%     0.00%  python3.11     [.] clone\n", true);
	check_has(&m, &options, "long_add", false);
	/* Not told apart by symbol: what is left is what hit the DSO. */
	report_options_init(&options);
	model_check(report_parse_sort(&options, "comm"));
	options.dsos = (struct name_list){ &python, 1 };
	options.children = false;
	check_has(&m, &options, "    50.00%  worker ", true);
	check_has(&m, &options, "    20.00%  python3", true);
	report_options_init(&options);
	options.symbols = (struct name_list){ names, 2 };
	check_has(&m, &options, "[.] long_add\n", true);
	check_has(&m, &options, "[.] py::foo:/srv/x.py\n", true);
	check_has(&m, &options, "[.] clone\n", false);
	report_options_init(&options);
	options.symbol_filter = "run";
	check_has(&m, &options, "[.] py::run:/srv/x.py\n", true);
	check_has(&m, &options, "[.] long_add\n", false);
	options.symbol_filter = "x.py:20";
	check_has(&m, &options, "[.] py::run:/srv/x.py\n", true);
	check_has(&m, &options, "[.] py::foo:/srv/x.py\n", false);
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "[.] py::run:/srv/x.py\n", false);
	model_deinit(&m);
}

/* A single name says all of its column, if it is the name of all there is. */
static void test_columns_of_one_symbol(void **state)
{
	const char *name = "py::foo:/srv/x.py";
	struct report_options options;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	fill_python(&m);
	report_options_init(&options);
	options.symbols = (struct name_list){ &name, 1 };
	check_has(&m, &options, "# symbol: py::foo:/srv/x.py\n", true);
	check_has(&m, &options, "[.] py::foo", false);
	name = "foo";
	check_has(&m, &options, "# symbol:", false);
	check_has(&m, &options, "[.] py::foo:/srv/x.py\n", true);
	check_has(&m, &options, "[.] py::<module>", false);
	name = "x.py";
	check_has(&m, &options, "[.] py::foo:/srv/x.py\n", true);
	check_has(&m, &options, "[.] py::<module>:/srv/x.py\n", true);
	check_has(&m, &options, "[.] long_add\n", false);
	/* By line a line is itself. */
	name = "x.py:4";
	model_check(report_parse_sort(&options, "symbol,srcline"));
	check_has(&m, &options, "x.py:4", true);
	check_has(&m, &options, "x.py:3", false);
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "x.py:4 ", false);
	model_deinit(&m);
}

/* A sample at address 0x10 of a DSO whose only function begins at 0. */
static void sample_in(struct model *m, const char *dso, const char *function,
		      enum profile_frame_kind kind, uint64_t address)
{
	struct profile_frame frame = { .address = address,
				       .rel = 0x10,
				       .file = PROFILE_NONE,
				       .kind = kind };
	struct profile_sample sample = { .period = 1,
					 .task = m->task,
					 .count = 1 };
	struct profile_symbol symbol = { .end = 0x100 };
	uint32_t id;

	symbol.dso = frame.dso = model_dso(
		m, dso,
		kind == PROFILE_FRAME_KERNEL ? PROFILE_DSO_KERNEL
					     : PROFILE_DSO_USER);
	symbol.name = model_string(m, function);
	model_check(profile_intern_symbol(m->profile, &symbol, &frame.symbol));
	model_check(profile_intern_frame(m->profile, &frame, &id));
	model_check(profile_stack_push(m->profile, PROFILE_NONE, id,
				       &sample.stack));
	model_check(profile_add_sample(m->profile, &sample));
}

/*
 * perf compares places without lines by address and DSO. What a sample hit has
 * its address in the DSO, which a BPF program has too; as a caller it has
 * the one in memory.
 */
static void test_equal_addresses_of_several_dsos_like_perf(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	model_init(&m, NULL);
	sample_in(&m, "a.so", "of_a", PROFILE_FRAME_NATIVE, 0x7f0000001010);
	sample_in(&m, "b.so", "of_b", PROFILE_FRAME_NATIVE, 0x7f0000002010);
	sample_in(&m, "bpf_prog_1_run", "bpf_prog_1_run", PROFILE_FRAME_KERNEL,
		  0xffffffffc0025c10);
	report_options_init(&options);
	options.quirks = quirks_of_perf(PERF_7_2);
	options.callgraph.type = CALLGRAPH_NONE;
	model_check(report_parse_sort(&options, "srcline"));
	check_has(&m, &options, "33.33%    33.33%  of_a+16", true);
	check_has(&m, &options, "33.33%    33.33%  of_b+16", true);
	check_has(&m, &options, "33.33%    33.33%  bpf_prog_1_run+16", true);
	check_has(&m, &options,
		  "33.33%     0.00%  bpf_prog_1_run+18446744072635964432",
		  true);
	model_deinit(&m);
}

static void check_lines(const struct faults *faults, enum fault_lines which,
			const char *wanted)
{
	struct strbuf text = STRBUF_INIT;

	fault_lines(faults, which, &text);
	assert_string_equal(text.data, wanted);
	strbuf_deinit(&text);
}

/* Each set says its own, in its order; equal kinds have a line each. */
static void test_fault_lines(void **state)
{
	_cleanup_faults_ struct faults faults = {};
	char why[] = "no such file";

	(void)state;
	check_lines(&faults, FAULT_LINES_DAMAGE, "");
	model_check(faults_add(&faults, FAULT_LOST_SAMPLES, 2, NULL));
	model_check(faults_add(&faults, FAULT_TRUNCATED_BYTES, 9, NULL));
	model_check(faults_add(&faults, FAULT_MISSING_JITDUMPS, 1, why));
	model_check(faults_add(&faults, FAULT_BROKEN_CHAINS, 1, NULL));
	model_check(faults_add(&faults, FAULT_MISSING_JITDUMPS, 3, "broken"));
	model_check(faults_add(&faults, FAULT_UNFINISHED, 1, NULL));
	model_check(faults_add(&faults, FAULT_LOST_SAMPLES, 5, NULL));
	/* Its copy stays. */
	why[0] = 'N';
	assert_int_equal(faults_count(&faults, FAULT_LOST_SAMPLES), 7);
	assert_int_equal(faults_count(&faults, FAULT_LOST_RECORDS), 0);
	check_lines(&faults, FAULT_LINES_DAMAGE,
		    "the recorder still runs, or could not end the file: the end of the recording is missing\n"
		    "1 callchain is damaged\n"
		    "1 jitdump could not be used: no such file\n"
		    "3 jitdumps could not be used: broken\n");
	check_lines(&faults, FAULT_LINES_FILE,
		    "9 bytes at the end of the file are not a complete record\n"
		    "2 samples were lost while recording\n"
		    "5 samples were lost while recording\n");
	check_lines(&faults, FAULT_LINES_COPY,
		    "9 bytes at the end of the file are not a complete record\n");
	check_lines(&faults, FAULT_LINES_STACKS, "");
}

/* One loss has one line: the kernel's records of samples that were lost are no second one. */
static void test_a_loss_is_said_once(void **state)
{
	_cleanup_faults_ struct faults faults = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	model_check(faults_add(&faults, FAULT_LOST_RECORDS, 12, NULL));
	check_lines(&faults, FAULT_LINES_FILE, "12 records were lost while recording\n");
	model_check(faults_add(&faults, FAULT_LOST_SAMPLES, 9, NULL));
	model_check(faults_add(&faults, FAULT_LOST_TASKS, 3, NULL));
	check_lines(&faults, FAULT_LINES_FILE,
		    "9 samples were lost while recording\n"
		    "3 records of processes were lost while recording: some processes and functions have no names\n");
	/* Looks, of which nobody knows how many threads they are of. */
	model_check(faults_add(&faults, FAULT_UNFOLLOWED, 1234, NULL));
	fault_notes(&faults, 91, "# ", &text);
	assert_string_equal(
		text.data,
		"# 9 of 100 samples (9.00%) were lost: the recorder could not keep up\n"
		"# 3 records of processes were lost: the recorder could not keep up, and some processes and functions have no names\n"
		"# some threads or processes have no samples: kaa could not follow all of them\n");
}

static void test_what_is_only_of_the_kernel(void **state)
{
	_cleanup_faults_ struct faults faults = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	model_check(faults_add(&faults, FAULT_NO_USER_STACK, 1, NULL));
	fault_notes(&faults, 1193, "", &text);
	model_check(faults_add(&faults, FAULT_NO_USER_STACK, 3, NULL));
	fault_notes(&faults, 1000, "# ", &text);
	assert_string_equal(
		text.data,
		"1 of 1193 samples (0.08%) shows nothing of the program's own code: it is of a thread of the kernel, or of a process that begins or ends\n"
		"# 4 of 1000 samples (0.40%) show nothing of the program's own code: they are of threads of the kernel, or of processes that begin or end\n");
}

/* Every kind has words somewhere. */
static void test_every_fault_is_said(void **state)
{
	(void)state;
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		_cleanup_faults_ struct faults faults = {};
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		model_check(faults_add(&faults, (enum fault_kind)kind, 3, "x"));
		for (int i = 0; i <= FAULT_LINES_COPY; i++)
			fault_lines(&faults, (enum fault_lines)i, &text);
		fault_notes(&faults, 10, "# ", &text);
		fault_recorder_notes(&faults, &text);
		assert_true(text.len > 0);
		assert_null(strstr(text.data, "(null)"));
	}
}

/* "1 sample has", "1 record was". */
static void test_one_fault_is_no_plural(void **state)
{
	regex_t wrong;

	(void)state;
	assert_int_equal(regcomp(&wrong, "(^|\n)1 (of 1 sample .100.00%.|([a-z]+ )*[a-z]+s( [a-z]+)*) (are|were|have|lack) ",
				 REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(regexec(&wrong, "1 bytes at the end are ", 0, NULL, 0), 0);
	for (int kind = 0; kind < FAULT_KINDS; kind++) {
		_cleanup_faults_ struct faults faults = {};
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		model_check(faults_add(&faults, (enum fault_kind)kind, 1, NULL));
		for (int i = 0; i <= FAULT_LINES_COPY; i++)
			fault_lines(&faults, (enum fault_lines)i, &text);
		fault_notes(&faults, kind == FAULT_LOST_SAMPLES ? 0 : 1, "", &text);
		assert_null(strstr(text.data, "1 samples"));
		if (!regexec(&wrong, text.data, 0, NULL, 0))
			fail_msg("%s", text.data);
	}
	regfree(&wrong);
}

static void test_notes(void **state)
{
	struct report_options options;
	struct faults *faults;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.callgraph.type = CALLGRAPH_NONE;
	model_init(&m, NULL);
	model_sample(&m, 1, "main foo");
	check_has(&m, &options, "truncated", false);
	model_add(&m, 1, "main foo", PROFILE_SAMPLE_TRUNCATED);
	model_add(&m, 1, "main 0x1234",
		  PROFILE_SAMPLE_TRUNCATED | PROFILE_SAMPLE_NOT_ALIGNED);
	model_add(&m, 1, "main bar", PROFILE_SAMPLE_UNREADABLE_PYTHON);
	faults = &m.profile->recordings.data[0].faults;
	model_check(faults_add(faults, FAULT_OF_RECORDER, 2, "rings were full"));
	model_check(faults_add(faults, FAULT_OF_RECORDER, 0, "quiet"));
	model_check(faults_add(faults, FAULT_TRUNCATED_BYTES, 17, NULL));
	model_check(faults_add(faults, FAULT_LOST_SAMPLES, 1, NULL));
	check_has(&m, &options, "# Total Lost Samples: 1\n", true);
	check_has(
		&m, &options,
		"\n\n\n#\n"
		"# 1 of 5 samples (20.00%) was lost: the recorder could not keep up\n"
		"# 2 of 4 samples (50.00%) have a truncated stack: the frames beyond [truncated stack] are missing\n"
		"# 1 of 4 samples (25.00%) has Python frames whose place among the native frames is not known\n"
		"# 1 of 4 samples (25.00%) has Python frames that could not be read\n"
		"# 1 of 4 samples (25.00%) hit an address without a symbol\n"
		"# 17 bytes at the end of the file are not a complete record\n"
		"# recorder: rings were full: 2\n"
		"#\n",
		true);
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "truncated", false);
	model_deinit(&m);
}

/* Whoever records Python without the rights for its frames is told so first. */
static void test_no_python_frames_are_said(void **state)
{
	struct metadata_python python = { .version = 0x030b02f0,
					  .path = "/usr/bin/python3.11" };
	const char *note = "# Total Lost Samples: 0\n#\n"
			   "# No stack has Python frames, though Python was recorded: ";
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	model_sample(&m, 1, "main foo");
	check_has(&m, &options, "No stack has", false);
	assert_true(vec_push(&m.profile->recordings.data[0].metadata.pythons,
			     python));
	check_has(&m, &options, note, true);
	/* The others may have some: nothing is missing. */
	options.is_filtered = true;
	check_has(&m, &options, "No stack has", false);
	check_has(&m, &options, "doctor", false);
	check_has(&m, &options,
		  "# Total Lost Samples: 0\n#\n"
		  "# None of the samples that pass the filters has Python frames.\n#\n",
		  true);
	options.is_filtered = false;
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "No stack has", false);
	options.quirks = (struct quirks){};
	assert_null(faults_add(&m.profile->recordings.data[0].faults,
			       FAULT_OF_RECORDER, 8000000,
			       FAULT_RECORDER_KEPT_OFF));
	assert_null(faults_add(&m.profile->recordings.data[0].faults,
			       FAULT_OF_RECORDER, 9000000, FAULT_TIME));
	check_has(&m, &options,
		  "# No stack has Python frames: the recorder had no processor for most of the time.\n"
		  "# Record while fewer programs run, and without 'nice'.\n#\n",
		  true);
	model_sample(&m, 1, "main py:foo");
	check_has(&m, &options, "No stack has", false);
	model_deinit(&m);
}

static void test_header(void **state)
{
	struct report_options options;
	struct metadata *metadata;
	struct model m;

	(void)state;
	report_options_init(&options);
	options.header = true;
	model_init(&m, NULL);
	metadata = &m.profile->recordings.data[0].metadata;
	metadata->hostname = "vm\033[2J";
	metadata->cpus_online = 3;
	metadata->cpus_available = 4;
	assert_true(vec_push(&metadata->command, "kaa"));
	assert_true(vec_push(&metadata->command, "rec\rord"));
	assert_true(vec_push(&metadata->missing, "BUILD_ID"));
	model_check(metadata_add(metadata, METADATA_HOSTNAME));
	/* In the order of the file; what has no value is named. */
	model_check(metadata_add(metadata, METADATA_ARCH));
	model_check(metadata_add(metadata, METADATA_COMMAND));
	model_check(metadata_add(metadata, METADATA_CPUS));
	model_check(metadata_add_text(metadata, METADATA_DETAIL, "x\n", "y"));
	model_check(metadata_add_text(metadata, METADATA_UNSHOWN, "CACHE", NULL));
	model_check(metadata_add(metadata, METADATA_MISSING));
	check_has(&m, &options,
		  "# ========\n# hostname : vm?[2J\n# arch\n"
		  "# cmdline : kaa rec?ord \n"
		  "# nrcpus online : 3\n# nrcpus avail : 4\n# x? : y\n"
		  "# CACHE info available, use -I to display\n"
		  "# missing features: BUILD_ID \n"
		  "# ========\n#\n#\n# Total",
		  true);
	model_deinit(&m);
}

static void test_names_cannot_drive_the_terminal(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	m.task = model_task(&m, 7, "\033]0;x\007");
	model_sample(&m, 1,
		     "main\r \xc2\x9b"
		     "31m\xc3\xa9");
	check_has(&m, &options, "\033", false);
	check_has(&m, &options, "\xc2\x9b", false);
	check_has(&m, &options, "?]0;x?", true);
	check_has(&m, &options, "[.] ?31m\xc3\xa9\n", true);
	model_deinit(&m);
}

static void test_nothing_known_of_a_sample(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	model_sample(&m, 5, "");
	check_has(
		&m, &options,
		"   100.00%   100.00%  python3  [unknown]         [.] [unknown]\n",
		true);
	check_has(&m, &options, "            ---[unknown]\n", true);
	options.quirks = quirks_of_perf(PERF_7_2);
	check_has(&m, &options, "[unknown]", true);
	model_deinit(&m);
}

static void test_no_samples(void **state)
{
	struct report_options options;
	struct model m;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	check_has(&m, &options, "# Samples", false);
	check_has(&m, &options, " record --mode wall' takes some of threads that wait, too.\n", true);
	model_check(faults_add(&m.profile->recordings.data[0].faults,
			       FAULT_UNFINISHED, 1, NULL));
	check_has(&m, &options, "# The recording has no samples: its end is missing", true);
	model_deinit(&m);
}

static void test_width_limit(void **state)
{
	struct report_options options;
	struct model m;
	char *text, *line, *save = NULL;

	(void)state;
	report_options_init(&options);
	options.max_columns = 40;
	model_init(&m, NULL);
	fill_python(&m);
	text = model_report(&m, &options);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (line[0] != '#')
			assert_true(strlen(line) <= 40);
	free(text);
	model_deinit(&m);
}

/* On a terminal notes go on in the next line, and a program that reads them gets each as one. */
static void test_notes_fit_a_terminal(void **state)
{
	struct report_options options;
	struct model m;
	char *text, *save = NULL;

	(void)state;
	report_options_init(&options);
	model_init(&m, NULL);
	fill_python(&m);
	m.profile->samples.flags[0] |= PROFILE_SAMPLE_TRUNCATED;
	text = model_report(&m, &options);
	assert_non_null(strstr(text, "# To display the perf.data header info, please use --header/--header-only options.\n"));
	assert_non_null(strstr(text, "has a truncated stack: the frames beyond [truncated stack] are missing\n"));
	free(text);
	options.title_columns = 50;
	text = model_report(&m, &options);
	assert_non_null(strstr(text, "please use\n#   --header/--header-only options.\n"));
	assert_non_null(strstr(text, " has a truncated stack"));
	assert_null(strstr(text, "the frames beyond [truncated stack] are missing\n"));
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		assert_true(line[0] != '#' || strlen(line) <= 50);
	free(text);
	model_deinit(&m);
}

static void test_full_disk(void **state)
{
	struct report_options options;
	struct error *error;
	struct model m;
	FILE *out = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(out);
	report_options_init(&options);
	model_init(&m, NULL);
	fill_python(&m);
	error = report_write(m.profile, &options, out);
	assert_true(error_is_os(error, 28));
	error_destroy(error);
	fclose(out);
	model_deinit(&m);
}

static void check_refused(struct error *error, const char *part)
{
	assert_non_null(error);
	assert_int_equal(error->code, ERROR_INVALID_ARGUMENT);
	assert_non_null(strstr(error->message, part));
	error_destroy(error);
}

static void test_options(void **state)
{
	struct report_options o;

	(void)state;
	report_options_init(&o);
	assert_true(report_caller_order(&o));
	o.children = false;
	assert_false(report_caller_order(&o));
	model_check(report_parse_callgraph(&o, NULL));
	assert_true(report_caller_order(&o));
	model_check(
		report_parse_callgraph(&o, "callee,fr,count,2.5,7,srcline"));
	assert_int_equal(o.callgraph.type, CALLGRAPH_FRACTAL);
	assert_int_equal(o.callgraph.order, CALLGRAPH_CALLEE);
	assert_int_equal(o.callgraph.key, CHAIN_KEY_SRCLINE);
	assert_int_equal(o.callgraph.value, CALLGRAPH_COUNT);
	assert_float_equal(o.callgraph.threshold, 2.5, 1e-9);
	assert_int_equal(o.callgraph.print_limit, 7);
	check_refused(report_parse_callgraph(&o, "graph,nonsense"),
		      "'nonsense'");
	check_refused(report_parse_callgraph(&o, "0.5x"), "'0.5x'");
	check_refused(report_parse_callgraph(&o, "1,2,3"), "'3'");
	check_refused(report_parse_callgraph(&o, "-1"), "'-1'");
	model_check(report_parse_sort(&o, "sym,comm,sym,tid"));
	assert_int_equal(o.key_count, 3);
	assert_int_equal(o.keys[0], REPORT_SYMBOL);
	assert_int_equal(o.keys[2], REPORT_THREAD);
	check_refused(report_parse_sort(&o, "comm,nonsense"), "'nonsense'");
	check_refused(report_parse_sort(&o, ""), "needs a key");
	assert_int_equal(o.key_count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreter_frames_are_folded),
		cmocka_unit_test(test_start_up_is_not_folded),
		cmocka_unit_test(test_python_only),
		cmocka_unit_test(test_titles_fit),
		cmocka_unit_test(test_light_graphs_are_left_out),
		cmocka_unit_test(test_lines_on_request),
		cmocka_unit_test(test_python_functions_merge_by_name),
		cmocka_unit_test(test_kernel_callers_are_kernel),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_columns_of_one_symbol),
		cmocka_unit_test(test_equal_addresses_of_several_dsos_like_perf),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_no_python_frames_are_said),
		cmocka_unit_test(test_fault_lines),
		cmocka_unit_test(test_a_loss_is_said_once),
		cmocka_unit_test(test_what_is_only_of_the_kernel),
		cmocka_unit_test(test_every_fault_is_said),
		cmocka_unit_test(test_one_fault_is_no_plural),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_names_cannot_drive_the_terminal),
		cmocka_unit_test(test_nothing_known_of_a_sample),
		cmocka_unit_test(test_no_samples),
		cmocka_unit_test(test_width_limit),
		cmocka_unit_test(test_notes_fit_a_terminal),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
