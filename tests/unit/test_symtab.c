// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <elf.h>

#include "base/compare.h"
#include "base/strbuf.h"
#include "obj/demangle.h"
#include "obj/kallsyms.h"
#include "obj/perf_map.h"
#include "obj/symtab.h"

static void add(struct symtab *tab, uint64_t start, uint64_t size,
		const char *name, uint8_t type, uint8_t binding)
{
	assert_null(symtab_add(tab, start, size, name, strlen(name), type,
			       binding, 0));
}

static const char *name_at(const struct symtab *tab, uint64_t addr)
{
	const struct symbol *symbol = symtab_find(tab, addr);

	return symbol ? symbol->name : "-";
}

static void test_inner_symbol_wins_and_outer_goes_on(void **state)
{
	struct symtab tab = {};

	(void)state;
	add(&tab, 0x100, 0x100, "outer", STT_FUNC, STB_GLOBAL);
	add(&tab, 0x110, 0x40, "middle", STT_FUNC, STB_GLOBAL);
	add(&tab, 0x120, 0x10, "inner", STT_FUNC, STB_GLOBAL);
	add(&tab, 0x300, 1, "single", STT_FUNC, STB_GLOBAL);
	assert_null(symtab_finish(&tab, SYMTAB_BEST_ALIAS, 16));
	assert_string_equal(name_at(&tab, 0xff), "-");
	assert_string_equal(name_at(&tab, 0x10f), "outer");
	assert_string_equal(name_at(&tab, 0x11f), "middle");
	assert_string_equal(name_at(&tab, 0x12f), "inner");
	assert_string_equal(name_at(&tab, 0x130), "middle");
	assert_string_equal(name_at(&tab, 0x150), "outer");
	assert_string_equal(name_at(&tab, 0x1ff), "outer");
	assert_string_equal(name_at(&tab, 0x200), "-");
	assert_string_equal(name_at(&tab, 0x300), "single");
	assert_string_equal(name_at(&tab, 0x301), "-");
	assert_string_equal(name_at(&tab, UINT64_MAX), "-");
	symtab_deinit(&tab);
}

static void test_symbol_without_size_ends_at_the_next(void **state)
{
	struct symtab tab = {};

	(void)state;
	add(&tab, 0x100, 0, "first", STT_NOTYPE, STB_LOCAL);
	add(&tab, 0x180, 0, "last", STT_NOTYPE, STB_LOCAL);
	assert_null(symtab_finish(&tab, SYMTAB_BEST_ALIAS, 16));
	assert_string_equal(name_at(&tab, 0x17f), "first");
	assert_string_equal(name_at(&tab, 0x18f), "last");
	assert_string_equal(name_at(&tab, 0x190), "-");
	symtab_deinit(&tab);
}

static void test_end_of_address_space_does_not_wrap(void **state)
{
	struct symtab tab = {};

	(void)state;
	add(&tab, UINT64_MAX - 4, 100, "high", STT_FUNC, STB_GLOBAL);
	add(&tab, UINT64_MAX, 0, "highest", STT_FUNC, STB_GLOBAL);
	add(&tab, 0, 1, "low", STT_FUNC, STB_GLOBAL);
	assert_null(symtab_finish(&tab, SYMTAB_BEST_ALIAS, 16));
	assert_string_equal(name_at(&tab, UINT64_MAX - 1), "high");
	assert_string_equal(name_at(&tab, 0), "low");
	assert_string_equal(name_at(&tab, 50), "-");
	symtab_deinit(&tab);
}

