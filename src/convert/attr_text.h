/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event's attributes as a line, as perf's headers and verbose output have
 * them. Fields and bits: Linux uapi perf_event.h.
 */
#ifndef KAA_CONVERT_ATTR_TEXT_H
#define KAA_CONVERT_ATTR_TEXT_H

#include <linux/perf_event.h>

#include "base/strbuf.h"

/*
 * Appends ", type = 1 (PERF_TYPE_SOFTWARE), size = 144, ...". type_name is the
 * name of the PMU with that type, for those that the kernel numbers when they
 * come; NULL: not known.
 */
void attr_text(const struct perf_event_attr *attr, const char *type_name,
	       struct strbuf *out);

#endif
