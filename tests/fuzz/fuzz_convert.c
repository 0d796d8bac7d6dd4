// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as perf.data, all the way to the model: timeline, kaa stream, raw
 * stacks, chains; and own time with the first screen. Files that the bytes name
 * are looked for in a place where there is none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/convert.h"
#include "profile/own_time.h"
#include "view/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int make_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Handles are what profile.h promises: parents below children, in range. */
static void check(const struct profile *profile)
{
	for (size_t i = 0; i < profile->stack_parents.count; i++) {
		uint32_t parent = profile->stack_parents.data[i];

		if (parent != PROFILE_NONE && parent >= i)
			abort();
		if (profile->stack_frames.data[i] >= profile->frames.count)
			abort();
	}
	for (size_t i = 0; i < profile->samples.rows; i++) {
		uint32_t stack = profile->samples.stack[i];

		if (stack != PROFILE_NONE &&
		    stack >= profile->stack_parents.count)
			abort();
	}
}

/* Each sample is of one function, of one line and of one kind. */
static void check_own_time(const struct profile *profile, uint32_t event)
{
	uint64_t functions = 0, lines = 0, kinds = 0, parts = 0;
	struct own_time *own;

	if (own_time_create(profile, event, &own))
		abort();
	vec_for_each(function, &own->functions)
		functions += function->own.samples;
	vec_for_each(line, &own->lines)
		lines += line->own.samples;
	vec_for_each(part, &own->parts)
		parts += part->weight.samples;
	for (size_t i = 0; i < SPENT_KINDS; i++)
		kinds += own->kinds[i].samples;
	if (functions != own->all.samples || lines != functions ||
	    kinds != functions || parts != functions)
		abort();
	own_time_destroy(own);
}

static void write_answer(const struct profile *profile)
{
	const struct answer_options options = { .columns = 80,
						.folder = "/srv" };
	uint32_t event = answer_event(profile);
	FILE *out = fopen("/dev/null", "we");

	if (!out || (event != PROFILE_NONE &&
		     answer_write(profile, event, &options, out)))
		abort();
	fclose(out);
}

static void run(const uint8_t *data, size_t size, bool like_perf)
{
	struct convert_options options = { .symfs = "/nonexistent",
					   .root = "/nonexistent",
					   .debug_dir = "/nonexistent",
					   .quirks = quirks_of_perf(
						   like_perf ? PERF_7_2 :
							       PERF_NONE) };
	struct converter *converter;
	struct profile *profile;
	struct error *error;

	error = converter_open_fd(make_file(data, size), "fuzz", &options,
				  &converter);
	if (error) {
		error_destroy(error);
		return;
	}
	error = convert_to_profile(converter, NULL, &profile);
	if (!error) {
		check(profile);
		for (uint32_t i = 0; i < profile->events.count && i < 4; i++)
			check_own_time(profile, i);
		write_answer(profile);
		profile_destroy(profile);
	}
	error_destroy(error);
	converter_destroy(converter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		run(data, size, data[size - 1] & 1);
	return 0;
}
