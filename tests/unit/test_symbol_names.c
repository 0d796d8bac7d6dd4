// SPDX-License-Identifier: GPL-2.0-only
/* What people call functions, what that chooses of a profile, and near names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model.h"
#include "profile/symbol_word.h"
#include "view/symbol_near.h"

#define DEDUPE	"py::Orders.dedupe:/srv/shop/orders.py"
#define CLOSURE "py::run.<locals>.<lambda>:<string>"
#define LOADS	"py::loads:/usr/lib/python3.11/json/__init__.py"

static void check_calls_at(const char *word, const char *symbol,
			   const struct symbol_lines *lines, bool expected)
{
	const struct symbol_word w = symbol_word_init(word, false);
	const struct symbol_word exact = symbol_word_init(word, true);

	if (symbol_word_calls(&w, symbol, lines) != expected)
		fail_msg("'%s' %s '%s' at %u", word,
			 expected ? "does not call" : "calls", symbol,
			 lines->line);
	assert_int_equal(symbol_word_calls(&exact, symbol, lines),
			 !strcmp(word, symbol));
}

static void check_calls(const char *word, const char *symbol, uint32_t line,
			bool expected)
{
	const struct symbol_lines lines = { .line = line };

	check_calls_at(word, symbol, &lines, expected);
}

static void test_words_that_call(void **state)
{
	static const struct {
		const char *symbol;
		const char *words[16];
	} cases[] = {
		{ DEDUPE,
		  { DEDUPE, "dedupe", "Orders.dedupe", "py::dedupe",
		    "py::Orders.dedupe", "orders.Orders.dedupe",
		    "shop.orders.Orders.dedupe", "orders.py", "./orders.py",
		    "shop/orders.py", "/srv/shop/orders.py", "py::orders.py",
		    "dedupe:orders.py", "Orders.dedupe:shop/orders.py" } },
		{ CLOSURE,
		  { "<lambda>", "run.<locals>.<lambda>", "<string>",
		    "<lambda>:<string>" } },
		{ LOADS,
		  { "loads", "json.loads", "json/__init__.py", "__init__.py" } },
		{ "py::top:tool", { "top", "top:tool" } },
		{ "std::foo(int)", { "std::foo(int)" } },
		{ "main", { "main" } },
		/* As gcc names a static function when it links. */
		{ "list_contains.lto_priv.0",
		  { "list_contains", "list_contains.lto_priv.0" } },
		/* As reports call what has no name in a module. */
		{ "_json.cpython-311-x86_64-linux-gnu.so+0x1a0",
		  { "_json+0x1a0", "_json.cpython-311-x86_64-linux-gnu.so+0x1a0" } },
		{ "_rust.abi3.so+0x7", { "_rust+0x7" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (const char *const *w = cases[i].words; *w; w++)
			check_calls(*w, cases[i].symbol, 7, true);
}

static void test_words_that_do_not(void **state)
{
	static const struct {
		const char *symbol;
		const char *words[16];
	} cases[] = {
		{ DEDUPE,
		  { "dedup", "edupe", "Orders", "rders.dedupe", "Dedupe",
		    "rders.py", "orders", "hop/orders.py", "/orders.py",
		    "hop.orders.Orders.dedupe", "orders.dedupe", "py::",
		    "dedupe:", ":orders.py", "dedupe:rders.py", "" } },
		{ CLOSURE, { "run", "<lambda", "lambda>" } },
		{ LOADS, { "__init__.loads", "json", "son.loads" } },
		{ "list_contains.cold",
		  { "list_contains", "list", "list_contains.lto_priv.0" } },
		{ "list_contains.lto_priv.0", { "list", "contains" } },
		{ "_json.cpython-311-x86_64-linux-gnu.so+0x1a0",
		  { "_json", "_json+0x1a", "_json+0x1a00", "json+0x1a0", "+0x1a0", "_json.cpython+0x1a0" } },
		{ "python3.11+0x1a0", { "python3+0x1a0", "python3" } },
		/* A function may be called as the script that has it. */
		{ "py::top:tool", { "tool" } },
		/* Of other symbols there is the whole name alone. */
		{ "std::foo(int)", { "foo", "foo(int)", "std::foo" } },
		{ "main", { "py::main", "mai" } },
		/* A C++ namespace. */
		{ "py::Box::spin(int)", { "Box", "spin(int)", ":spin(int)" } },
		{ "py::alone", { "alone" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (const char *const *w = cases[i].words; *w; w++)
			check_calls(*w, cases[i].symbol, 7, false);
}

static void test_words_with_lines(void **state)
{
	(void)state;
	check_calls("orders.py:37", DEDUPE, 37, true);
	check_calls("shop/orders.py:37", DEDUPE, 37, true);
	check_calls("py::orders.py:37", DEDUPE, 37, true);
	check_calls("dedupe:orders.py:37", DEDUPE, 37, true);
	check_calls("tool:3", "py::top:tool", 3, true);
	check_calls("orders.py:37", DEDUPE, 38, false);
	check_calls("orders.py:37", DEDUPE, 0, false);
	check_calls("orders.py:0", DEDUPE, 0, false);
	check_calls("rders.py:37", DEDUPE, 37, false);
	check_calls("orders.py:37x", DEDUPE, 37, false);
	check_calls("orders.py:4294967333", DEDUPE, 37, false);
	check_calls("dedupe:37", DEDUPE, 37, false);
	/* A file of that name comes first. */
	check_calls("py::f:x:37", "py::f:x:37", 1, true);
}

/* Its first line is that of its decorator; the def is below that, and then its code. */
static void test_lines_of_a_def(void **state)
{
	const struct symbol_lines lines = { .line = 40, .def = 34, .body = 38 };
	const struct symbol_lines no_body = { .line = 40, .def = 34 };

	(void)state;
	check_calls_at("orders.py:33", DEDUPE, &lines, false);
	check_calls_at("orders.py:34", DEDUPE, &lines, true);
	check_calls_at("orders.py:35", DEDUPE, &lines, true);
	check_calls_at("dedupe:orders.py:37", DEDUPE, &lines, true);
	check_calls_at("orders.py:38", DEDUPE, &lines, false);
	check_calls_at("orders.py:40", DEDUPE, &lines, true);
	check_calls_at("other.py:35", DEDUPE, &lines, false);
	check_calls_at("orders.py:34", DEDUPE, &no_body, true);
	check_calls_at("orders.py:35", DEDUPE, &no_body, false);
	/* A module has no def, and what stands in it has many. */
	check_calls_at("orders.py:35", "py::<module>:/srv/shop/orders.py", &lines,
		       false);
}

/* --- Profiles ----------------------------------------------------------- */

static void fill(struct model *m)
{
	model_init(m, NULL);
	model_sample(m, 10,
		     "_start I:eval py:py::main:/srv/app.py@20 "
		     "py:py::Orders.dedupe:/srv/orders.py@37 I:eval");
	model_sample(m, 20,
		     "_start I:eval py:py::main:/srv/app.py@21 "
		     "py:py::Orders.dedupe:/srv/orders.py@39 malloc");
	model_sample(m, 30, "_start main");
}

static void check_chosen(const struct model *m, const char *word, bool by_line,
			 enum symbol_rule rule, const char *frame, bool chosen)
{
	const struct name_list words = { &word, 1 };
	uint32_t id = model_frame((struct model *)m, frame);
	struct symbol_choice *choice;

	model_check(symbol_choose_words(m->profile, &words, rule, &choice));
	if (symbol_choice_has(choice, m->profile,
			      profile_frame(m->profile, id),
			      by_line) != chosen)
		fail_msg("'%s' and %s", word, frame);
	symbol_choice_destroy(choice);
}

static void test_choices(void **state)
{
	const char *hot = "py:py::Orders.dedupe:/srv/orders.py@37";
	const char *other = "py:py::Orders.dedupe:/srv/orders.py@39";
	struct model m;

	(void)state;
	fill(&m);
	check_chosen(&m, "dedupe", false, SYMBOL_RULE_PEOPLE, hot, true);
	check_chosen(&m, "dedupe", false, SYMBOL_RULE_PERF, hot, false);
	check_chosen(&m, "py::Orders.dedupe:/srv/orders.py", false,
		     SYMBOL_RULE_PERF, hot, true);
	check_chosen(&m, "orders.py:37", false, SYMBOL_RULE_PEOPLE, hot, true);
	/* The function has the line; of its lines it is this one. */
	check_chosen(&m, "orders.py:37", false, SYMBOL_RULE_PEOPLE, other,
		     true);
	check_chosen(&m, "orders.py:37", true, SYMBOL_RULE_PEOPLE, other,
		     false);
	/* Python's main beside that of C, which perf finds alone. */
	check_chosen(&m, "main", false, SYMBOL_RULE_PEOPLE, "main", true);
	check_chosen(&m, "main", false, SYMBOL_RULE_PEOPLE,
		     "py:py::main:/srv/app.py@20", true);
	check_chosen(&m, "main", false, SYMBOL_RULE_PERF,
		     "py:py::main:/srv/app.py@20", false);
	model_deinit(&m);
}

static void check_matches(const struct model *m, const char *regex,
			  enum symbol_rule rule, const char *frame,
			  bool expected)
{
	uint32_t id = model_frame((struct model *)m, frame);
	bool *matches;

	model_check(symbol_matches(m->profile, regex, rule, &matches));
	if (matches[profile_frame(m->profile, id)->symbol] != expected)
		fail_msg("'%s' and %s", regex, frame);
	free(matches);
}

static void test_expressions(void **state)
{
	const char *hot = "py:py::Orders.dedupe:/srv/orders.py@37";
	struct model m;

	(void)state;
	fill(&m);
	check_matches(&m, "dedupe", SYMBOL_RULE_PERF, hot, true);
	check_matches(&m, "^Orders\\.dedupe$", SYMBOL_RULE_PERF, hot, false);
	check_matches(&m, "^Orders\\.dedupe$", SYMBOL_RULE_PEOPLE, hot, true);
	check_matches(&m, "orders.py:37", SYMBOL_RULE_PERF, hot, false);
	check_matches(&m, "orders.py:37", SYMBOL_RULE_PEOPLE, hot, true);
	check_matches(&m, "orders.py:36", SYMBOL_RULE_PEOPLE, hot, false);
	check_matches(&m, "^mai", SYMBOL_RULE_PEOPLE, "malloc", false);
	model_deinit(&m);
}

/* --- Near names --------------------------------------------------------- */

static void check_near(const struct model *m, const char *word, bool exact,
		       bool interpreter_frames, enum symbol_place place,
		       const char *expected)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct symbol_near near;

	model_check(symbol_near_init(&near, word, exact));
	model_check(symbol_near_offer_profile(&near, m->profile,
					      interpreter_frames));
	assert_int_equal(near.place, place);
	symbol_near_format(&near, "no sample is in a function called", &text);
	if (expected)
		assert_string_equal(text.data, expected);
	symbol_near_deinit(&near);
}

static void test_near_names(void **state)
{
	struct model m;

	(void)state;
	fill(&m);
	check_near(&m, "dedup", false, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'dedup': did you mean 'Orders.dedupe:orders.py'?");
	check_near(&m, "orders.Orders.dedup", false, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'orders.Orders.dedup': did you mean 'Orders.dedupe:orders.py'?");
	check_near(&m, "srv/order.py", false, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'srv/order.py': did you mean 'orders.py'?");
	check_near(&m, "maloc", false, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'maloc': did you mean 'malloc'?");
	check_near(&m, "xyzzy\33[1m", false, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'xyzzy?[1m'");
	check_near(&m, "orders.py:38", false, false, SYMBOL_NOWHERE,
		   "no sample is at 'orders.py:38'; the nearest lines with samples are 37 and 39");
	check_near(&m, "orders.py:50", false, false, SYMBOL_NOWHERE,
		   "no sample is at 'orders.py:50'; the nearest line with samples is 39");
	/* What is offered has to be found if it is typed. */
	check_near(&m, "Orders.dedupe:orders.py", false, false, SYMBOL_HIT,
		   NULL);
	check_near(&m, "malloc", true, false, SYMBOL_HIT, NULL);
	check_near(&m, "dedupe", true, false, SYMBOL_NOWHERE,
		   "no sample is in a function called 'dedupe': did you mean 'py::Orders.dedupe:/srv/orders.py'?");
	model_deinit(&m);
}

static void test_places(void **state)
{
	struct model m;

	(void)state;
	fill(&m);
	/* The interpreter at the leaf ran dedupe; main has only called. */
	check_near(&m, "orders.py:37", false, false, SYMBOL_HIT, NULL);
	check_near(&m, "orders.py:39", false, false, SYMBOL_CALLS, NULL);
	check_near(&m, "py::main", false, false, SYMBOL_CALLS,
		   "no sample hit 'py::main' itself, only functions that it called");
	check_near(&m, "eval", false, false, SYMBOL_FOLDED,
		   "'eval' is a function of the interpreter, which only --interpreter-frames shows");
	check_near(&m, "eval", false, true, SYMBOL_HIT, NULL);
	check_near(&m, "orders.py:37", false, true, SYMBOL_CALLS, NULL);
	model_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_that_call),
		cmocka_unit_test(test_words_that_do_not),
		cmocka_unit_test(test_words_with_lines),
		cmocka_unit_test(test_lines_of_a_def),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_near_names),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
