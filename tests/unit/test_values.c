// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects of the standard library and of numpy in words, in made-up memory
 * (made_world.h): what they hold, and what is said of those that are not what they
 * seem. tests/live/test_dump.py has real ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "made_world.h"
#include "python/object_text.h"
#include "python/releases.h"

enum {
	VERSION = 0x030c01f0,
	HEAD = 16,
	/* Where this puts the name of a type, and its slots. */
	NAME_PLACE = 0x400,
	MEMBERS_PLACE = 0x480,
	MEMBER_SIZE = 40,

	/* Places in the world. */
	TYPE = WORLD_BASE + 0x1000,
	INT_TYPE = WORLD_BASE + 0x2000,
	TUPLE_TYPE = WORLD_BASE + 0x3000,
	TYPE_TYPE = WORLD_BASE + 0x4000,
	SCALAR_TYPE = WORLD_BASE + 0x5000,
	BASE_TYPE = WORLD_BASE + 0x6000,
	OBJECT = WORLD_BASE + 0x8000,
	SECOND = WORLD_BASE + 0x9000,
	BLOCKS = WORLD_BASE + 0xa000,
	NUMBERS = WORLD_BASE + 0xc000,
	MANY = WORLD_BASE + 0x20000,
	NOWHERE = 0x10,
};

static struct world made;

static const struct py_release *release(void)
{
	return py_release_find(VERSION);
}

static void put_string(uint64_t address, const char *text)
{
	strcpy((char *)made.bytes + (address - WORLD_BASE), text);
}

static void put_type(uint64_t type, const char *name, uint64_t size,
		     uint64_t flags)
{
	put_string(type + NAME_PLACE, name);
	put(&made, type + made.thread.process.layout.object_type, TYPE_TYPE);
	put(&made, type + made.thread.process.layout.type_name,
	    type + NAME_PLACE);
	put(&made, type + release()->objects.type_basic_size, HEAD + size);
	put(&made, type + release()->objects.type_flags, flags);
	put(&made, type + release()->tasks.type_base, 0);
}

/* OBJECT, of a type of C with that name. */
static void make(const char *name, uint64_t size)
{
	world_init(&made, VERSION, WORLD_SIZE_MAX);
	put_type(TYPE_TYPE, "type", 0, PY_TYPE_TYPE);
	put_type(TYPE, name, size, 0);
	put_type(INT_TYPE, "int", 8, PY_TYPE_INT);
	put_type(TUPLE_TYPE, "tuple", 8, PY_TYPE_TUPLE);
	put(&made, OBJECT + 8, TYPE);
}

/* Word i behind the head. */
static void word(uint64_t object, size_t i, uint64_t value)
{
	put(&made, object + HEAD + i * 8, value);
}

static uint64_t number(uint32_t value)
{
	uint64_t object = NUMBERS + value * 32ul;

	put(&made, object + 8, INT_TYPE);
	put(&made, object + release()->values.tuple_items - 8, 1 << 3);
	put(&made, object + release()->objects.int_digits, value);
	return object;
}

static void assert_words(const char *expected)
{
	static const struct py_builtins none = { .none = 1 };
	const struct py_memory memory = { world_read, &made, NULL };
	struct py_objects_reader objects = PY_OBJECTS_INIT(
		&made.thread.process.layout, &release()->objects, &memory);
	struct py_value_reader v = { &objects, &release()->values, &none };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	py_value_put(&v, OBJECT, &out);
	assert_string_equal(out.data, expected);
}

/* --- deque --- */

static void make_deque(uint64_t count, uint64_t index, int64_t max)
{
	make("collections.deque", 200);
	word(OBJECT, 0, count);
	word(OBJECT, 1, BLOCKS);
	word(OBJECT, 3, index);
	word(OBJECT, 6, (uint64_t)max);
	for (uint64_t i = 0; i < 64; i++)
		put(&made, BLOCKS + 8 + i * 8, number(100));
	put(&made, BLOCKS + 8 + 64 * 8, BLOCKS + 0x800);
	put(&made, BLOCKS + 0x808, number(7));
	put(&made, BLOCKS + 0x810, number(8));
}

static void test_deque(void **state)
{
	(void)state;
	make_deque(3, 62, -1);
	assert_words("deque([100, 100, 7])");
	make_deque(3, 63, 3);
	assert_words("deque([100, 7, 8], maxlen=3)");
	make_deque(64, 0, -1);
	assert_words("deque([100, 100, 100, 100, 100, 100, ...64 in all])");
	make_deque(0, 32, -1);
	assert_words("deque([])");
	/* It is in itself. */
	make_deque(2, 0, -1);
	put(&made, BLOCKS + 16, OBJECT);
	assert_words("deque([100, [...]])");
}

