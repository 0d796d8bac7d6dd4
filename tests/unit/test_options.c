// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options parser against what perf's and git's users type. What perf does
 * with the same words is the oracle for -g and --no-x (perf-record(1),
 * perf-report(1)).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "cmd/framework/options.h"
#include "cmd/framework/value.h"
#include "cmd/framework/wrap.h"
#include "view/own_command.h"
#include "view/shell_word.h"

struct settings {
	bool quiet;
	bool no_inherit;
	bool children;
	bool call_graph;
	int verbose;
	const char *output;
	struct option_list events;
	uint64_t count;
	const char *graph;
	const char *stuck;
	int graph_calls;
	bool graph_negated;
};

static struct error *parse_graph(void *data, const struct option *option,
				 const char *arg, bool negated)
{
	struct settings *settings = data;

	(void)option;
	if (arg && strcmp(arg, "bad") == 0)
		return error_create(ERROR_INVALID_ARGUMENT, "bad indeed");
	settings->graph = arg;
	settings->graph_calls++;
	settings->graph_negated = negated;
	return NULL;
}

static struct error *parse_stuck(void *data, const struct option *option,
				 const char *arg, bool negated)
{
	(void)option;
	(void)negated;
	((struct settings *)data)->stuck = arg;
	return NULL;
}

static const struct option options[] = {
	OPT_GROUP("A group"),
	OPT_BOOL('q', "quiet", struct settings, quiet, "say less"),
	OPT_BOOL('i', "no-inherit", struct settings, no_inherit, "alone"),
	OPT_BOOL(0, "children", struct settings, children, "accumulate"),
	OPT_BOOL(0, "call-graphs", struct settings, call_graph, "near name"),
	OPT_COUNT('v', "verbose", struct settings, verbose, "say more"),
	OPT_STRING('o', "output", struct settings, output, "<file>", "where"),
	OPT_LIST('e', "event", struct settings, events, "<event>", "what"),
	OPT_U64('c', "count", struct settings, count, "<n>", "period"),
	OPT_BOOL(0, "counter", struct settings, children, "longer name"),
	OPT_CALL('g', "graph", parse_graph, "<tokens>", "chains",
		 .flags = OPTION_ARG_UNLESS_LAST,
		 .default_argument = "default"),
	OPT_CALL('s', "stuck", parse_stuck, "<x>", "sort",
		 .flags = OPTION_ARG_STUCK | OPTION_NO_NEGATE),
	OPT_BOOL(0, "hidden-thing", struct settings, quiet, "secret",
		 .flags = OPTION_HIDDEN),
	OPT_END(),
};

/* One parsed line. */
struct parsed {
	struct settings settings;
	struct error *error;
	bool help;
	size_t count;
	char *rest[32];
	char line[256];
};

/* Splits the line at blanks and parses it. */
static void parse_flags(struct parsed *p, const char *line, unsigned int flags)
{
	struct arguments args = { 0, p->rest };
	char *save = NULL;

	memset(p, 0, sizeof(*p));
	snprintf(p->line, sizeof(p->line), "%s", line);
	for (char *word = strtok_r(p->line, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		p->rest[args.count++] = word;
	p->error = options_parse(options, flags, &p->settings, &args, &p->help);
	p->count = args.count;
}

static void parse(struct parsed *p, const char *line)
{
	parse_flags(p, line, 0);
}

static void done(struct parsed *p)
{
	vec_deinit(&p->settings.events);
	error_destroy(p->error);
}

static void test_every_spelling(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "-qvv -o one -etwo --event three --event=four -c0x10 a -v b");
	assert_null(p.error);
	assert_true(p.settings.quiet);
	assert_int_equal(p.settings.verbose, 3);
	assert_string_equal(p.settings.output, "one");
	assert_int_equal(p.settings.events.count, 3);
	assert_string_equal(p.settings.events.data[0], "two");
	assert_string_equal(p.settings.events.data[2], "four");
	assert_int_equal(p.settings.count, 16);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.rest[0], "a");
	assert_string_equal(p.rest[1], "b");
	assert_null(p.rest[2]);
	done(&p);
}

