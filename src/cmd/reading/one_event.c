// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/one_event.h"

#include <string.h>

#include "base/strbuf.h"
#include "cmd/framework/message.h"

/* The first one that has samples; without any the first. */
static uint32_t first_event(const struct profile *profile)
{
	for (size_t i = 0; i < profile->events.count; i++)
		if (profile->events.data[i].samples)
			return (uint32_t)i;
	return 0;
}

static const char *event_name(const struct profile *profile, size_t event)
{
	return profile_string(profile, profile->events.data[event].name, "");
}

static struct error *find_event(const struct profile *profile,
				const char *name, uint32_t *ret)
{
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;

	for (size_t i = 0; i < profile->events.count; i++) {
		if (!strcmp(event_name(profile, i), name)) {
			*ret = (uint32_t)i;
			return NULL;
		}
		strbuf_printf(&all, "%s%s", i ? ", " : "",
			      event_name(profile, i));
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "the recording has no event '%s'; it has %s", name,
			    all.data);
}

static void say_left_out(const struct profile *profile, uint32_t chosen,
			 const char *done)
{
	_cleanup_strbuf_ struct strbuf others = STRBUF_INIT;

	for (size_t i = 0; i < profile->events.count; i++)
		if (i != chosen && profile->events.data[i].samples)
			strbuf_printf(&others, "%s%s", others.len ? ", " : "",
				      event_name(profile, i));
	if (others.len)
		message_note(
			"only samples of %s are %s; choose another event with --event (%s)",
			event_name(profile, chosen), done, others.data);
}

struct error *one_event_choose(const struct profile *profile, const char *name,
			       uint32_t first, const char *done, uint32_t *ret)
{
	*ret = 0;
	if (!profile->events.count)
		return NULL;
	if (name)
		return find_event(profile, name, ret);
	*ret = first == PROFILE_NONE ? first_event(profile) : first;
	say_left_out(profile, *ret, done);
	return NULL;
}
