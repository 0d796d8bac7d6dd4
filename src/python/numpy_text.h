/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers and arrays of numpy in words: "numpy.float64(1.5)", "array([1, 2], dtype=int64)"
 * where there is one dimension of numbers, else "array(shape=(3, 4), dtype=float64)".
 * See python/library_text.h.
 */
#ifndef KAA_PYTHON_NUMPY_TEXT_H
#define KAA_PYTHON_NUMPY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "python/object.h"

/* As py_library_put(). */
bool py_numpy_put(struct py_objects_reader *r, uint64_t object,
		  const struct py_type *type, const char *name,
		  struct strbuf *out);

#endif