static void test_negation(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "-q --no-quiet -vv --no-verbose -o x --no-output -e a --no-event -c 5 --no-count --no-children");
	assert_null(p.error);
	assert_false(p.settings.quiet);
	assert_false(p.settings.children);
	assert_int_equal(p.settings.verbose, 0);
	assert_null(p.settings.output);
	assert_int_equal(p.settings.events.count, 0);
	assert_int_equal(p.settings.count, 0);
	done(&p);
	parse(&p, "--no-inherit");
	assert_true(p.settings.no_inherit);
	done(&p);
	parse(&p, "--no-inherit --inherit");
	assert_null(p.error);
	assert_false(p.settings.no_inherit);
	done(&p);
	parse(&p, "--no-graph");
	assert_true(p.settings.graph_negated);
	assert_null(p.settings.graph);
	done(&p);
	parse(&p, "--no-stuck");
	assert_non_null(p.error);
	done(&p);
	parse(&p, "--no-quiet=1");
	assert_non_null(strstr(p.error->message, "takes no argument"));
	done(&p);
}

static void test_abbreviations(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "--out file --verb --no-ver --gr=x");
	assert_null(p.error);
	assert_string_equal(p.settings.output, "file");
	assert_int_equal(p.settings.verbose, 0);
	assert_string_equal(p.settings.graph, "x");
	done(&p);
	parse(&p, "--c 5");
	assert_non_null(p.error);
	assert_non_null(strstr(p.error->message, "could be"));
	done(&p);
	/* An exact name wins over longer ones. */
	parse(&p, "--count 5 --call-graphs");
	assert_null(p.error);
	assert_int_equal(p.settings.count, 5);
	assert_true(p.settings.call_graph);
	done(&p);
	/* "--no-" is everything's opposite. */
	parse(&p, "--no-");
	assert_non_null(p.error);
	done(&p);
}

static void test_optional_arguments(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "-g caller -i");
	assert_string_equal(p.settings.graph, "caller");
	assert_int_equal(p.count, 0);
	done(&p);
	parse(&p, "-g -q");
	assert_string_equal(p.settings.graph, "default");
	assert_true(p.settings.quiet);
	done(&p);
	parse(&p, "-gcaller,0.5 rest");
	assert_string_equal(p.settings.graph, "caller,0.5");
	assert_int_equal(p.count, 1);
	done(&p);
	parse(&p, "-q -g");
	assert_string_equal(p.settings.graph, "default");
	done(&p);
	parse(&p, "-s rest");
	assert_null(p.error);
	assert_null(p.settings.stuck);
	assert_int_equal(p.count, 1);
	done(&p);
	parse(&p, "-sx --stuck=y");
	assert_string_equal(p.settings.stuck, "y");
	done(&p);
	parse(&p, "-qg");
	assert_true(p.settings.quiet);
	assert_int_equal(p.settings.graph_calls, 1);
	done(&p);
}

static void test_stops_at_command(void **state)
{
	struct parsed p;

	(void)state;
	parse_flags(&p, "-q python3 -v -- -o x", OPTIONS_STOP_AT_NON_OPTION);
	assert_null(p.error);
	assert_true(p.settings.quiet);
	assert_int_equal(p.settings.verbose, 0);
	assert_int_equal(p.count, 5);
	assert_string_equal(p.rest[0], "python3");
	assert_string_equal(p.rest[2], "--");
	done(&p);
	parse_flags(&p, "-q -- -v x", OPTIONS_STOP_AT_NON_OPTION);
	assert_int_equal(p.count, 2);
	assert_string_equal(p.rest[0], "-v");
	assert_null(p.rest[2]);
	done(&p);
	/* A lone dash is a word: standard input. */
	parse(&p, "- -q");
	assert_int_equal(p.count, 1);
	assert_true(p.settings.quiet);
	done(&p);
}

