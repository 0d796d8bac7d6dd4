// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_kept.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/error.h"
#include "perfdata/reader.h"

/* The kaa stream has samples, too, which no report shows. */
static bool is_sample(const struct record *record)
{
	return record->type == PERF_RECORD_SAMPLE && record->event &&
	       event_kind_is_shown(record->event->meaning.kind);
}

static struct error *count(struct perfdata_reader *reader, uint64_t *ret)
{
	const struct record *record;
	struct error *error;
	uint64_t samples = 0;

	while (!(error = perfdata_reader_next(reader, &record)) && record)
		samples += is_sample(record);
	if (!error)
		*ret = samples;
	return error;
}

bool record_kept_samples(const char *path, uint64_t *ret)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	_cleanup_error_ struct error *error = NULL;
	struct stat st;

	/* Whoever opens a FIFO waits for a writer. */
	if (!path || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	error = perfdata_reader_open(path, &reader);
	if (!error)
		error = count(reader, ret);
	return !error;
}
