/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kaa report --tasks: who was there, and who started whom.
 */
#ifndef KAA_CMD_READING_REPORT_TASKS_H
#define KAA_CMD_READING_REPORT_TASKS_H

#include <stdio.h>

#include "base/error.h"
#include "perfdata/reader.h"

/* Reads all records; a line a thread, below the thread that started it. */
struct error *report_tasks(struct perfdata_reader *reader, FILE *out);

#endif