/* perf 7.2 prints these names for a program with such aliases. */
static void test_best_alias_stays(void **state)
{
	static const struct {
		const char *name, *rival;
		uint64_t size, rival_size;
		uint8_t type, rival_type, binding, rival_binding;
	} cases[] = {
		{ "sized", "unsized_longer", 4, 0, STT_FUNC, STT_FUNC,
		  STB_LOCAL, STB_GLOBAL },
		{ "typed", "untyped_longer", 4, 4, STT_FUNC, STT_NOTYPE,
		  STB_LOCAL, STB_GLOBAL },
		{ "strong", "weak_but_longer", 4, 4, STT_FUNC, STT_FUNC,
		  STB_LOCAL, STB_WEAK },
		{ "global", "local_but_longer", 4, 4, STT_FUNC, STT_FUNC,
		  STB_GLOBAL, STB_LOCAL },
		{ "plain", "__underscored", 4, 4, STT_FUNC, STT_FUNC,
		  STB_GLOBAL, STB_GLOBAL },
		{ "longer_name", "short", 4, 4, STT_FUNC, STT_FUNC, STB_GLOBAL,
		  STB_GLOBAL },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		struct symtab tab = {};
		size_t c = i / 2;

		if (i % 2)
			add(&tab, 64, cases[c].size, cases[c].name,
			    cases[c].type, cases[c].binding);
		add(&tab, 64, cases[c].rival_size, cases[c].rival,
		    cases[c].rival_type, cases[c].rival_binding);
		if (i % 2 == 0)
			add(&tab, 64, cases[c].size, cases[c].name,
			    cases[c].type, cases[c].binding);
		assert_null(symtab_finish(&tab, SYMTAB_BEST_ALIAS, 16));
		assert_int_equal(tab.count, 1);
		assert_string_equal(name_at(&tab, 64), cases[c].name);
		symtab_deinit(&tab);
	}
}

struct entry {
	uint64_t start, end;
};

enum { SPACE = 512, ENTRIES = 60 };

/* Random ranges in a small space, so that all kinds of overlap occur. */
static void fill(struct symtab *tab, struct entry *entries, unsigned int *seed)
{
	char name[16];

	for (int i = 0; i < ENTRIES; i++) {
		uint64_t start = (uint64_t)rand_r(seed) % (SPACE - 64);
		uint64_t size = 1 + (uint64_t)rand_r(seed) % 64;

		entries[i] = (struct entry){ start, start + size };
		snprintf(name, sizeof(name), "%d", i);
		add(tab, start, size, name, STT_FUNC, STB_GLOBAL);
	}
}

static void test_last_entry_wins_everywhere(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct entry entries[ENTRIES];
		struct symtab tab = {};

		fill(&tab, entries, &seed);
		assert_null(symtab_finish(&tab, SYMTAB_LAST_WINS, 0));
		for (uint64_t addr = 0; addr < SPACE; addr++) {
			char expected[16] = "-";

			for (int i = 0; i < ENTRIES; i++) {
				if (addr >= entries[i].start &&
				    addr < entries[i].end)
					snprintf(expected, sizeof(expected),
						 "%d", i);
			}
			assert_string_equal(name_at(&tab, addr), expected);
		}
		symtab_deinit(&tab);
	}
}

static void test_nearest_start_wins_everywhere(void **state)
{
	unsigned int seed = 2;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct entry entries[ENTRIES];
		struct symtab tab = {};

		fill(&tab, entries, &seed);
		assert_null(symtab_finish(&tab, SYMTAB_BEST_ALIAS, 16));
		for (uint64_t addr = 0; addr < SPACE; addr++) {
			const struct symbol *found = symtab_find(&tab, addr);
			int64_t best = -1;

			/* Aliases of one start lose their ranges: compare
			 * with the entries that stayed. */
			for (size_t i = 0; i < tab.count; i++) {
				if (addr >= tab.symbols[i].start &&
				    addr < tab.symbols[i].end &&
				    (int64_t)tab.symbols[i].start > best)
					best = (int64_t)tab.symbols[i].start;
			}
			assert_int_equal(found ? (int64_t)found->start : -1,
					 best);
		}
		symtab_deinit(&tab);
	}
}

static void parse_map(const char *text, struct symtab *tab, size_t *bad)
{
	assert_null(perf_map_parse(text, strlen(text), tab, bad));
	assert_null(symtab_finish(tab, SYMTAB_LAST_WINS, 0));
}

static void test_perf_map_of_cpython(void **state)
{
	struct symtab tab = {};
	size_t bad = 7;

	(void)state;
	parse_map("7f0000001000 b py::foo:/tmp/a script.py\n"
		  "7f000000100b b py::<module>:/x.py\n"
		  "0x7f0000002000 0x10 with prefix\n"
		  "7F0000003000 A upper\n",
		  &tab, &bad);
	assert_int_equal(bad, 0);
	assert_string_equal(name_at(&tab, 0x7f000000100a),
			    "py::foo:/tmp/a script.py");
	assert_string_equal(name_at(&tab, 0x7f000000100b),
			    "py::<module>:/x.py");
	assert_string_equal(name_at(&tab, 0x7f000000200f), "with prefix");
	assert_string_equal(name_at(&tab, 0x7f0000003009), "upper");
	symtab_deinit(&tab);
}