static void test_errors_name_what_was_typed(void **state)
{
	static const struct {
		const char *line;
		const char *says;
	} cases[] = {
		{ "--outptu x", "did you mean '--output'?" },
		/* Not called so, but said in its help. */
		{ "--accumulate", "did you mean '--children'?" },
		{ "--zzz", "unknown option '--zzz'" },
		{ "-qz", "unknown option '-z' in '-qz'" },
		{ "-Q", "unknown option '-Q': did you mean '-q'?" },
		{ "-o", "option '-o' needs an argument, <file>" },
		{ "--output", "option '--output' needs an argument" },
		/* Of a variable that was empty. */
		{ "-o --quiet", "option '-o' needs an argument, <file>, before '--quiet'" },
		{ "-c ten", "option '-c': 'ten' is not a number" },
		{ "-c -1", "'-1' is not a number" },
		{ "-c 18446744073709551616", "too large" },
		{ "-c 12x", "not a number" },
		{ "--graph=bad", "option '--graph': bad indeed" },
		{ "--quiet=yes", "takes no argument" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct parsed p;

		parse(&p, cases[i].line);
		assert_non_null(p.error);
		assert_int_equal(p.error->code, ERROR_INVALID_ARGUMENT);
		if (!strstr(p.error->message, cases[i].says))
			fail_msg("'%s' says '%s'", cases[i].line,
				 p.error->message);
		done(&p);
	}
}

static void test_unknown_does_not_betray_hidden(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "--hidden-thin");
	assert_null(p.error);
	done(&p);
	parse(&p, "--hiden-thing");
	assert_null(strstr(p.error->message, "did you mean"));
	done(&p);
}

static void test_help(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct parsed p;

	(void)state;
	parse(&p, "-q --help");
	assert_true(p.help);
	done(&p);
	parse(&p, "-h");
	assert_true(p.help);
	done(&p);
	parse_flags(&p, "python3 -h", OPTIONS_STOP_AT_NON_OPTION);
	assert_false(p.help);
	done(&p);
	options_format_help(options, &text);
	assert_non_null(strstr(text.data, "-o, --output <file>"));
	assert_non_null(strstr(text.data, "-g, --graph [<tokens>]"));
	assert_non_null(strstr(text.data, "-s, --stuck[=<x>]"));
	assert_null(strstr(text.data, "hidden"));
}

/* Every word of it, in order, in lines that fit; paragraphs stay apart. */
static void test_wrap(void **state)
{
	static const char text[] =
		"one two three four five six seven eight nine ten eleven twelve thirteen\n"
		"fourteen\n\n"
		"a-word-that-is-longer-than-all-the-columns-that-a-line-can-have-here-and-on-any-terminal last";
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT, out = STRBUF_INIT;

	(void)state;
	wrap_text(&plain, text, 0);
	assert_string_equal(
		plain.data,
		"one two three four five six seven eight nine ten eleven twelve thirteen fourteen\n\n"
		"a-word-that-is-longer-than-all-the-columns-that-a-line-can-have-here-and-on-any-terminal\n"
		"last\n");
	strbuf_fill(&out, '.', 60);
	wrap_text(&out, "seventeen columns stay", 60);
	assert_int_equal(strcspn(out.data, "\n"), 60 + 17);
	assert_string_equal(out.data + 60 + 18 + 60, "stay\n");
	strbuf_clear(&out);
	wrap_text(&out, "it's 'two words', (or 'x y')", 68);
	assert_non_null(strstr(out.data, "it's\n"));
	assert_non_null(strstr(out.data, " 'two words',\n"));
	assert_non_null(strstr(out.data, " (or 'x y')\n"));
	strbuf_clear(&out);
	wrap_text(&out, "", 34);
	assert_string_equal(out.data, "\n");
}

