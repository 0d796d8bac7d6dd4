// SPDX-License-Identifier: GPL-2.0-only
#include "collect/source_hashes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/map.h"
#include "collect/process_view.h"

enum {
	FILES_MAX = 4096,
	FILE_MAX = 16 << 20,
	/* Of all files together: about a tenth of a second. */
	TOTAL_MAX = 256 << 20,
};

struct telling {
	const struct source_hashes *hashes;
	/* Paths that were looked at. */
	struct map seen;
	size_t files;
	size_t total;
	uint8_t *buf;
	size_t room;
	source_hashes_sink *sink;
	void *arg;
};

void source_hashes_init(struct source_hashes *hashes)
{
	*hashes = (struct source_hashes){ .since = clock_ns(CLOCK_REALTIME) };
}

void source_hashes_python(struct source_hashes *hashes, const char *root,
			  uint32_t pid, bool runs_already)
{
	struct process_view view;
	struct error *error = process_view_look(root, (pid_t)pid, &view);

	if (error) {
		/* One that is gone saw what its parent sees. */
		hashes->other_files |= error->code != ERROR_NOT_FOUND;
		error_destroy(error);
		return;
	}
	hashes->other_files |= view.root[0] != '\0';
	if (runs_already && view.started < hashes->since)
		hashes->since = view.started;
}

/* A device is not even opened: that may do something. */
static int open_regular(const char *path, struct stat *st)
{
	_cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);
	char again[64];

	if (place < 0 || fstat(place, st) || !S_ISREG(st->st_mode))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	return open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static struct error *make_room(struct telling *t, size_t size)
{
	uint8_t *buf;

	if (size <= t->room)
		return NULL;
	buf = realloc(t->buf, size);
	if (!buf)
		return error_no_memory();
	t->buf = buf;
	t->room = size;
	return NULL;
}

static bool is_meant(const struct telling *t, const struct stat *st)
{
	return st->st_size <= FILE_MAX &&
	       (size_t)st->st_size <= TOTAL_MAX - t->total &&
	       timespec_ns(&st->st_mtim) <= t->hashes->since;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size &&
	       timespec_ns(&a->st_mtim) == timespec_ns(&b->st_mtim);
}

static struct error *tell_file(struct telling *t, const char *path)
{
	struct stat st, after;
	_cleanup_close_ int fd = open_regular(path, &st);
	struct kaa_source source = { .path = { path, strlen(path) } };
	struct error *error;
	size_t size;

	if (fd < 0 || !is_meant(t, &st))
		return NULL;
	/* A byte more: it may have grown. */
	error = make_room(t, (size_t)st.st_size + 1);
	if (error)
		return error;
	if (fd_read(fd, t->buf, (size_t)st.st_size + 1, &size) ||
	    fstat(fd, &after) || !is_same(&st, &after) ||
	    size != (size_t)st.st_size)
		return NULL;
	t->files++;
	t->total += size;
	source.size = size;
	source.modified = timespec_ns(&st.st_mtim);
	source.hash = content_hash_of(t->buf, size);
	return t->sink(t->arg, &source);
}

static struct error *tell_code(struct telling *t, const struct code *code)
{
	const char *path = code->filename;
	bool is_new;

	/* It is sampled if it has an address. A relative path leads to where the process was. */
	if (!code->start || path[0] != '/' || strlen(path) >= PATH_MAX)
		return NULL;
	if (!map_insert(&t->seen, hash_string(path), 1, &is_new))
		return error_no_memory();
	return is_new ? tell_file(t, path) : NULL;
}

struct error *source_hashes_tell(const struct source_hashes *hashes,
				 const struct code_table *codes,
				 source_hashes_sink *sink, void *arg)
{
	struct telling t = { .hashes = hashes, .sink = sink, .arg = arg };
	struct error *error = NULL;

	if (hashes->other_files)
		return NULL;
	for (size_t i = 0;
	     !error && i < codes->codes.count && t.files < FILES_MAX; i++)
		error = tell_code(&t, codes->codes.data[i]);
	map_deinit(&t.seen);
	free(t.buf);
	return error;
}
