// SPDX-License-Identifier: GPL-2.0-only
#include "python/numpy_text.h"

#include <inttypes.h>
#include <string.h>

#include "python/code_name.h"
#include "python/double_text.h"

enum {
	/* Items, and dimensions, that are shown; more dimensions no array has. */
	ITEMS_MAX = 6,
	SHAPE_MAX = 8,
	DIMENSIONS_MAX = 64,
	NUMBER_SIZE_MAX = 16,
	/* Of PyArrayObject_fields, behind the head. */
	ARRAY_SIZE = 80,
};

enum number_kind { BOOL, SIGNED, UNSIGNED, FLOAT, COMPLEX };

/* name: of the type of its scalars, without "numpy.". */
static const struct number {
	const char *name;
	enum number_kind kind;
	uint8_t size;
} numbers[] = {
	/* Of numpy 1 and of 2. */
	{ "bool_", BOOL, 1 },	    { "bool", BOOL, 1 },
	{ "int8", SIGNED, 1 },	    { "int16", SIGNED, 2 },
	{ "int32", SIGNED, 4 },	    { "int64", SIGNED, 8 },
	{ "longlong", SIGNED, 8 },  { "uint8", UNSIGNED, 1 },
	{ "uint16", UNSIGNED, 2 },  { "uint32", UNSIGNED, 4 },
	{ "uint64", UNSIGNED, 8 },  { "ulonglong", UNSIGNED, 8 },
	{ "float32", FLOAT, 4 },    { "float64", FLOAT, 8 },
	{ "complex64", COMPLEX, 8 }, { "complex128", COMPLEX, 16 },
};

/* What stands behind "numpy."; NULL: it is none of its types. */
static const char *short_name(const char *name)
{
	static const char module[] = "numpy.";

	return strncmp(name, module, sizeof(module) - 1) ?
		       NULL :
		       name + sizeof(module) - 1;
}

static const struct number *number_of(const char *name)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(name, numbers[i].name))
			return &numbers[i];
	return NULL;
}

/* --- numbers --- */

static void put_integer(struct strbuf *out, const struct number *number,
			 const uint8_t *bytes)
{
	uint64_t value = 0;
	unsigned int unused = 64 - number->size * 8u;

	memcpy(&value, bytes, number->size);
	if (number->kind == SIGNED)
		strbuf_printf(out, "%" PRId64,
			      (int64_t)(value << unused) >> unused);
	else
		strbuf_printf(out, "%" PRIu64, value);
}

static void put_part(struct strbuf *out, size_t size, const uint8_t *bytes)
{
	double value;
	float single;

	if (size == sizeof(single)) {
		memcpy(&single, bytes, sizeof(single));
		py_single_put(out, single);
	} else {
		memcpy(&value, bytes, sizeof(value));
		py_double_put(out, value);
	}
}

/* 1.5-2j: without ".0". */
static void put_complex(struct strbuf *out, size_t size, const uint8_t *bytes)
{
	for (size_t i = 0; i < 2; i++) {
		_cleanup_strbuf_ struct strbuf part = STRBUF_INIT;

		put_part(&part, size, bytes + i * size);
		if (part.len > 2 && !strcmp(part.data + part.len - 2, ".0"))
			strbuf_truncate(&part, part.len - 2);
		strbuf_printf(out, "%s%s", i && *part.data != '-' ? "+" : "",
			      part.data);
	}
	strbuf_putc(out, 'j');
}

static void put_number(struct strbuf *out, const struct number *number,
		       const uint8_t *bytes)
{
	if (number->kind == BOOL)
		strbuf_puts(out, *bytes ? "True" : "False");
	else if (number->kind == FLOAT)
		put_part(out, number->size, bytes);
	else if (number->kind == COMPLEX)
		put_complex(out, number->size / 2, bytes);
	else
		put_integer(out, number, bytes);
}

static bool put_scalar(struct py_objects_reader *r, uint64_t object,
		       const struct py_type *type, const char *name,
		       struct strbuf *out)
{
	const struct number *number = number_of(name);
	uint8_t bytes[NUMBER_SIZE_MAX];
	uint64_t size = (uint64_t)type->basic_size - py_behind_head(r, 0);

	/* Objects end at a multiple of eight bytes. */
	if (!number || size != ((number->size + 7u) & ~7u) ||
	    !py_read_bytes(r, py_behind_head(r, object), bytes, number->size))
		return false;
	strbuf_printf(out, "numpy.%s(", name);
	put_number(out, number, bytes);
	strbuf_putc(out, ')');
	return true;
}

/* --- arrays --- */

