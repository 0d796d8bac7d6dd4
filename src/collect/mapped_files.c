// SPDX-License-Identifier: GPL-2.0-only
#include "collect/mapped_files.h"

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