static void test_perf_map_of_a_reused_pid(void **state)
{
	struct symtab tab = {};

	(void)state;
	parse_map("1000 100 stale\n1040 20 new\n2000 10 old\n2000 10 again\n",
		  &tab, NULL);
	assert_string_equal(name_at(&tab, 0x103f), "stale");
	assert_string_equal(name_at(&tab, 0x1040), "new");
	assert_string_equal(name_at(&tab, 0x1060), "stale");
	assert_string_equal(name_at(&tab, 0x2008), "again");
	symtab_deinit(&tab);
}

static void test_perf_map_skips_what_is_no_entry(void **state)
{
	static const char *const lines[] = {
		"\n", " \n", "zz 10 name\n", "1000\n", "1000 10\n", "1000 10 \n",
		"1000 0 empty\n", "-1000 10 minus\n", "1000 -10 minus\n",
		"ffffffffffffff00 200 wraps\n", "8000000000000000 10 kernel\n",
		"10000000000000000 10 seventeen digits\n", "1000 10 unfinished",
		"7fffffffffffffff 2 reaches out\n", "0x 10 no digits\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct symtab tab = {};
		size_t bad = 0;

		parse_map(lines[i], &tab, &bad);
		if (tab.count || bad != 1)
			fail_msg("line %zu was taken", i);
		symtab_deinit(&tab);
	}
}

static void test_perf_map_name_cannot_break_a_line(void **state)
{
	static const char text[] = "1000 10 a\x1b[2J\0b\rc\n";
	struct symtab tab = {};

	(void)state;
	assert_null(perf_map_parse(text, sizeof(text) - 1, &tab, NULL));
	assert_null(symtab_finish(&tab, SYMTAB_LAST_WINS, 0));
	assert_string_equal(name_at(&tab, 0x1000), "a?[2J?b?c");
	symtab_deinit(&tab);
}

static void test_perf_map_line_of_a_megabyte(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct symtab tab = {};
	size_t bad;

	(void)state;
	strbuf_puts(&text, "1000 10 ");
	strbuf_fill(&text, 'x', 1 << 20);
	strbuf_puts(&text, "\n2000 10 next\n");
	parse_map(text.data, &tab, &bad);
	assert_int_equal(bad, 1);
	assert_string_equal(name_at(&tab, 0x2000), "next");
	symtab_deinit(&tab);
}

static void parse_kallsyms(const char *text, struct kallsyms *ret)
{
	struct strbuf copy = STRBUF_INIT;

	strbuf_puts(&copy, text);
	assert_null(kallsyms_parse(&copy, ret));
	assert_int_equal(copy.len, 0);
}

static void test_kallsyms(void **state)
{
	static const char text[] =
		"ffffffff81000000 T _text\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81000100 t do_work\n"
		"ffffffff81000180 D some_data\n"
		"ffffffff81000200 W weak_work\n"
		"ffffffffc0001000 t mod_init\t[snd_pcm]\n"
		"ffffffffc0001080 t mod_work\t[snd_pcm]\n"
		"ffffffffc0003000 t other\t[nf_tables]\n"
		"garbage\n";
	const struct symbol *found;
	struct kallsyms syms;

	(void)state;
	parse_kallsyms(text, &syms);
	assert_false(syms.restricted);
	assert_int_equal(syms.text, 0xffffffff81000000);
	assert_string_equal(name_at(&syms.symtab, 0xffffffff810001ff),
			    "do_work");
	assert_string_equal(name_at(&syms.symtab, 0xffffffff81000200),
			    "weak_work");
	/* The kernel does not reach into the modules. */
	assert_string_equal(name_at(&syms.symtab, 0xffffffffb0000000), "-");
	found = symtab_find(&syms.symtab, 0xffffffffc00010ff);
	assert_string_equal(found->name, "mod_work");
	assert_string_equal(syms.modules[found->group], "[snd_pcm]");
	found = symtab_find(&syms.symtab, 0xffffffffc0003000);
	assert_string_equal(syms.modules[found->group], "[nf_tables]");
	assert_string_equal(syms.modules[0], "[kernel.kallsyms]");
	kallsyms_deinit(&syms);
}