static void test_deque_that_is_wrong(void **state)
{
	(void)state;
	make_deque(3, 64, -1);
	assert_words("<collections.deque at 0x108000>");
	make_deque(UINT64_MAX, 63, -1);
	put(&made, BLOCKS + 8 + 64 * 8, NOWHERE);
	assert_words("deque([100, ...18446744073709551615 in all])");
	make_deque(1, 0, -1);
	word(OBJECT, 1, NOWHERE);
	assert_words("deque([...1 in all])");
	/* A class of the program has the name. */
	make_deque(1, 0, -1);
	put(&made, TYPE + release()->objects.type_flags, PY_TYPE_HEAP);
	assert_words("<collections.deque at 0x108000>");
	put(&made, TYPE + release()->objects.type_flags,
	    PY_TYPE_HEAP | PY_TYPE_IMMUTABLE);
	assert_words("deque([100])");
}

/* --- bytes, ranges --- */

static void test_bytearray(void **state)
{
	(void)state;
	make("bytearray", 40);
	word(OBJECT, 0, 3);
	word(OBJECT, 3, BLOCKS);
	put_string(BLOCKS, "a\x1b\"");
	assert_words("bytearray(b'a\\x1b\"')");
	word(OBJECT, 3, NOWHERE);
	assert_words("bytearray(<unreadable>)");
}

static void test_range_and_slice(void **state)
{
	(void)state;
	make("range", 32);
	word(OBJECT, 0, number(0));
	word(OBJECT, 1, number(9));
	word(OBJECT, 2, number(1));
	assert_words("range(0, 9)");
	word(OBJECT, 2, number(2));
	assert_words("range(0, 9, 2)");
	put_string(TYPE + NAME_PLACE, "slice");
	word(OBJECT, 1, 1);
	assert_words("slice(0, None, 2)");
}

/* --- dates --- */

static void make_moment(const char *name, uint64_t size, const char *fields,
			size_t count)
{
	make(name, size);
	memcpy(made.bytes + (OBJECT - WORLD_BASE) + HEAD + 8, fields, count);
}

static void test_dates(void **state)
{
	(void)state;
	make_moment("datetime.date", 16, "\0\7\350\2\35", 5);
	assert_words("datetime.date(2024, 2, 29)");
	make_moment("datetime.datetime", 32, "\0\7\350\2\35\15\5\0\0\0\0\0", 12);
	assert_words("datetime.datetime(2024, 2, 29, 13, 5)");
	make_moment("datetime.datetime", 32, "\0\7\350\2\35\15\5\11\0\0\7\1", 12);
	assert_words("datetime.datetime(2024, 2, 29, 13, 5, 9, 7, fold=1)");
	make_moment("datetime.time", 24, "\1\3\4\0\0\0\0\0", 8);
	word(OBJECT, 2, 1);
	assert_words("datetime.time(3, 4, tzinfo=None)");
	/* Of another size it is not what the name says. */
	make_moment("datetime.date", 24, "\0\7\350\2\35", 5);
	assert_words("<datetime.date at 0x108000>");
}

static void test_time_zones(void **state)
{
	(void)state;
	make("datetime.timezone", 16);
	word(OBJECT, 0, SECOND);
	assert_words("datetime.timezone.utc");
	put_int(&made, SECOND + HEAD + 8, -1);
	put_int(&made, SECOND + HEAD + 12, 70200);
	assert_words("datetime.timezone(datetime.timedelta(days=-1, seconds=70200))");
	word(OBJECT, 1, number(5));
	assert_words("datetime.timezone(datetime.timedelta(days=-1, seconds=70200), 5)");
	word(OBJECT, 0, NOWHERE);
	assert_words("<datetime.timezone at 0x108000>");
	/* It is its own name. */
	word(OBJECT, 0, SECOND);
	word(OBJECT, 1, OBJECT);
	made.reads = 0;
	assert_words("datetime.timezone(datetime.timedelta(days=-1, seconds=70200), datetime.timezone(datetime.timedelta(days=-1, seconds=702...)");
	assert_in_range(made.reads, 1, 1000);
}

/* --- decimal numbers --- */

static void make_decimal(uint64_t flags, int64_t exponent, uint64_t first,
			 uint64_t words)
{
	make("decimal.Decimal", 88);
	word(OBJECT, 1, flags);
	word(OBJECT, 2, (uint64_t)exponent);
	word(OBJECT, 3, words * 19);
	word(OBJECT, 4, words);
	word(OBJECT, 6, BLOCKS);
	put(&made, BLOCKS, words == 1 ? first : 7);
	put(&made, BLOCKS + 8, first);
}

