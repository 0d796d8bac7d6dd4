/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects of modules written in C, in words, as repr() has them: dates and times,
 * decimal numbers, and numpy's numbers and arrays.
 *
 * No header says where these modules keep their fields, but for datetime.h. They are
 * known by the name of the type and the size of its objects: what has another size is
 * no object of these. The fields are the same in CPython 3.8 to 3.15, with the GIL and
 * without, and in numpy 1.22 to 2.5, counted from behind the object's head. Sources:
 * Modules/_datetimemodule.c, Modules/_zoneinfo.c, Modules/_decimal (struct mpd_t);
 * numpy/ndarraytypes.h and numpy/arrayscalars.h.
 */
#ifndef KAA_PYTHON_LIBRARY_TEXT_H
#define KAA_PYTHON_LIBRARY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "python/object.h"

/* Puts an object that is within another one, such as a time zone. */
struct py_library_inner {
	void (*put)(void *arg, uint64_t object);
	void *arg;
};

/*
 * The object is of that type, or derived from it, and the type is one of C, with that
 * name. False: it is none of these, or cannot be read, and nothing was put.
 */
bool py_library_put(struct py_objects_reader *r, uint64_t object,
		    const struct py_type *type, const char *name,
		    const struct py_library_inner *inner, struct strbuf *out);

#endif
