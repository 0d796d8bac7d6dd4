// SPDX-License-Identifier: GPL-2.0-only
#include "base/faults.h"

#include <stdlib.h>
#include <string.h>

void faults_deinit(struct faults *faults)
{
	vec_for_each(fault, &faults->list)
		free(fault->subject);
	vec_deinit(&faults->list);
}

struct error *faults_add(struct faults *faults, enum fault_kind kind,
			 uint64_t count, const char *subject)
{
	struct fault fault = { .kind = kind, .count = count };

	if (!count)
		return NULL;
	if (subject) {
		fault.subject = strdup(subject);
		if (!fault.subject)
			return error_no_memory();
	}
	if (!vec_push(&faults->list, fault)) {
		free(fault.subject);
		return error_no_memory();
	}
	return NULL;
}

struct error *faults_add_all(struct faults *faults, const struct fault *all,
			     size_t count)
{
	struct error *error = NULL;

	for (size_t i = 0; i < count && !error; i++)
		error = faults_add(faults, all[i].kind, all[i].count,
				   all[i].subject);
	return error;
}

uint64_t faults_count(const struct faults *faults, enum fault_kind kind)
{
	uint64_t count = 0;

	vec_for_each(fault, &faults->list)
		if (fault->kind == kind)
			count += fault->count;
	return count;
}

uint64_t faults_recorded(const struct faults *faults, const char *subject)
{
	vec_for_each(fault, &faults->list)
		if (fault->kind == FAULT_OF_RECORDER &&
		    !strcmp(fault->subject, subject))
			return fault->count;
	return 0;
}

bool faults_lack_end(const struct faults *faults)
{
	return faults_count(faults, FAULT_UNFINISHED) ||
	       faults_count(faults, FAULT_ENDED_EARLY) ||
	       faults_count(faults, FAULT_MISSING_BYTES);
}
