/* SPDX-License-Identifier: GPL-2.0-only */
/* What a function that can fail returned. */
#ifndef KAA_UNIT_ASSERT_OK_H
#define KAA_UNIT_ASSERT_OK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

static inline void assert_ok(struct error *error)
{
	if (error)
		fail_msg("%s", error->message);
}

/* Takes the error. */
static inline void assert_fails(struct error *error, enum error_code code)
{
	assert_non_null(error);
	if (error->code != code)
		print_error("%s\n", error->message);
	assert_int_equal(error->code, code);
	error_destroy(error);
}

#endif
