// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/perf_map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "obj/perf_map.h"
#include "symbolize/rooted.h"
#include "sys/proc.h"

void perf_map_file_deinit(struct perf_map_file *map)
{
	symtab_deinit(&map->symtab);
	free(map->path);
	*map = (struct perf_map_file){};
}

static struct error *check(const struct stat *st, const char *path,
			   uid_t owner)
{
	if (!S_ISREG(st->st_mode))
		return error_at(ERROR_UNSUPPORTED, path, 0,
				"a perf map must be a regular file");
	if (st->st_uid != 0 && st->st_uid != geteuid() &&
	    (owner == (uid_t)-1 || st->st_uid != owner))
		return error_at(ERROR_PERMISSION, path, 0,
				"the perf map belongs to user %u, neither root "
				"nor the process's user nor you",
				st->st_uid);
	if ((uint64_t)st->st_size > PERF_MAP_SIZE_MAX)
		return error_at(ERROR_LIMIT, path, 0,
				"the perf map is too large");
	return NULL;
}

static struct error *parse(int fd, const struct stat *st,
			   struct perf_map_file *map)
{
	_cleanup_free_ uint8_t *buf = malloc((size_t)st->st_size + 1);
	size_t size;
	struct error *error;
	int errnum;

	if (!buf)
		return error_no_memory();
	/* One that shrinks meanwhile is what it is then. */
	errnum = fd_read_at(fd, buf, (size_t)st->st_size, 0, &size);
	error = errnum ? error_os(errnum, map->path, "cannot read")
		       : perf_map_parse(buf, size, &map->symtab, &map->bad);
	if (!error)
		error = symtab_finish(&map->symtab, SYMTAB_LAST_WINS, 0);
	map->device = st->st_dev;
	map->inode = st->st_ino;
	map->size = size;
	map->mtime = timespec_ns(&st->st_mtim);
	return error;
}

/* Below a root, which is the process's own if it has another /tmp. */
static struct error *open_map(const char *root, pid_t pid, uid_t owner,
			      struct perf_map_handle *ret)
{
	struct perf_map_handle map = { .fd = -1 };
	struct error *error;

	if (asprintf(&map.path, "/tmp/perf-%d.map", pid) < 0)
		return error_no_memory();
	error = rooted_open(root, map.path, O_NOFOLLOW, &map.fd);
	if (!error && fstat(map.fd, &map.status))
		error = error_os(errno, map.path, "cannot read");
	if (!error)
		error = check(&map.status, map.path, owner);
	if (error_is_os(error, ENOENT))
		error->code = ERROR_NOT_FOUND;
	if (error) {
		perf_map_handle_deinit(&map);
		return error;
	}
	*ret = map;
	return NULL;
}

void perf_map_handle_deinit(struct perf_map_handle *map)
{
	if (map->fd >= 0)
		close(map->fd);
	free(map->path);
	*map = (struct perf_map_handle){ .fd = -1 };
}

/* A process that has ended meanwhile keeps its root from us, as a stranger's would. */
static struct error *gone_error(const char *root, pid_t pid,
				struct error *error)
{
	struct proc_status status;
	struct error *now;

	if (!error_is_os(error, EACCES))
		return error;
	now = proc_status_read(root, pid, &status);
	if (now && now->code == ERROR_NOT_FOUND)
		error->code = ERROR_NOT_FOUND;
	error_destroy(now);
	return error;
}

struct error *perf_map_file_open_live(const char *root, pid_t pid,
				      struct perf_map_handle *ret)
{
	struct proc_status status;
	bool same = true;
	char process_root[64 + 4096] = "";
	struct error *error;

	error = proc_status_read(root, pid, &status);
	if (error)
		return error;
	/* Without the right to look, our own /tmp is as good as any. */
	error_destroy(proc_same_namespace(root, pid, "mnt", &same));
	if (!same)
		snprintf(process_root, sizeof(process_root),
			 "%s/proc/%d/root", root ? root : "", pid);
	error = open_map(process_root, status.nstgid[status.nstgid_count - 1],
			 status.uid, ret);
	return same ? error : gone_error(root, pid, error);
}

struct error *perf_map_file_open(const char *symfs, pid_t pid, uid_t owner,
				 struct perf_map_handle *ret)
{
	return open_map(symfs, pid, owner, ret);
}

/* Takes the handle over. */
static struct error *load(struct perf_map_handle *handle,
			  struct perf_map_file *ret)
{
	struct perf_map_file map = { .path = handle->path };
	struct error *error;

	handle->path = NULL;
	error = parse(handle->fd, &handle->status, &map);
	perf_map_handle_deinit(handle);
	if (error)
		perf_map_file_deinit(&map);
	else
		*ret = map;
	return error;
}

struct error *perf_map_file_load_live(const char *root, pid_t pid,
				      struct perf_map_file *ret)
{
	struct perf_map_handle handle;
	struct error *error = perf_map_file_open_live(root, pid, &handle);

	return error ? error : load(&handle, ret);
}

struct error *perf_map_file_load(const char *symfs, pid_t pid, uid_t owner,
				 struct perf_map_file *ret)
{
	struct perf_map_handle handle;
	struct error *error = perf_map_file_open(symfs, pid, owner, &handle);

	return error ? error : load(&handle, ret);
}
