/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoint samples as text, made by a process that can do nothing else.
 *
 * libtraceevent trusts the formats that a recording brings, and who made that is
 * not known. So a child reads them, which before that gives up all system calls
 * but those for memory and for its one socket (seccomp(2)). Memory and CPU time of it
 * are limited, far beyond what formats of Linux take. If it ends, the formats were
 * damaged: that is an error, and the recording stays readable.
 */
#ifndef KAA_VIEW_SCRIPT_TRACE_H
#define KAA_VIEW_SCRIPT_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "perfdata/trace_events.h"

struct script_trace;

/*
 * Starts the child with a section TRACING_DATA. options->function is called
 * here, in this process, whenever the child asks.
 */
struct error *script_trace_start(const void *section, size_t size,
				 const struct trace_events_options *options,
				 struct script_trace **ret);
/*
 * Appends the fields of a sample. ERROR_FORMAT if the child is gone: its formats
 * are damaged.
 */
struct error *script_trace_print(struct script_trace *trace, uint64_t id,
				 int32_t cpu, const void *raw, size_t size,
				 struct strbuf *out);
/* Ends the child. Legal on NULL. */
void script_trace_end(struct script_trace *trace);

#endif
