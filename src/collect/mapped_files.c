// SPDX-License-Identifier: GPL-2.0-only
#include "collect/mapped_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "obj/elf_file.h"

/* -1 unless path leads to that regular file. */
static int open_regular(const char *path, uint64_t inode)
{
	struct stat st;
	int fd;

	/* To open a device can be to start it. */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || st.st_ino != inode)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	/* The process may have mapped another one there meanwhile. */
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) ||
			st.st_ino != inode)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * The map's own link leads to the file whatever became of its path, but takes
 * CAP_CHECKPOINT_RESTORE.
 */
static int open_mapped(pid_t pid, const struct proc_map *map)
{
	_cleanup_free_ char *path = NULL;
	char link[96];
	int fd;

	snprintf(link, sizeof(link),
		 "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 map->start, map->end);
	fd = open_regular(link, map->inode);
	if (fd >= 0 || map->path[0] != '/' ||
	    asprintf(&path, "/proc/%d/root%s", (int)pid, map->path) < 0)
		return fd;
	fd = open_regular(path, map->inode);
	return fd >= 0 ? fd : open_regular(map->path, map->inode);
}

static struct build_id read_build_id(pid_t pid, const struct proc_map *map)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *elf = NULL;
	int fd = open_mapped(pid, map);

	if (fd >= 0)
		error_destroy(elf_file_open_fd(fd, map->path, &elf));
	return elf ? elf->build_id : (struct build_id){};
}

struct build_id mapped_files_build_id(struct mapped_files *files, pid_t pid,
				      const struct proc_map *map)
{
	uint64_t device = (uint64_t)map->major << 32 | map->minor;
	struct build_id id = {};
	uint64_t *index;
	bool is_new;

	if (!map->inode)
		return id;
	index = map_insert(&files->known, hash_combine(device, map->inode),
			   files->ids.count, &is_new);
	if (!index)
		return id;
	if (!is_new)
		return *index < files->ids.count ? files->ids.data[*index] : id;
	id = read_build_id(pid, map);
	/* Without memory the index leads nowhere. */
	(void)!vec_push(&files->ids, id);
	return id;
}

void mapped_files_deinit(struct mapped_files *files)
{
	map_deinit(&files->known);
	vec_deinit(&files->ids);
}
