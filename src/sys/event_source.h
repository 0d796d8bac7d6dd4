/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where event names come from; private to the event parser.
 *
 * The functions fill type, config* (and what terms say) of an event and leave
 * the rest.
 */
#ifndef KAA_SYS_EVENT_SOURCE_H
#define KAA_SYS_EVENT_SOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nearest.h"
#include "sys/event_parse.h"

/*
 * Hardware, software, cache and raw events by name: no file is read. False if
 * it is none of them.
 */
bool event_by_name(const char *name, struct event_choice *event);
/* Offers every such name. */
void event_names_near(struct nearest *nearest);

/* Is there <root>/sys/bus/event_source/devices/<pmu>? */
bool pmu_exists(const char *root, const char *pmu);
/*
 * "pmu/terms/". pmu NULL: terms for an event that has its type already, with
 * only period, freq and name allowed. *name: of a name= term, the caller's; or
 * untouched.
 */
struct error *event_by_pmu(const char *root, const char *pmu, const char *terms,
			   struct event_choice *event, char **name);
/*
 * A bare name that some PMU has among its events: *pmu is the PMU's name, the
 * caller's, or NULL if none has.
 */
struct error *pmu_with_event(const char *root, const char *name, char **pmu);

/*
 * Tracepoints system:name, both with * and ?; appends one event for each to
 * list, each named system:name. ERROR_NOT_FOUND if there is none,
 * ERROR_PERMISSION if tracefs may not be read, ERROR_UNSUPPORTED if it is not
 * mounted.
 */
struct error *events_by_tracepoint(const char *root, const char *system,
				   const char *name, struct event_list *list);

#endif
