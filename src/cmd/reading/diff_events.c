// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/diff_events.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "perfdata/kaa_stream.h"

/* Recordings of which a message tells the events. */
enum { TOLD_MAX = 4 };

static const char *event_name(const struct profile *profile, uint32_t event)
{
	return profile_string(profile, profile->events.data[event].name, "");
}

/* "cpu-clock" and "cpu-clock:u": one was recorded without the kernel. */
static bool lack_rights(const char *a, const char *b)
{
	size_t n = strcspn(a, ":");

	return n == strcspn(b, ":") && !strncmp(a, b, n) && strcmp(a, b) &&
	       (!strcmp(a + n, ":u") || !strcmp(b + n, ":u"));
}

/* Of that name; PROFILE_NONE: the recording has none. */
static uint32_t event_in(const struct profile *profile, uint32_t recording,
			 const char *name)
{
	for (uint32_t i = 0; i < profile->events.count; i++)
		if (profile->events.data[i].recording == recording &&
		    !strcmp(event_name(profile, i), name))
			return i;
	return PROFILE_NONE;
}

/* One that each recording has samples of, or PROFILE_NONE. */
static uint32_t common_event(const struct profile *profile)
{
	for (uint32_t i = 0; i < profile->events.count; i++) {
		uint32_t recordings = 0;

		for (uint32_t k = 0; k < profile->recordings.count; k++) {
			uint32_t other = event_in(profile, k,
						  event_name(profile, i));

			recordings += other != PROFILE_NONE &&
				      profile->events.data[other].samples;
		}
		if (recordings == profile->recordings.count &&
		    event_kind_is_shown(profile->events.data[i].kind))
			return i;
	}
	return PROFILE_NONE;
}

/* "cpu-clock, page-faults"; "no samples" */
static void put_events(const struct profile *profile, uint32_t recording,
		       struct strbuf *out)
{
	size_t before = out->len;

	for (uint32_t i = 0; i < profile->events.count; i++) {
		const struct profile_event *event = &profile->events.data[i];

		if (event->recording == recording && event->samples &&
		    event_kind_is_shown(event->kind))
			strbuf_printf(out, "%s%s", out->len > before ? ", " : "",
				      event_name(profile, i));
	}
	if (out->len == before)
		strbuf_puts(out, "no samples");
}

/* "'a.data' has cpu-clock, 'b.data' has wall-clock" */
static void put_all_events(const struct diff_event_search *s,
			   struct strbuf *out)
{
	uint32_t count = (uint32_t)s->profile->recordings.count;

	for (uint32_t i = 0; i < count && i < TOLD_MAX; i++) {
		strbuf_printf(out, "%s'%s' has ", i ? "; " : "",
			      s->paths[i]);
		put_events(s->profile, i, out);
	}
	if (count > TOLD_MAX)
		strbuf_printf(out, "; and so on (%" PRIu32 ")", count);
}

/* The option of kaa record that makes such an event. */
static void put_option(const struct profile *profile, uint32_t event,
		       struct strbuf *out)
{
	const char *name = event_name(profile, event);

	switch (profile->events.data[event].kind) {
	case EVENT_WALL:
		strbuf_puts(out, "--mode wall");
		return;
	case EVENT_GIL:
		strbuf_puts(out, "--mode gil");
		return;
	case EVENT_TASKS:
		strbuf_puts(out, "--async");
		return;
	default:
		break;
	}
	if (!strcmp(name, KAA_OFF_CPU))
		strbuf_puts(out, "--off-cpu");
	else
		strbuf_printf(out, "-e %s", name);
}

/* Of those that go with no other option for an event, or PROFILE_NONE. */
static uint32_t clock_event(const struct profile *profile, uint32_t recording)
{
	for (uint32_t i = 0; i < profile->events.count; i++)
		if (profile->events.data[i].recording == recording &&
		    event_kind_is_by_clock(profile->events.data[i].kind))
			return i;
	return PROFILE_NONE;
}

/*
 * From a file of another profiler that says how many samples there are, or how long they
 * took, and not of what.
 */
static bool is_of_others(const struct profile *profile, uint32_t recording)
{
	static const char *const names[] = { "samples", "time" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		uint32_t event = event_in(profile, recording, names[i]);

		if (event != PROFILE_NONE &&
		    profile->events.data[event].is_imported)
			return true;
	}
	return false;
}

/* What to do where a recording lacks the event of that name. */
static void put_way_out(const struct profile *profile, uint32_t recording,
			const char *name, struct strbuf *out)
{
	uint32_t own = clock_event(profile, recording);
	uint32_t common = common_event(profile), other = PROFILE_NONE;

	for (uint32_t i = 0; i < profile->recordings.count; i++)
		if (other == PROFILE_NONE)
			other = event_in(profile, i, name);
	if (common != PROFILE_NONE)
		strbuf_printf(out, "choose '--event %s', which all have",
			      event_name(profile, common));
	else if (is_of_others(profile, recording) ||
		 (other != PROFILE_NONE &&
		  is_of_others(profile, profile->events.data[other].recording))) {
		strbuf_puts(out,
			    "what was imported has no other events, and can be compared with the like of it alone");
		return;
	} else if (other == PROFILE_NONE)
		strbuf_puts(out, "record them again with the same events");
	if (other == PROFILE_NONE)
		return;
	if (out->len)
		strbuf_puts(out, ", or ");
	strbuf_puts(out, "record that one again with '");
	put_option(profile, other, out);
	strbuf_puts(out, "'");
	if (own == PROFILE_NONE)
		return;
	strbuf_puts(out, " instead of '");
	put_option(profile, own, out);
	strbuf_puts(out, "'");
}

static struct error *lacks_event(const struct diff_event_search *s,
				 uint32_t recording, const char *name)
{
	_cleanup_strbuf_ struct strbuf own = STRBUF_INIT, all = STRBUF_INIT,
				       way = STRBUF_INIT;
	const char *path = s->paths[recording];

	put_events(s->profile, recording, &own);
	if (!s->is_asked && lack_rights(name, own.data))
		return error_create(ERROR_NOT_FOUND,
				    "'%s' has no event '%s', only %s: record both with the same rights, best as root",
				    path, name, own.data);
	put_all_events(s, &all);
	put_way_out(s->profile, recording, name, &way);
	return error_create(ERROR_NOT_FOUND,
			    "'%s' has no event '%s' (%s): %s", path, name,
			    all.data, way.data);
}

struct error *diff_event_find(const struct diff_event_search *s,
			      uint32_t recording, const char *name,
			      uint32_t *ret)
{
	uint32_t event = event_in(s->profile, recording, name);

	if (event == PROFILE_NONE)
		return lacks_event(s, recording, name);
	if (!s->profile->events.data[event].samples)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' has no samples of '%s' to compare",
				    s->paths[recording], name);
	*ret = event;
	return NULL;
}
