// SPDX-License-Identifier: GPL-2.0-only
#include "view/symbol_match.h"

#include <regex.h>
#include <stdlib.h>

static struct error *compile(const char *text, regex_t *ret)
{
	char reason[256];
	int code = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (!code)
		return NULL;
	regerror(code, ret, reason, sizeof(reason));
	return error_create(ERROR_INVALID_ARGUMENT,
			    "'%s' is no regular expression: %s", text, reason);
}

struct error *symbol_matches(const struct profile *profile, const char *regex,
			     bool **ret)
{
	size_t count = profile->symbols.count;
	bool *matches = calloc(count + 1, sizeof(*matches));
	struct error *error;
	regex_t compiled;

	if (!matches)
		return error_no_memory();
	error = compile(regex, &compiled);
	if (error) {
		free(matches);
		return error;
	}
	for (size_t i = 0; i < count; i++)
		matches[i] = !regexec(
			&compiled,
			profile_string(profile, profile->symbols.data[i].name,
				       ""),
			0, NULL, 0);
	regfree(&compiled);
	*ret = matches;
	return NULL;
}

/* The name of the stack's leaf if it matches. */
static uint32_t match_of(const struct profile *profile, const bool *matches,
			 size_t stack)
{
	const struct profile_frame *frame =
		profile_frame(profile, profile->stack_frames.data[stack]);

	const uint8_t never = PROFILE_FRAME_INLINED | PROFILE_FRAME_HIT_ONLY |
			      PROFILE_FRAME_UNWOUND;

	if (frame->symbol == PROFILE_NONE || !matches[frame->symbol] ||
	    (frame->flags & never))
		return PROFILE_NONE;
	return profile->symbols.data[frame->symbol].name;
}

struct error *symbol_match_parents(const struct profile *profile,
				   const char *regex, bool caller_order,
				   uint32_t **ret)
{
	size_t count = profile->stack_parents.count;
	_cleanup_free_ bool *matches = NULL;
	struct error *error = symbol_matches(profile, regex, &matches);
	uint32_t *parents;

	if (error)
		return error;
	parents = malloc((count + 1) * sizeof(*parents));
	if (!parents)
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		uint32_t up = profile->stack_parents.data[i];
		uint32_t above = up == PROFILE_NONE ? PROFILE_NONE
						    : parents[up];
		uint32_t own = match_of(profile, matches, i);

		if (caller_order)
			parents[i] = above != PROFILE_NONE ? above : own;
		else
			parents[i] = own != PROFILE_NONE ? own : above;
	}
	parents[count] = PROFILE_NONE;
	*ret = parents;
	return NULL;
}