/* PyArrayObject_fields, as far as it is read, behind the head. */
struct array {
	uint64_t data;
	int32_t dimension_count;
	uint32_t padding;
	uint64_t dimensions;
	uint64_t strides;
	uint64_t base;
	uint64_t description;
};

/* PyArray_Descr, behind the head: pointer to the type of scalars; chars. */
struct description {
	uint64_t type;
	char kind;
	char letter;
	char byte_order;
	char flags;
};

/* Before 1.22 it has fewer pointers. */
static bool is_array(const struct py_objects_reader *r,
		     const struct py_type *type, const char *name)
{
	return !strcmp(name, "ndarray") &&
	       type->basic_size - (int64_t)py_behind_head(r, 0) == ARRAY_SIZE;
}

static bool read_array(struct py_objects_reader *r, uint64_t object,
		       struct array *ret, struct description *description,
		       char name[PY_TYPE_NAME_MAX])
{
	struct py_type type;

	return py_read_bytes(r, py_behind_head(r, object), ret, sizeof(*ret)) &&
	       ret->dimension_count >= 0 &&
	       ret->dimension_count <= DIMENSIONS_MAX &&
	       py_read_bytes(r, py_behind_head(r, ret->description),
			     description, sizeof(*description)) &&
	       py_type_of(r, description->type, &type) &&
	       (type.flags & PY_TYPE_TYPE) &&
	       py_type_name(r, description->type, name);
}

/* False: they cannot be read, and nothing was put. */
static bool put_items(struct py_objects_reader *r, const struct array *array,
		      const struct number *number, struct strbuf *out)
{
	size_t start = out->len;
	uint64_t count, i, stride;
	uint8_t bytes[NUMBER_SIZE_MAX];

	if (!py_read_pointer(r, array->dimensions, &count) ||
	    !py_read_pointer(r, array->strides, &stride))
		return false;
	strbuf_putc(out, '[');
	for (i = 0; i < count && i < ITEMS_MAX; i++) {
		if (!py_read_bytes(r, array->data + i * stride, bytes,
				   number->size)) {
			strbuf_truncate(out, start);
			return false;
		}
		strbuf_puts(out, i ? ", " : "");
		put_number(out, number, bytes);
	}
	if (i < count)
		strbuf_printf(out, ", ...%" PRIu64 " in all", count);
	strbuf_putc(out, ']');
	return true;
}

static bool put_shape(struct py_objects_reader *r, const struct array *array,
		      struct strbuf *out)
{
	int n = array->dimension_count < SHAPE_MAX ? array->dimension_count :
						     SHAPE_MAX;
	int64_t dimensions[SHAPE_MAX];

	if (n && !py_read_bytes(r, array->dimensions, dimensions,
				(size_t)n * sizeof(dimensions[0])))
		return false;
	strbuf_puts(out, "shape=(");
	for (int i = 0; i < n; i++)
		strbuf_printf(out, "%s%" PRId64, i ? ", " : "", dimensions[i]);
	strbuf_puts(out, n < array->dimension_count ? ", ...)" :
			 n == 1			    ? ",)" :
						      ")");
	return true;
}

/* Of the types whose names end so that they are not Python's own: "str_". */
static void put_dtype(const char *name, struct strbuf *out)
{
	const char *own = short_name(name);
	size_t size;

	if (own)
		name = own;
	size = strlen(name);
	if (own && size && name[size - 1] == '_')
		size--;
	strbuf_puts(out, ", dtype=");
	py_text_append_utf8(out, (struct bytes){ (const uint8_t *)name, size },
			    PY_TYPE_NAME_MAX);
	strbuf_putc(out, ')');
}

static bool put_array(struct py_objects_reader *r, uint64_t object,
		      struct strbuf *out)
{
	const struct number *number = NULL;
	struct description description;
	char name[PY_TYPE_NAME_MAX];
	size_t start = out->len;
	struct array array;

	if (!read_array(r, object, &array, &description, name))
		return false;
	/* Big-endian ones are '>'. */
	if (array.dimension_count == 1 && description.byte_order != '>' &&
	    short_name(name))
		number = number_of(short_name(name));
	strbuf_puts(out, "array(");
	if (!(number && put_items(r, &array, number, out)) &&
	    !put_shape(r, &array, out)) {
		strbuf_truncate(out, start);
		return false;
	}
	put_dtype(name, out);
	return true;
}

bool py_numpy_put(struct py_objects_reader *r, uint64_t object,
		  const struct py_type *type, const char *name,
		  struct strbuf *out)
{
	const char *own = short_name(name);

	if (!own || (type->flags & PY_TYPE_HEAP))
		return false;
	return is_array(r, type, own) ? put_array(r, object, out) :
					put_scalar(r, object, type, own, out);
}
