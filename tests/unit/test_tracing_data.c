// SPDX-License-Identifier: GPL-2.0-only
/* The texts of tracefs, and the section of perf.data that they go to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "perfdata/features.h"
#include "perfdata/tracing_data.h"
#include "sys/tracefs.h"
#include "assert_ok.h"
#include "fake_tree.h"

static char root[] = "/tmp/kaa-test-tracefs-XXXXXX";

#define EVENTS "/sys/kernel/tracing/events/"

static const struct fake_file tree[] = {
	{ EVENTS "header_page", "PAGE\n" },
	{ EVENTS "header_event", "EVENT\n" },
	{ EVENTS "enable", "0\n" },
	{ EVENTS "irq/enable", "0\n" },
	{ EVENTS "irq/irq_handler_entry/id", "225\n" },
	{ EVENTS "irq/irq_handler_entry/format", "name: irq_handler_entry\n" },
	{ EVENTS "sched/sched_switch/id", "372\n" },
	{ EVENTS "sched/sched_switch/format", "name: sched_switch\n" },
	{ EVENTS "sched/sched_wakeup/id", "374\n" },
	{ EVENTS "sched/sched_wakeup/format", "name: sched_wakeup\n" },
	{ EVENTS "sched/sched_waking/id", "375\n" },
	{ EVENTS "sched/sched_waking/format", "name: sched_waking\n" },
	{ "/sys/kernel/tracing/printk_formats", "0xffffffff8 : \"rcu\"\n" },
};

static int make_tree(void **state)
{
	(void)state;
	fake_tree_make(root, tree, sizeof(tree) / sizeof(*tree));
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	return fake_tree_remove(root);
}

static void check_fails(struct error *error, enum error_code code,
			const char *text)
{
	assert_non_null(error);
	assert_int_equal(error->code, code);
	if (!strstr(error->message, text))
		fail_msg("'%s' not in: %s", text, error->message);
	error_destroy(error);
}

static void check_format(const struct tracepoint_texts *texts, size_t i,
			 const char *system, const char *text)
{
	assert_true(i < texts->formats.count);
	assert_string_equal(texts->formats.data[i].system, system);
	assert_string_equal(texts->formats.data[i].text.data, text);
}

/* In the folder's order, each once, whatever the order and number of ids. */
static void check_texts(void)
{
	static const uint64_t ids[] = { 375, 225, 372, 375 };
	struct tracepoint_texts texts = TRACEPOINT_TEXTS_INIT;

	assert_ok(tracepoint_texts_read(root, ids, 4, &texts));
	assert_string_equal(texts.header_page.data, "PAGE\n");
	assert_string_equal(texts.header_event.data, "EVENT\n");
	assert_string_equal(texts.printk_formats.data,
			    "0xffffffff8 : \"rcu\"\n");
	assert_int_equal(texts.formats.count, 3);
	check_format(&texts, 0, "irq", "name: irq_handler_entry\n");
	check_format(&texts, 1, "sched", "name: sched_switch\n");
	check_format(&texts, 2, "sched", "name: sched_waking\n");
	tracepoint_texts_deinit(&texts);
}

static void test_texts(void **state)
{
	(void)state;
	check_texts();
}

/* Where only debugfs is mounted. */
static void test_texts_in_debugfs(void **state)
{
	char new[128], old[128], folder[128];

	(void)state;
	snprintf(folder, sizeof(folder), "%s/sys/kernel/debug", root);
	snprintf(old, sizeof(old), "%s/sys/kernel/tracing", root);
	snprintf(new, sizeof(new), "%s/sys/kernel/debug/tracing", root);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(rename(old, new), 0);
	check_texts();
	assert_int_equal(rename(new, old), 0);
}

static void test_texts_missing(void **state)
{
	static const uint64_t ids[] = { 372, 9999 };
	struct tracepoint_texts texts = TRACEPOINT_TEXTS_INIT;
	char path[128];

	(void)state;
	check_fails(tracepoint_texts_read(root, ids, 2, &texts),
		    ERROR_NOT_FOUND, "1 of the recorded tracepoints");
	tracepoint_texts_deinit(&texts);
	/* Who is not root needs that first. */
	if (geteuid())
		check_fails(tracepoint_texts_read("/nonexistent", ids, 1, &texts),
			    ERROR_PERMISSION, "only root may record");
	else
		check_fails(tracepoint_texts_read("/nonexistent", ids, 1, &texts),
			    ERROR_UNSUPPORTED, "mount -t tracefs nodev");
	tracepoint_texts_deinit(&texts);
	/* No printk_formats is no failure. */
	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/printk_formats",
		 root);
	assert_int_equal(unlink(path), 0);
	assert_ok(tracepoint_texts_read(root, ids, 1, &texts));
	assert_int_equal(texts.printk_formats.len, 0);
	assert_int_equal(texts.formats.count, 1);
	tracepoint_texts_deinit(&texts);
}

#define TEXT(s) { (const uint8_t *)(s), sizeof(s) - 1 }

static const struct tracing_format formats[] = {
	{ "ftrace", TEXT("F") },
	{ "irq", TEXT("II") },
	{ "sched", TEXT("S1") },
	{ "sched", TEXT("S2+") },
};

static void check_bytes(const struct tracing_data *data, const char *expected,
			size_t size)
{
	struct strbuf out = STRBUF_INIT;

	assert_ok(tracing_data_encode(data, &out));
	assert_int_equal(out.len, size);
	assert_memory_equal(out.data, expected, size);
	strbuf_deinit(&out);
}

