/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The argument of --time, in perf's forms:
 *
 *	1.5,2.25  1.5,  ,2.25	from and to in seconds, either may be missing
 *	"1,2 3,4"		several, in order, none touching the next
 *	10%			the first tenth of the recording
 *	10%/2,10%/4		the second tenth and the fourth
 *	0%-10%,30%-40%		parts of the recording
 */
#ifndef KAA_CMD_READING_TIME_RANGES_H
#define KAA_CMD_READING_TIME_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "convert/convert.h"

struct time_ranges VEC_BODY(struct convert_time);

/* The text speaks of parts of a recording, so its first and last time count. */
bool time_ranges_need_bounds(const char *text);

/*
 * Appends what text names, in ns of the recording's clock. first, last: of the
 * recording's samples, for percentages. ERROR_INVALID_ARGUMENT with what is
 * wrong.
 */
struct error *time_ranges_parse(const char *text, uint64_t first, uint64_t last,
				struct time_ranges *ret);

#endif
