/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event names as `perf record -e` takes them.
 *
 *	list	:= event { "," event } | "{" list "}" [ ":" modifiers ]
 *	event	:= name [ ":" modifiers ]
 *		 | pmu "/" [ term { "," term } ] "/" [ modifiers ]
 *		 | subsystem ":" tracepoint [ ":" modifiers ]
 *	name	:= hardware, software or cache event, or "r" hex
 *	term	:= config=N | config1=N | config2=N | period=N | freq=N
 *		 | name=TEXT | <event of the pmu> | <format of the pmu>[=N]
 *
 * Hardware events need no PMU to be parsed: whether the machine has them shows
 * when they are opened. PMU events and formats come from
 * <root>/sys/bus/event_source/devices, tracepoint ids from
 * <root>/sys/kernel/tracing or <root>/sys/kernel/debug/tracing. `*` and `?`
 * in a tracepoint give all that match.
 *
 * Modifiers (perf-list(1)): u k h (only these levels), p pp ppp P (precise),
 * G H (only guest, only host), I (not idle), D (pinned), e (exclusive).
 *
 * Sources: perf-list(1), Linux uapi perf_event.h, and
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-{events,format}.
 */
#ifndef KAA_SYS_EVENT_PARSE_H
#define KAA_SYS_EVENT_PARSE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct event_choice {
	/*
	 * As perf prints it in reports: what the user typed ("cycles:u",
	 * "faults", "cpu/config=1/"), or the text of a name= term, or
	 * "system:name" of a tracepoint (without modifiers); owned by the
	 * list.
	 */
	char *name;
	/* PERF_TYPE_* or a PMU's type number. */
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	/* From terms period= and freq=; 0: not given. At most one is set. */
	uint64_t period;
	uint64_t freq;
	/*
	 * Period where neither the event nor the user says one: 1 for
	 * tracepoints, as perf has it; 0: the recorder's default.
	 */
	uint64_t default_period;
	/* Index in the list of the group's first event; -1: no group. */
	int group_leader;
	/* 0 to 3; PRECISE_MAX: as precise as the machine can. */
	int precise;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool exclude_host;
	bool exclude_guest;
	bool exclude_idle;
	bool pinned;
	bool exclusive;
	/* A level modifier (u, k, h) was given: do not add others. */
	bool levels_given;
};

enum { PRECISE_MAX = 4 };

struct event_list VEC_BODY(struct event_choice);

/*
 * Appends the events of one -e argument. ERROR_INVALID_ARGUMENT for what
 * is no event, with near names; ERROR_NOT_FOUND and ERROR_PERMISSION for
 * tracepoints without tracefs. On failure the list is as before.
 */
struct error *events_parse(const char *root, const char *text,
			   struct event_list *list);

/*
 * The names of hardware, software and cache events: words, each with a blank
 * behind it. PMUs and tracepoints of a machine have more.
 */
void event_words(struct strbuf *out);

/* Frees the names too. */
void event_list_deinit(struct event_list *list);

/*
 * Sets type, config*, exclude_*, precise_ip, pinned, exclusive, and freq with
 * sample_period or sample_freq if the event brings one. Leaves all else; of
 * PRECISE_MAX it makes 3: lower it while opening fails.
 */
void event_apply(const struct event_choice *event, struct perf_event_attr *attr);

/*
 * What `record` samples when nothing is said: cycles, or cpu-clock where the
 * machine has no cycles to offer, which *fell_back says. Appends.
 */
struct error *events_default(const char *root, struct event_list *list,
			     bool *fell_back);

#endif
