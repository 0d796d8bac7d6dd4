/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracefs: what the kernel says about its tracepoints, in text.
 *
 * It is looked for in <root>/sys/kernel/tracing, then in
 * <root>/sys/kernel/debug/tracing. Only root may read it by default.
 *
 * Files: Documentation/trace/events.rst and ftrace.rst of Linux.
 */
#ifndef KAA_SYS_TRACEFS_H
#define KAA_SYS_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sys/file.h"

struct tracepoint_format {
	/* Owned. */
	char *system;
	/* The file `format`. */
	struct strbuf text;
};

/* Start with TRACEPOINT_TEXTS_INIT. */
struct tracepoint_texts {
	/* events/header_page and events/header_event. */
	struct strbuf header_page;
	struct strbuf header_event;
	/* printk_formats: strings that tracepoints pass by address. */
	struct strbuf printk_formats;
	/* Those of one system stand together; none stands twice. */
	VEC(struct tracepoint_format) formats;
};

#define TRACEPOINT_TEXTS_INIT                  \
	{ .header_page = STRBUF_INIT,          \
	  .header_event = STRBUF_INIT,         \
	  .printk_formats = STRBUF_INIT }

void tracepoint_texts_deinit(struct tracepoint_texts *texts);

/*
 * Finds the folder "events" and appends the names in it to *systems: the
 * systems, and some files. *folder is without root, and static.
 * Where tracefs is not mounted, it is for this process alone, if this user may:
 * no folder of the machine changes.
 * ERROR_PERMISSION if it may not be read; ERROR_UNSUPPORTED, with the command
 * that mounts it, if it is not mounted and cannot be so. Not thread-safe.
 */
struct error *tracefs_find(const char *root, const char **folder,
			   struct name_list *systems);

/*
 * Reads the texts about the tracepoints with these ids
 * (perf_event_attr.config). An id that no tracepoint has is ERROR_NOT_FOUND.
 * *texts must be freshly initialised, and deinitialised on failure too.
 */
struct error *tracepoint_texts_read(const char *root, const uint64_t *ids,
				    size_t count,
				    struct tracepoint_texts *texts);

#endif
