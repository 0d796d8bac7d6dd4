// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/image_file.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/vec.h"

#define SUFFIX ".python"

/* --- the path --- */

static struct error *folder_of(const char *recording, char **ret)
{
	const char *slash = strrchr(recording, '/');
	_cleanup_free_ char *folder =
		slash ? strndup(recording, (size_t)(slash - recording) + 1) :
			strdup(".");
	char *real;

	if (!folder)
		return error_no_memory();
	real = realpath(folder, NULL);
	if (!real)
		return error_os(errno, folder, "cannot resolve the directory");
	*ret = real;
	return NULL;
}

struct error *image_file_path(const char *recording, char **ret)
{
	const char *slash = strrchr(recording, '/');
	_cleanup_free_ char *folder = NULL;
	_cleanup_free_ char *path = NULL;
	char inode[32] = "";
	struct error *error = folder_of(recording, &folder);
	struct stat st;

	if (error)
		return error;
	if (!lstat(recording, &st) && S_ISREG(st.st_mode))
		snprintf(inode, sizeof(inode), "-%" PRIx64,
			 (uint64_t)st.st_ino);
	if (asprintf(&path, "%s%s%s" SUFFIX "%s", folder,
		     strcmp(folder, "/") ? "/" : "",
		     slash ? slash + 1 : recording, inode) < 0) {
		path = NULL;
		return error_no_memory();
	}
	if (strlen(path) >= PATH_MAX)
		return error_os(ENAMETOOLONG, recording,
				"cannot choose a name for the image");
	*ret = take_ptr(path);
	return NULL;
}

/* --- the file --- */

static int fill(int fd, int64_t uid, int64_t gid, const struct strbuf *image)
{
	if ((uid >= 0 || gid >= 0) && fchown(fd, (uid_t)uid, (gid_t)gid))
		return errno;
	return fd_write_all(fd, image->data, image->len);
}

struct error *image_file_write(const char *path, int64_t uid, int64_t gid,
			       const struct strbuf *image)
{
	_cleanup_free_ char *temporary = NULL;
	_cleanup_close_ int fd = -1;
	int errnum;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		temporary = NULL;
		return error_no_memory();
	}
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, path, "cannot create");
	errnum = fill(fd, uid, gid, image);
	if (!errnum && rename(temporary, path))
		errnum = errno;
	if (!errnum)
		return NULL;
	unlink(temporary);
	return error_os(errnum, path, "cannot write");
}

/* --- images that nothing needs any more --- */

struct candidate {
	uint64_t inode;
	/* Its recording is in the folder. */
	bool needed;
	char name[NAME_MAX + 1];
};
struct candidate_list VEC_BODY(struct candidate);

/* "<begin><inode>" of another recording. */
static bool is_candidate(const char *name, const char *begin, const char *own,
			 uint64_t *inode)
{
	size_t length = strlen(begin);
	const char *digits = name + length;
	char *end;

	if (strncmp(name, begin, length) != 0 || !strcmp(name, own) ||
	    strspn(digits, "0123456789abcdef") != strlen(digits) || !*digits)
		return false;
	errno = 0;
	*inode = strtoull(digits, &end, 16);
	return !errno && !*end;
}

/* The part of an image's name before the inode; NULL: it has none. */
static char *begin_of(const char *own)
{
	const char *dash = strrchr(own, '-');
	size_t length = dash ? (size_t)(dash - own) : 0;

	if (length < strlen(SUFFIX) ||
	    strncmp(dash - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) != 0)
		return NULL;
	return strndup(own, length + 1);
}

static void find_candidates(DIR *folder, const char *own,
			    struct candidate_list *ret)
{
	_cleanup_free_ char *begin = begin_of(own);
	const struct dirent *entry;
	struct candidate found = {};

	while (begin && (entry = readdir(folder))) {
		if (!is_candidate(entry->d_name, begin, own, &found.inode))
			continue;
		snprintf(found.name, sizeof(found.name), "%s", entry->d_name);
		if (!vec_push(ret, found))
			return;
	}
}

static void find_needed(DIR *folder, struct candidate_list *candidates)
{
	const struct dirent *entry;
	struct stat st;

	while ((entry = readdir(folder))) {
		if (fstatat(dirfd(folder), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		vec_for_each(candidate, candidates)
			candidate->needed |= candidate->inode == st.st_ino;
	}
}

/* And not a recording that somebody gave such a name. */
static bool is_image(int folder, const char *name)
{
	_cleanup_close_ int fd = openat(folder, name,
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
						O_CLOEXEC);
	char magic[SELFMAG];
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}

void image_file_clean(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *name =
		slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
	DIR *folder = name ? opendir(name) : NULL;
	struct candidate_list candidates = {};

	if (!folder)
		return;
	find_candidates(folder, slash + 1, &candidates);
	rewinddir(folder);
	if (candidates.count)
		find_needed(folder, &candidates);
	vec_for_each(candidate, &candidates)
		if (!candidate->needed &&
		    is_image(dirfd(folder), candidate->name))
			unlinkat(dirfd(folder), candidate->name, 0);
	vec_deinit(&candidates);
	closedir(folder);
}