static void test_decimals(void **state)
{
	static const struct {
		uint64_t flags;
		int64_t exponent;
		uint64_t first;
		uint64_t words;
		const char *expected;
	} cases[] = {
		{ 0, 0, 0, 1, "Decimal('0')" },
		{ 1, -2, 150, 1, "Decimal('-1.50')" },
		{ 0, -3, 150, 1, "Decimal('0.150')" },
		{ 0, -6, 1, 1, "Decimal('0.000001')" },
		{ 0, -7, 1, 1, "Decimal('1E-7')" },
		{ 0, 19, 15, 1, "Decimal('1.5E+20')" },
		{ 0, 0, 5, 2, "Decimal('50000000000000000007')" },
		{ 0xf0, -19, 5, 2, "Decimal('5.0000000000000000007')" },
		{ 3, 0, 0, 0, "Decimal('-Infinity')" },
		{ 4, 0, 0, 0, "Decimal('NaN')" },
		{ 8, 0, 12, 1, "Decimal('sNaN12')" },
		/* No decimal numbers. */
		{ 0, INT64_MAX, 1, 1, "Decimal('1E+9223372036854775807')" },
		{ 0, INT64_MIN, 1, 1, "Decimal('1E-9223372036854775808')" },
		{ 0, 0, UINT64_MAX, 1, "Decimal('18446744073709551615')" },
		{ 0, 0, 1, 0, "<decimal.Decimal at 0x108000>" },
		{ 0, 0, 1, 1000, "<Decimal of 19000 digits>" },
		{ 0, 0, 1, UINT64_MAX, "<decimal.Decimal at 0x108000>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_decimal(cases[i].flags, cases[i].exponent, cases[i].first,
			     cases[i].words);
		assert_words(cases[i].expected);
	}
	word(OBJECT, 4, 1);
	word(OBJECT, 6, NOWHERE);
	assert_words("<decimal.Decimal at 0x108000>");
}

/* --- slots and errors --- */

static void put_member(uint64_t type, size_t i, const char *name,
		       uint64_t kind, uint64_t offset)
{
	uint64_t place = type + MEMBERS_PLACE + i * MEMBER_SIZE;

	put_string(type + 0x800 + i * 16, name);
	put(&made, place, type + 0x800 + i * 16);
	put(&made, place + 8, kind);
	put(&made, place + 16, offset);
	put(&made, type + release()->tasks.type_base - 16, type + MEMBERS_PLACE);
}

static void make_class(void)
{
	make("Point", 32);
	put_type(BASE_TYPE, "Base", 16, PY_TYPE_HEAP);
	put(&made, TYPE + release()->objects.type_flags, PY_TYPE_HEAP);
	put(&made, TYPE + release()->tasks.type_base, BASE_TYPE);
	put_member(BASE_TYPE, 0, "x", 16, HEAD);
	put_member(TYPE, 0, "y", 16, HEAD + 8);
	put_member(TYPE, 1, "unset", 16, HEAD + 16);
	word(OBJECT, 0, number(3));
	word(OBJECT, 1, number(4));
}

static void test_slots(void **state)
{
	(void)state;
	make_class();
	assert_words("<Point at 0x108000: x=3, y=4>");
	/* A long of C, and places that are none. */
	put_member(TYPE, 0, "y", 1, HEAD + 8);
	put_member(TYPE, 1, "far", 16, UINT64_MAX - 8);
	put_member(TYPE, 2, "farther", 16, 1ul << 40);
	assert_words("<Point at 0x108000: x=3>");
	/* Of types of C no members are told. */
	put(&made, TYPE + release()->objects.type_flags, 0);
	assert_words("<Point at 0x108000>");
}

static void test_slots_without_end(void **state)
{
	(void)state;
	make_class();
	/* The class is its own base, and has slots that are never set. */
	put(&made, TYPE + release()->tasks.type_base, TYPE);
	put(&made, TYPE + release()->tasks.type_base - 16, MANY);
	for (uint64_t member = MANY; member < MANY + 1000 * MEMBER_SIZE;
	     member += MEMBER_SIZE) {
		put(&made, member, TYPE + NAME_PLACE);
		put(&made, member + 8, 16);
		put(&made, member + 16, HEAD + 24);
	}
	made.reads = 0;
	assert_words("<Point at 0x108000>");
	assert_in_range(made.reads, 1, 5000);
}

static void test_errors(void **state)
{
	(void)state;
	make("pkg.BadError", 56);
	put(&made, TYPE + release()->objects.type_flags, PY_TYPE_ERROR);
	word(OBJECT, 1, SECOND);
	put(&made, SECOND + 8, TUPLE_TYPE);
	assert_words("BadError()");
	put(&made, SECOND + HEAD, 2);
	put(&made, SECOND + release()->values.tuple_items, number(2));
	put(&made, SECOND + release()->values.tuple_items + 8, OBJECT);
	assert_words("BadError(2, (...))");
	put(&made, SECOND + 8, INT_TYPE);
	assert_words("<pkg.BadError at 0x108000>");
}

