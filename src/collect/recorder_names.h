/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that no file has (collect/address_names.h): which addresses of a sample want
 * one, and when the names are written. See recorder_internal.h for errors and
 * threads.
 */
#ifndef KAA_COLLECT_RECORDER_NAMES_H
#define KAA_COLLECT_RECORDER_NAMES_H

#include "base/error.h"
#include "collect/target.h"
#include "perfdata/record.h"

struct recorder;

/*
 * Notes the addresses of a sample that no file will name: those of the chain
 * that stack_build() made last.
 */
struct error *recorder_wish_names(struct recorder *recorder,
				  const struct record *sample,
				  const struct target *target);

/*
 * Writes the names of processes that have ended: later another process may have
 * the number, or the folder may be gone.
 */
struct error *recorder_name_ended(struct recorder *recorder);

/* Writes all that are left; at the end. */
struct error *recorder_name_all(struct recorder *recorder);

#endif