static void test_no_options(void **state)
{
	char first[] = "a", second[] = "-x";
	char *values[] = { first, second, NULL };
	struct arguments args = { 1, values };
	bool help = false;
	struct error *error;

	(void)state;
	assert_null(options_parse(NULL, 0, NULL, &args, &help));
	assert_int_equal(args.count, 1);
	values[0] = second;
	error = options_parse(NULL, 0, NULL, &args, &help);
	assert_non_null(error);
	error_destroy(error);
}

/* An abbreviation of "--no-" alone says nothing of the option. */
static void test_no_alone_is_no_opposite(void **state)
{
	static const struct option one[] = {
		OPT_BOOL('q', "quiet", struct settings, quiet, "say less"),
		OPT_END(),
	};
	static const struct {
		const char *word;
		bool taken;
	} cases[] = { { "--n", false }, { "--no", false }, { "--no-q", true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char word[16];
		char *values[] = { word, NULL };
		struct arguments args = { 1, values };
		struct settings settings = { .quiet = true };
		bool help = false;
		struct error *error;

		snprintf(word, sizeof(word), "%s", cases[i].word);
		error = options_parse(one, 0, &settings, &args, &help);
		assert_int_equal(!error, cases[i].taken);
		assert_int_equal(settings.quiet, !cases[i].taken);
		error_destroy(error);
	}
}

static void test_edit_distance(void **state)
{
	(void)state;
	assert_int_equal(edit_distance("cycles", "cycles"), 0);
	assert_int_equal(edit_distance("cylces", "cycles"), 2);
	assert_int_equal(edit_distance("cycle", "cycles"), 2);
	assert_int_equal(edit_distance("CYCLES", "cycles"), 6);
	assert_int_equal(edit_distance("", "abc"), 6);
	assert_int_equal(edit_distance("kitten", "sitting"), 6);
}

static void colour_words(struct strbuf *out)
{
	strbuf_puts(out, "red green ");
}

/* What completion makes of the row of an option. */
static void test_values(void **state)
{
	static const struct {
		const char *argument;
		option_words_fn *values;
		enum value_kind kind;
		bool several;
		const char *words;
	} cases[] = {
		{ NULL, NULL, VALUE_NONE, false, "" },
		{ "<n>", NULL, VALUE_TEXT, false, "" },
		{ "<file>", NULL, VALUE_FILE, false, "" },
		{ "<dir>", NULL, VALUE_DIRECTORY, false, "" },
		{ "<pid>,...", NULL, VALUE_PROCESS, true, "" },
		{ "<tid>", NULL, VALUE_THREAD, false, "" },
		/* Of a recording. */
		{ "<pid,...>", NULL, VALUE_TEXT, true, "" },
		{ "a|b-c", NULL, VALUE_WORDS, false, "a b-c " },
		{ "<a|b>", NULL, VALUE_WORDS, false, "a b " },
		{ "<n>|max", NULL, VALUE_WORDS, false, "max " },
		{ "<n>(s|ms)", NULL, VALUE_TEXT, false, "" },
		{ "<key,...>", colour_words, VALUE_WORDS, true, "red green " },
		{ "<file>", colour_words, VALUE_WORDS, false, "red green " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct option option = {
			.type = OPTION_CALL,
			.long_name = "x",
			.argument = cases[i].argument,
			.values = cases[i].values,
		};
		struct value value;

		value_of(&option, &value);
		assert_int_equal(value.kind, cases[i].kind);
		assert_int_equal(value.several, cases[i].several);
		assert_string_equal(value.words.data, cases[i].words);
		value_deinit(&value);
	}
}

static void test_values_in_help(void **state)
{
	static const struct option rows[] = {
		{ .help = "paint it %s, or not", .values = colour_words },
		{ .help = "paint it", .values = colour_words },
		{ .help = "fill 100%shares" },
	};
	static const char *const wanted[] = { "paint it red, green, or not",
					      "paint it", "fill 100%shares" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		option_format_help(&rows[i], &text);
		assert_string_equal(text.data, wanted[i]);
	}
}

/* By the usage of a command. */
static void test_operands(void **state)
{
	static const struct {
		const char *usage;
		unsigned int flags;
		enum operand_kind kind;
	} cases[] = {
		{ "", 0, OPERAND_NONE },
		{ "[<options>]", 0, OPERAND_NONE },
		{ "[<options>] -o <file>", 0, OPERAND_NONE },
		{ "[<options>] [--] <command> [<arguments>]",
		  OPTIONS_STOP_AT_NON_OPTION, OPERAND_COMMAND_LINE },
		{ "[--man] [<command>]", 0, OPERAND_COMMANDS },
		{ "[<python>...]", 0, OPERAND_PROGRAMS },
		{ "[<options>] <before> <after>", 0, OPERAND_FILES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct command command = {
			.usage = (const char *const[]){ cases[i].usage, NULL },
			.options_flags = cases[i].flags,
		};

		assert_int_equal(operand_of(&command), cases[i].kind);
	}
}

/* Only what is offered where --no- was typed. */
static void test_opposites(void **state)
{
	static const struct {
		struct option option;
		bool has;
	} cases[] = {
		{ OPT_BOOL('q', "quiet", struct settings, quiet, ""), true },
		{ OPT_BOOL(0, "no-inherit", struct settings, no_inherit, ""),
		  false },
		{ OPT_BOOL(0, "off", struct settings, quiet, "",
			   .flags = OPTION_NO_NEGATE), false },
		{ OPT_BOOL(0, "old", struct settings, quiet, "",
			   .flags = OPTION_HIDDEN), false },
		{ OPT_STRING('o', "output", struct settings, output, "<file>",
			     ""), false },
		{ OPT_COUNT('v', "verbose", struct settings, verbose, ""),
		  false },
		{ OPT_GROUP("A group"), false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(option_has_opposite(&cases[i].option),
				 cases[i].has);
}

static void test_shell_words(void **state)
{
	static const struct {
		const char *word;
		const char *typed;
	} cases[] = {
		{ "/usr/bin/kaa", "/usr/bin/kaa" },
		{ "cap_bpf=ep", "cap_bpf=ep" },
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "$(id)`id`\\", "'$(id)`id`\\'" },
		{ "\033[31m", "'?[31m'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct strbuf typed = STRBUF_INIT;

		shell_word(cases[i].word, &typed);
		assert_string_equal(typed.data, cases[i].typed);
	}
}

/* A program is advised as it was called; what is no command of it stays. */
static void test_own_commands(void **state)
{
	static const struct {
		const char *text;
		const char *named;
	} cases[] = {
		{ "'kaa doctor' says more", "'./kaa doctor' says more" },
		{ "run 'sudo kaa record ...'; 'kaa doctor --fix'",
		  "run 'sudo ./kaa record ...'; './kaa doctor --fix'" },
		{ "'kaa' and kaa run, '/x/kaa record'",
		  "'kaa' and kaa run, '/x/kaa record'" },
		{ "it's 'kaa top'", "it's './kaa top'" },
		{ "", "" },
	};
	char *name = program_invocation_name;

	(void)state;
	program_invocation_name = (char *)"./kaa";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct strbuf named = STRBUF_INIT;

		own_command_puts_for(&named, cases[i].text, OWN_COMMAND_SUDO);
		assert_string_equal(named.len ? named.data : "",
				    cases[i].named);
	}
	program_invocation_name = name;
}

/* Root types no sudo, and who has none is told who may do it. */
static void test_commands_of_root(void **state)
{
	static const struct {
		const char *text;
		const char *is_root;
		const char *asks_root;
	} cases[] = {
		{ "'sudo apt install x' installs it",
		  "'apt install x' installs it",
		  "as root: 'apt install x' installs it" },
		{ "run 'sudo kaa top', or 'sudo /x/kaa top'",
		  "run './kaa top', or '/x/kaa top'",
		  "run as root: './kaa top', or as root: '/x/kaa top'" },
		{ "it's 'sudo' and sudo kaa", "it's 'sudo' and sudo kaa",
		  "it's 'sudo' and sudo kaa" },
		{ "'e': run kaa under sudo, or run 'sudo kaa x'; 'kaa under sudo",
		  "'e': run kaa as root, or run './kaa x'; './kaa under sudo",
		  "'e': run kaa as root, or run as root: './kaa x'; './kaa under sudo" },
	};
	char *name = program_invocation_name;

	(void)state;
	program_invocation_name = (char *)"./kaa";
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_strbuf_ struct strbuf one = STRBUF_INIT;
		_cleanup_strbuf_ struct strbuf two = STRBUF_INIT;

		own_command_puts_for(&one, cases[i].text, OWN_COMMAND_IS_ROOT);
		assert_string_equal(one.data, cases[i].is_root);
		own_command_puts_for(&two, cases[i].text, OWN_COMMAND_ASKS_ROOT);
		assert_string_equal(two.data, cases[i].asks_root);
	}
	program_invocation_name = name;
}

/* An example in a help text is what its reader can type. */
static void test_examples(void **state)
{
	static const char text[] = "sudo kaa top 'x'\tshow it";
	const size_t n = strlen("sudo kaa top 'x'");
	_cleanup_strbuf_ struct strbuf with = STRBUF_INIT, as = STRBUF_INIT,
				       without = STRBUF_INIT;
	char *name = program_invocation_name;

	(void)state;
	program_invocation_name = (char *)"./kaa";
	own_command_example(&with, text, n, OWN_COMMAND_SUDO);
	assert_string_equal(with.data, "sudo ./kaa top 'x'");
	own_command_example(&as, text, n, OWN_COMMAND_IS_ROOT);
	assert_string_equal(as.data, "./kaa top 'x'");
	own_command_example(&without, text, n, OWN_COMMAND_ASKS_ROOT);
	assert_string_equal(without.data, "./kaa top 'x'");
	program_invocation_name = name;
}

/* What a user of sudo is told where PATH is so; new_privileges: sudo may have any. */
static enum own_command_root root_with(const char *path, bool new_privileges)
{
	pid_t child = fork();
	int status;

	if (!child) {
		setenv("PATH", path, 1);
		setenv("SUDO_UID", "1", 1);
		if (!new_privileges)
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit((int)own_command_root());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return (enum own_command_root)WEXITSTATUS(status);
}

/* Of a sudo that cannot make anybody root nobody is told. */
static void test_sudo_without_effect(void **state)
{
	char folder[] = "/tmp/kaa-options-XXXXXX", file[64], path[96];
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(root_with(folder, true), OWN_COMMAND_ASKS_ROOT);
	snprintf(file, sizeof(file), "%s/sudo", folder);
	assert_false(symlink("/bin/true", file));
	/* The first on PATH is what a shell takes. */
	snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
	assert_int_equal(root_with(path, true), OWN_COMMAND_ASKS_ROOT);
	assert_int_equal(root_with("/usr/bin", false), OWN_COMMAND_ASKS_ROOT);
	if (!stat("/usr/bin/sudo", &st) && st.st_mode & S_ISUID &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		assert_int_equal(root_with("/usr/bin", true),
				 OWN_COMMAND_SUDO);
	unlink(file);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_spelling),
		cmocka_unit_test(test_negation),
		cmocka_unit_test(test_abbreviations),
		cmocka_unit_test(test_optional_arguments),
		cmocka_unit_test(test_stops_at_command),
		cmocka_unit_test(test_errors_name_what_was_typed),
		cmocka_unit_test(test_unknown_does_not_betray_hidden),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_no_options),
		cmocka_unit_test(test_no_alone_is_no_opposite),
		cmocka_unit_test(test_edit_distance),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_values_in_help),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_opposites),
		cmocka_unit_test(test_shell_words),
		cmocka_unit_test(test_own_commands),
		cmocka_unit_test(test_commands_of_root),
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_sudo_without_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