/* Written out by hand after the description in tracing_data.h. */
#define U32(n) n "\0\0\0"
#define U64(n) U32(n) U32("\0")
#define START                                      \
	"\x17\x08\x44tracing0.6\0"                 \
	"\0"           /* little-endian */         \
	"\x08"         /* long */                  \
	"\0\x10\0\0"   /* 4096 */                  \
	"header_page\0" U64("\x05") "PAGE\n"       \
	"header_event\0" U64("\x06") "EVENT\n"

static void test_bytes(void **state)
{
	static const char expected[] = START
		U32("\x01")                    /* ftrace's formats */
			U64("\x01") "F"
		U32("\x02")                    /* systems */
			"irq\0" U32("\x01")
				U64("\x02") "II"
			"sched\0" U32("\x02")
				U64("\x02") "S1"
				U64("\x03") "S2+"
		U32("\0")                      /* kallsyms */
		U32("\x02") "P\n"              /* printk_formats */
		U64("\0");                     /* saved_cmdlines */
	const struct tracing_data data = {
		.page_size = 4096,
		.header_page = TEXT("PAGE\n"),
		.header_event = TEXT("EVENT\n"),
		.printk_formats = TEXT("P\n"),
		.formats = formats,
		.format_count = 4,
	};

	(void)state;
	check_bytes(&data, expected, sizeof(expected) - 1);
}

static void test_bytes_of_nothing(void **state)
{
	static const char expected[] = START
		U32("\0") U32("\0") U32("\0") U32("\0") U64("\0");
	const struct tracing_data data = {
		.page_size = 4096,
		.header_page = TEXT("PAGE\n"),
		.header_event = TEXT("EVENT\n"),
	};

	(void)state;
	check_bytes(&data, expected, sizeof(expected) - 1);
}

/* The section is kept as it is, and goes out as it came. */
/* The section of all formats, to be freed. */
static struct strbuf whole_section(void)
{
	const struct tracing_data data = {
		.page_size = 4096,
		.header_page = TEXT("PAGE\n"),
		.header_event = TEXT("EVENT\n"),
		.printk_formats = TEXT("0xf : \"x\"\n"),
		.formats = formats,
		.format_count = sizeof(formats) / sizeof(*formats),
	};
	struct strbuf out = STRBUF_INIT;

	assert_ok(tracing_data_encode(&data, &out));
	return out;
}

static bool same_text(const struct bytes *a, const struct bytes *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void test_taken_apart(void **state)
{
	struct strbuf out = whole_section();
	struct tracing_section section;

	(void)state;
	assert_ok(tracing_data_decode(out.data, out.len, &section));
	assert_int_equal(section.long_size, sizeof(long));
	assert_int_equal(section.page_size, 4096);
	assert_memory_equal(section.header_page.data, "PAGE\n", 5);
	assert_int_equal(section.formats.count,
			 sizeof(formats) / sizeof(*formats));
	for (size_t i = 0; i < section.formats.count; i++) {
		assert_string_equal(section.formats.data[i].system,
				    formats[i].system);
		assert_true(same_text(&section.formats.data[i].text,
				      &formats[i].text));
	}
	assert_memory_equal(section.printk_formats.data, "0xf : \"x\"\n", 10);
	tracing_section_deinit(&section);
	strbuf_deinit(&out);
}

/* What ends in the middle fails; what lacks the last texts alone does not. */
static void test_cut(void **state)
{
	struct strbuf out = whole_section();
	size_t whole = 0;

	(void)state;
	for (size_t n = 0; n <= out.len; n++) {
		struct tracing_section section;
		/* Of its own, so that a reader beyond its end is found. */
		char *copy = malloc(n ? n : 1);
		struct error *error;

		memcpy(copy, out.data, n);
		error = tracing_data_decode(copy, n, &section);
		if (!error) {
			whole++;
			assert_int_equal(section.formats.count, 4);
			tracing_section_deinit(&section);
		}
		error_destroy(error);
		free(copy);
	}
	assert_in_range(whole, 1, 40);
	strbuf_deinit(&out);
}

static void test_not_a_section(void **state)
{
	struct strbuf out = whole_section();
	struct tracing_section section;

	(void)state;
	out.data[14]++;
	check_fails(tracing_data_decode(out.data, out.len, &section),
		    ERROR_UNSUPPORTED, "big-endian");
	out.data[3] = 'T';
	check_fails(tracing_data_decode(out.data, out.len, &section),
		    ERROR_FORMAT, "unknown form");
	strbuf_deinit(&out);
}

static void test_feature(void **state)
{
	static const char section[] = "not looked at\0\377";
	struct features features = {};
	struct events events = {};
	struct strbuf out = STRBUF_INIT;
	struct reader reader = reader_init(section, sizeof(section));

	(void)state;
	assert_false(features_have(&features, FEATURE_TRACING_DATA));
	assert_ok(features_decode(&features, FEATURE_TRACING_DATA, &reader,
				  &events));
	assert_true(features_have(&features, FEATURE_TRACING_DATA));
	assert_ok(features_encode(&features, FEATURE_TRACING_DATA, &events,
				  &out));
	assert_int_equal(out.len, sizeof(section));
	assert_memory_equal(out.data, section, sizeof(section));
	/* A second one replaces the first. */
	assert_ok(features_set_tracing_data(&features, "x", 1));
	assert_int_equal(features.tracing_data.count, 1);
	assert_ok(features_set_tracing_data(&features, NULL, 0));
	assert_int_equal(features.tracing_data.count, 0);
	strbuf_deinit(&out);
	features_deinit(&features);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_texts_in_debugfs),
		cmocka_unit_test(test_texts_missing),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_of_nothing),
		cmocka_unit_test(test_feature),
		cmocka_unit_test(test_taken_apart),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_not_a_section),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
