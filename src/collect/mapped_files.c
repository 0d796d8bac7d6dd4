// SPDX-License-Identifier: GPL-2.0-only
#include "collect/mapped_files.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mapping_name.h"
#include "obj/elf_file.h"
#include "sys/mapped_file.h"

/* -1 if it is another file, or none. Takes fd over. */
static int same_inode(int fd, uint64_t inode)
{
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

static int open_mapped(pid_t pid, const struct proc_map *map)
{
	int fd = same_inode(mapped_file_open_link(pid, map->start, map->end),
			    map->inode);

	if (fd >= 0 || !mapping_has_file(map->path))
		return fd;
	return same_inode(mapped_file_open_path(pid, map->path), map->inode);
}

static struct build_id read_build_id(int fd, const struct proc_map *map)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *elf = NULL;

	error_destroy(elf_file_open_fd(fd, map->path, &elf));
	return elf ? elf->build_id : (struct build_id){};
}

static struct build_id find_build_id(struct mapped_files *files, pid_t pid,
				     const struct proc_map *map)
{
	uint64_t device = (uint64_t)map->major << 32 | map->minor;
	struct build_id id = {};
	uint64_t key = hash_combine(device, map->inode);
	const uint64_t *index = map_find(&files->known, key);
	bool is_new;
	int fd;

	if (!map->inode)
		return id;
	if (index)
		return *index < files->ids.count ? files->ids.data[*index] : id;
	fd = open_mapped(pid, map);
	/* The process may have ended; another one may tell. */
	if (fd < 0)
		return id;
	id = read_build_id(fd, map);
	/* Without memory the index leads nowhere. */
	if (map_insert(&files->known, key, files->ids.count, &is_new))
		(void)!vec_push(&files->ids, id);
	return id;
}

void mapped_files_put_build_id(struct mapped_files *files, pid_t pid,
			       const struct proc_map *map,
			       struct record *record)
{
	struct build_id id = find_build_id(files, pid, map);

	if (!id.size)
		return;
	record->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	record->mmap.maj = record->mmap.min = 0;
	record->mmap.ino = 0;
	record->mmap.build_id_size = id.size;
	memcpy(record->mmap.build_id, id.data, id.size);
}

void mapped_files_deinit(struct mapped_files *files)
{
	map_deinit(&files->known);
	vec_deinit(&files->ids);
}
