// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/record_before.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "perfdata/image_file.h"

static char *with_suffix(const char *path, const char *suffix)
{
	char *name;

	return asprintf(&name, "%s%s", path, suffix) < 0 ? NULL : name;
}

/* In the same folder, and no name that anybody else would take. */
static char *hidden_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) + 1 : 0;
	char *name;

	return asprintf(&name, "%.*s.%s.kaa-older", folder, path,
			path + folder) < 0 ?
		       NULL :
		       name;
}

/* One that a killed kaa left may go. */
static bool link_over(const char *from, const char *to)
{
	if (!link(from, to))
		return true;
	return errno == EEXIST && !unlink(to) && !link(from, to);
}

static bool is_same(const char *path, const struct stat *st)
{
	struct stat now;

	return !lstat(path, &now) && now.st_ino == st->st_ino &&
	       now.st_dev == st->st_dev;
}

/* What kaa names as root it may have to rename as the user. */
static bool may_rename(const char *path, int64_t uid)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	struct stat st;

	if (uid < 0)
		return true;
	if (!folder || stat(folder, &st))
		return false;
	return st.st_uid == (uid_t)uid ? st.st_mode & S_IWUSR :
					 st.st_mode & S_IWOTH;
}

void record_before_keep(struct record_before *before, const char *path,
			int64_t uid)
{
	struct stat st;

	*before = (struct record_before){ .path = path,
					  .old = with_suffix(path, ".old") };
	if (!strcmp(path, "-") || lstat(path, &before->recording) ||
	    !S_ISREG(before->recording.st_mode))
		before->recording = (struct stat){};
	if (!before->recording.st_size || !before->old ||
	    lstat(before->old, &st) || !S_ISREG(st.st_mode) ||
	    !may_rename(path, uid))
		return;
	before->older = hidden_name(path);
	if (before->older && !link_over(before->old, before->older)) {
		free(before->older);
		before->older = NULL;
	}
}

void record_before_opened(struct record_before *before)
{
	if (lstat(before->path, &before->written))
		before->written = (struct stat){};
}

const char *record_before_find(const struct record_before *before)
{
	/* A pipe or a device stays what it is. */
	if (!S_ISREG(before->written.st_mode) ||
	    is_same(before->path, &before->written))
		return before->path;
	return before->old && is_same(before->old, &before->written) ?
		       before->old :
		       NULL;
}

const char *record_before_kept(const struct record_before *before)
{
	return before->recording.st_size && before->old &&
			       is_same(before->old, &before->recording) ?
		       before->old :
		       NULL;
}

/* Images of recordings that are not there any more. */
static void clean_images(const struct record_before *before)
{
	_cleanup_free_ char *image = NULL;
	struct error *error = image_file_path(before->path, &image);

	if (!error)
		image_file_clean(image);
	error_destroy(error);
}

void record_before_drop(struct record_before *before)
{
	if (!before->older)
		return;
	unlink(before->older);
	free(before->older);
	before->older = NULL;
	clean_images(before);
}

void record_before_restore(struct record_before *before)
{
	struct stat st;

	if (!lstat(before->path, &st) && S_ISREG(st.st_mode) &&
	    !is_same(before->path, &before->recording))
		unlink(before->path);
	if (record_before_kept(before))
		rename(before->old, before->path);
	/* Does nothing if both are names of one file. */
	if (before->older && !rename(before->older, before->old))
		unlink(before->older);
	free(before->older);
	before->older = NULL;
	clean_images(before);
}

void record_before_deinit(struct record_before *before)
{
	free(before->old);
	free(before->older);
	*before = (struct record_before){};
}
