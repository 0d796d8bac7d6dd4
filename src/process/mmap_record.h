/* SPDX-License-Identifier: GPL-2.0-only */
/* What an MMAP or MMAP2 record says, for process_table_mmap(). */
#ifndef KAA_PROCESS_MMAP_RECORD_H
#define KAA_PROCESS_MMAP_RECORD_H

#include "perfdata/record.h"
#include "process/process.h"

/* The path is borrowed from the record. */
struct process_mmap process_mmap_of_record(const struct record_mmap *record);

#endif