/* --- numpy --- */

static void make_array(const char *dtype, int32_t dimensions, uint64_t count,
		       uint64_t stride)
{
	make("numpy.ndarray", 80);
	put_type(SCALAR_TYPE, dtype, 8, 0);
	word(OBJECT, 0, BLOCKS);
	word(OBJECT, 1, (uint64_t)(uint32_t)dimensions);
	word(OBJECT, 2, BLOCKS + 0x100);
	word(OBJECT, 3, BLOCKS + 0x200);
	word(OBJECT, 5, SECOND);
	word(SECOND, 0, SCALAR_TYPE);
	put_byte(&made, SECOND + HEAD + 10, '=');
	put(&made, BLOCKS + 0x100, count);
	put(&made, BLOCKS + 0x108, 4);
	put(&made, BLOCKS + 0x200, stride);
	for (uint32_t i = 0; i < 8; i++)
		put_int(&made, BLOCKS + i * 4, -(int32_t)i);
}

static void test_arrays(void **state)
{
	(void)state;
	make_array("numpy.int32", 1, 3, 4);
	assert_words("array([0, -1, -2], dtype=int32)");
	make_array("numpy.int32", 1, 2, 8);
	assert_words("array([0, -2], dtype=int32)");
	make_array("numpy.int32", 1, 7, 0);
	assert_words("array([0, 0, 0, 0, 0, 0, ...7 in all], dtype=int32)");
	make_array("numpy.int32", 2, 3, 4);
	assert_words("array(shape=(3, 4), dtype=int32)");
	make_array("numpy.str_", 1, 3, 4);
	assert_words("array(shape=(3,), dtype=str)");
	make_array("other.bfloat16", 0, 3, 4);
	assert_words("array(shape=(), dtype=other.bfloat16)");
}

static void test_arrays_that_are_wrong(void **state)
{
	(void)state;
	/* Big-endian, and not there. */
	make_array("numpy.int32", 1, 3, 4);
	put_byte(&made, SECOND + HEAD + 10, '>');
	assert_words("array(shape=(3,), dtype=int32)");
	make_array("numpy.int32", 1, 3, 1ul << 62);
	assert_words("array(shape=(3,), dtype=int32)");
	make_array("numpy.int32", 65, 3, 4);
	assert_words("<numpy.ndarray at 0x108000>");
	make_array("numpy.int32", -1, 3, 4);
	assert_words("<numpy.ndarray at 0x108000>");
	make_array("numpy.int32", 64, 3, 4);
	word(OBJECT, 2, NOWHERE);
	assert_words("<numpy.ndarray at 0x108000>");
	/* What says which numbers they are is no type. */
	make_array("numpy.int32", 1, 3, 4);
	put(&made, SCALAR_TYPE + 8, INT_TYPE);
	assert_words("<numpy.ndarray at 0x108000>");
	/* A version that is not known. */
	make_array("numpy.int32", 1, 3, 4);
	put(&made, TYPE + release()->objects.type_basic_size, HEAD + 88);
	assert_words("<numpy.ndarray at 0x108000>");
}

static void test_numbers_of_numpy(void **state)
{
	(void)state;
	make("numpy.float32", 8);
	word(OBJECT, 0, 0x3dcccccd);
	assert_words("numpy.float32(0.1)");
	make("numpy.complex128", 16);
	word(OBJECT, 0, 0x3ff8000000000000);
	word(OBJECT, 1, 0xc000000000000000);
	assert_words("numpy.complex128(1.5-2j)");
	make("numpy.bool", 8);
	word(OBJECT, 0, 1);
	assert_words("numpy.bool(True)");
	make("numpy.uint8", 8);
	word(OBJECT, 0, 0xffff);
	assert_words("numpy.uint8(255)");
	make("numpy.int16", 8);
	word(OBJECT, 0, 0xffff);
	assert_words("numpy.int16(-1)");
	/* Of another size, and of a name that is not known. */
	make("numpy.int16", 16);
	assert_words("<numpy.int16 at 0x108000>");
	make("numpy.longdouble", 16);
	assert_words("<numpy.longdouble at 0x108000>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deque),
		cmocka_unit_test(test_deque_that_is_wrong),
		cmocka_unit_test(test_bytearray),
		cmocka_unit_test(test_range_and_slice),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_time_zones),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_slots_without_end),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_arrays_that_are_wrong),
		cmocka_unit_test(test_numbers_of_numpy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
