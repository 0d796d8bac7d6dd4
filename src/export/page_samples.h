/* SPDX-License-Identifier: GPL-2.0-only */
/* Events, threads, samples, and what their time was spent on, as columns of a page. */
#ifndef KAA_EXPORT_PAGE_SAMPLES_H
#define KAA_EXPORT_PAGE_SAMPLES_H

#include "export/groups.h"
#include "export/page_columns.h"

/* Adds event.*, thread.*, group.*, sample.*, spent.* and time.*; numbers: page_stacks_add(). */
struct error *page_samples_add(const struct export_groups *groups,
			       const uint32_t *numbers,
			       struct page_columns *columns);

#endif