/* What stands in a line must not break the lines of a report. */
static void test_kallsyms_odd_lines(void **state)
{
	static const char text[] = "ffffffff81000000 T one\001two\n"
				   "ffffffff81000100 T\n"
				   "ffffffff81000180 T \n"
				   "ffffffff81000190 T \t[module]\n"
				   "ffffffff810001a0 T\tname\n"
				   "ffffffff8100020g T no_digit\n"
				   "00ffffffff81000300 T too_long\n"
				   "ffffffff81000400 T \n\n"
				   "ffffffff81000500 t in_module\t[a]\tb\n"
				   "ffffffff81000600 t last";
	struct kallsyms syms;

	(void)state;
	parse_kallsyms(text, &syms);
	assert_int_equal(syms.symtab.count, 3);
	assert_string_equal(name_at(&syms.symtab, 0xffffffff81000000),
			    "one?two");
	assert_string_equal(name_at(&syms.symtab, 0xffffffff81000500),
			    "in_module");
	assert_string_equal(name_at(&syms.symtab, 0xffffffff81000600), "last");
	assert_int_equal(syms.module_count, 2);
	kallsyms_deinit(&syms);
}

static void test_kallsyms_without_addresses(void **state)
{
	static const char text[] = "0000000000000000 T _text\n"
				   "0000000000000000 t do_work\n";
	struct kallsyms syms;

	(void)state;
	parse_kallsyms(text, &syms);
	assert_true(syms.restricted);
	assert_null(symtab_find(&syms.symtab, 0));
	kallsyms_deinit(&syms);
}

