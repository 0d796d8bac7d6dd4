/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the code of the evaluation function lies. Compilers cut it in parts:
 * with symbols these are named _PyEval_EvalFrameDefault.cold and the like (2.7:
 * PyEval_EvalFrameEx); in
 * a stripped file (Debian's 3.14 and 3.15, where the body is such a part) only
 * the jumps between the parts tell: no other code jumps into the middle
 * of a function.
 */
#ifndef KAA_PYTHON_EVAL_RANGE_H
#define KAA_PYTHON_EVAL_RANGE_H

#include "base/error.h"
#include "obj/elf_file.h"
#include "python/detect.h"

/*
 * Fills eval, eval_count, eval_entry and tail_calls of *binary, whose version
 * is set. A file that does not tell leaves them 0; that is no error. pieces
 * may be NULL.
 */
struct error *py_eval_find(struct elf_file *file,
			   const struct py_code_pieces *pieces,
			   struct py_binary *binary);

#endif
