/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoint samples as text: the raw bytes of a sample, put into words as the
 * tracepoint's own format says (perfdata/tracing_data.h).
 *
 * libtraceevent reads the formats, and trusts them: a broken one can end the
 * program. Formats of a stranger's file are for a process that has nothing to
 * lose (view/script/trace.h). Samples are handed to it in a buffer with zeros
 * behind, and an event that has a field beyond the largest sample is printed
 * without its fields. Plugins are code found by the environment: they are
 * loaded only if asked for, as perf does. Not thread-safe.
 */
#ifndef KAA_PERFDATA_TRACE_EVENTS_H
#define KAA_PERFDATA_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"

struct trace_events;

/*
 * The name of the kernel function at *address, which becomes where it begins;
 * or NULL. Valid until the next call.
 */
typedef const char *trace_function_fn(uint64_t *address, void *arg);

struct trace_events_options {
	/* Load libtraceevent's plugins, which word some events anew. */
	bool plugins;
	/* For formats that name functions; may be NULL. */
	trace_function_fn *function;
	void *arg;
};

/* Without any format yet. */
struct error *trace_events_create(const struct trace_events_options *options,
				  struct trace_events **ret);
/*
 * Reads a TRACING_DATA section. What breaks its form fails as
 * tracing_data_decode() does; a single format that cannot be read is left out.
 */
struct error *trace_events_read(struct trace_events *events,
				const void *section, size_t size);
void trace_events_destroy(struct trace_events *events);
DEFINE_CLEANUP(trace_events, struct trace_events *, trace_events_destroy);

/*
 * Appends the fields of a sample of the event with this id (attr.config);
 * nothing if there is no such event.
 */
struct error *trace_events_print(struct trace_events *events, uint64_t id,
				 int32_t cpu, const void *raw, size_t size,
				 struct strbuf *out);

#endif