static int compare_numbers(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* What both tables say of an address; the modules have other numbers. */
static void assert_same_symbol(const struct kallsyms *all, const struct kallsyms *some,
			       uint64_t address)
{
	const struct symbol *a = symtab_find(&all->symtab, address);
	const struct symbol *b = symtab_find(&some->symtab, address);

	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
	assert_string_equal(all->modules[a->group], some->modules[b->group]);
}

/* As kallsyms are, and worse: aliases, data, modules in any order. */
static void make_kallsyms(struct strbuf *out, unsigned int seed)
{
	static const char types[] = "tTtwWdDb";
	uint64_t address = 0xffffffff81000000;

	for (int i = 0; i < 300; i++) {
		seed = seed * 1103515245 + 12345;
		if (i == 200)
			address = 0xffffffffc0000000;
		if (i > 200 && !(seed >> 16 & 7))
			address = 0xffffffffc0000000 + (seed >> 8 & 0xffff);
		else if (seed >> 16 & 3)
			address += seed >> 20 & 0xfff;
		strbuf_printf(out, "%016" PRIx64 " %c name_%d", address,
			      types[seed >> 24 & 7], i);
		if (i >= 200)
			strbuf_printf(out, "\t[module_%u]", seed >> 28);
		strbuf_putc(out, '\n');
	}
}

/* The lines that are left name the addresses as all lines do. */
static void test_kallsyms_select(void **state)
{
	enum { COUNT = 12, TABLES = 200 };
	unsigned int seed = 1;

	(void)state;
	for (unsigned int n = 0; n < TABLES; n++) {
		struct strbuf text = STRBUF_INIT, copy = STRBUF_INIT;
		struct kallsyms all, some;
		uint64_t addresses[COUNT];

		make_kallsyms(&text, n);
		strbuf_append(&copy, text.data, text.len);
		for (size_t i = 0; i < COUNT; i++) {
			seed = seed * 1103515245 + 12345;
			addresses[i] = (i % 3 ? 0xffffffff81000000 : 0xffffffffc0000000) +
				       (seed >> 8 & 0x7ffff);
		}
		qsort(addresses, COUNT, sizeof(*addresses), compare_numbers);
		assert_null(kallsyms_select(&copy, addresses, n % COUNT));
		assert_true(copy.len < text.len / 2);
		assert_null(kallsyms_parse(&text, &all));
		assert_null(kallsyms_parse(&copy, &some));
		for (size_t i = 0; i < n % COUNT; i++)
			assert_same_symbol(&all, &some, addresses[i]);
		kallsyms_deinit(&all);
		kallsyms_deinit(&some);
	}
}

static void test_kallsyms_select_of_odd_lines(void **state)
{
	static const uint64_t address = 0xffffffff81000150;
	struct strbuf text = STRBUF_INIT;

	(void)state;
	strbuf_puts(&text, "\nffff\nffffffff81000100 t\nffffffff81000100 t a\n"
			   "zzzzzzzzzzzzzzzz D b\nffffffff81000200 T c");
	assert_null(kallsyms_select(&text, &address, 1));
	assert_string_equal(text.data, "ffffffff81000100 t a\nffffffff81000200 T c");
	strbuf_clear(&text);
	assert_null(kallsyms_select(&text, &address, 1));
	assert_int_equal(text.len, 0);
	strbuf_deinit(&text);
}

/* Names from the Itanium C++ ABI's and Rust RFC 2603's own examples, and what
 * perf 7.2 prints for them. */
static void test_demangle(void **state)
{
	static const struct {
		const char *mangled, *expected;
	} cases[] = {
		{ "main", NULL },
		{ "_start", NULL },
		{ "i", NULL },
		{ "_PyEval_EvalFrameDefault", NULL },
		{ "_Z1fv", "f()" },
		{ "_ZN2ns3lamEi", "ns::lam(int)" },
		{ "_ZN2ns3lamEi@plt", "ns::lam(int)@plt" },
		{ "_ZN2ns3lamEi.cold", "ns::lam(int) [clone .cold]" },
		{ "_ZN5hello4main17h0123456789abcdefE", "hello::main" },
		{ "_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$"
		  "$RP$$GT$..$u7b$$u7b$closure$u7d$$u7d$$GT$17h0123456789abcdef"
		  "E",
		  "core::ptr::drop_in_place<std::rt::lang_start<()>::"
		  "{{closure}}>" },
		{ "_RNvNtCsbDqzXfLQacH_5hello3foo3bar", "hello::foo::bar" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_free_ char *text = demangle(cases[i].mangled);

		if (!cases[i].expected)
			assert_null(text);
		else if (!text)
			fail_msg("%s", cases[i].mangled);
		else
			assert_string_equal(text, cases[i].expected);
	}
}

/* pair<pair<...>, pair<...>>, each level twice the text of the one before. */
static void test_demangle_stops_at_exponential_names(void **state)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	clock_t start = clock();

	(void)state;
	strbuf_puts(&name, "_Z1fSt4pairIiiE");
	for (int i = 0; i < 60; i++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
					     "WXYZ";
		char seq[8] = "";

		/* S_ is std::pair, S0_ the first pair<>, and so on. */
		if (i < 36)
			snprintf(seq, sizeof(seq), "%c", digits[i]);
		else
			snprintf(seq, sizeof(seq), "1%c", digits[i - 36]);
		strbuf_printf(&name, "S_IS%s_S%s_E", seq, seq);
	}
	free(demangle(name.data));
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

/* fn(&str) of a few lifetimes, of the most, and of 2^47 in the path of an impl,
 * which libiberty reads and does not print. */
static void test_demangle_stops_at_names_of_many_lifetimes(void **state)
{
	_cleanup_free_ char *few = demangle("_RIC1aFG1_RL0_eEuE");
	_cleanup_free_ char *most = demangle("_RIC1aFGZ_RL0_eEuE");
	clock_t start = clock();

	(void)state;
	assert_non_null(few);
	assert_string_equal(few, "a::<for<'a, 'b, 'c> fn(&'c str)>");
	assert_non_null(most);
	assert_null(demangle("_RNvMIC1aFGZZZZZZZZ_eEuEu1f"));
	assert_null(demangle("_RNvMIC1aDGZZZZZZZZ_C1bEL_Eu1f"));
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inner_symbol_wins_and_outer_goes_on),
		cmocka_unit_test(test_symbol_without_size_ends_at_the_next),
		cmocka_unit_test(test_end_of_address_space_does_not_wrap),
		cmocka_unit_test(test_best_alias_stays),
		cmocka_unit_test(test_last_entry_wins_everywhere),
		cmocka_unit_test(test_nearest_start_wins_everywhere),
		cmocka_unit_test(test_perf_map_of_cpython),
		cmocka_unit_test(test_perf_map_of_a_reused_pid),
		cmocka_unit_test(test_perf_map_skips_what_is_no_entry),
		cmocka_unit_test(test_perf_map_name_cannot_break_a_line),
		cmocka_unit_test(test_perf_map_line_of_a_megabyte),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_kallsyms_odd_lines),
		cmocka_unit_test(test_kallsyms_without_addresses),
		cmocka_unit_test(test_kallsyms_select),
		cmocka_unit_test(test_kallsyms_select_of_odd_lines),
		cmocka_unit_test(test_demangle),
		cmocka_unit_test(test_demangle_stops_at_exponential_names),
		cmocka_unit_test(test_demangle_stops_at_names_of_many_lifetimes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
