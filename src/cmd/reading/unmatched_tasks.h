/* SPDX-License-Identifier: GPL-2.0-only */
/* Words of --comms, --pid and --tid that found nothing; and all such lines. */
#ifndef KAA_CMD_READING_UNMATCHED_TASKS_H
#define KAA_CMD_READING_UNMATCHED_TASKS_H

#include "base/lists.h"
#include "base/strbuf.h"
#include "convert/convert.h"
#include "convert/seen_tasks.h"

/* Appends a line for each (view/unmatched.h); of all samples, whatever else was asked for. */
struct error *unmatched_tasks(const struct seen_tasks *seen,
			      const struct name_list *comms,
			      const struct id_list *pids,
			      const struct id_list *tids, struct strbuf *out);

/* Says on stderr what the options ask for and the recording, read by now, lacks. */
struct error *unmatched_tell(const struct convert_options *options,
			     struct converter *converter);

/* The lines on stderr, as far as they are not too many. */
void unmatched_print(const struct strbuf *lines);

#endif
