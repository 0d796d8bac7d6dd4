// SPDX-License-Identifier: GPL-2.0-only
#include "agent/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/announce.h"
#include "agent/setting.h"
#include "base/cleanup.h"

/* Those to be removed at exit. */
static struct agent_file *files;
/* The last shared file that was made here; another opener shall not replace it. */
static struct agent_file_identity shared;
static pid_t shared_pid;

/* fstat() and lstat() by statx(): the former have new names since glibc 2.33. */

static int look(int dir, const char *path, struct statx *ret)
{
	int flags = path[0] ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

	return statx(dir, path, flags, STATX_BASIC_STATS | STATX_BTIME, ret) ?
		       errno : 0;
}

static int64_t nanoseconds(int64_t seconds, int64_t rest)
{
	return seconds * 1000000000 + rest;
}

static struct agent_file_identity identity_of(const struct statx *status)
{
	struct agent_file_identity identity = {
		.device = (uint64_t)status->stx_dev_major << 32 |
			  status->stx_dev_minor,
		.inode = status->stx_ino,
	};

	if (status->stx_mask & STATX_BTIME)
		identity.birth = nanoseconds(status->stx_btime.tv_sec,
					     status->stx_btime.tv_nsec);
	return identity;
}

static bool is_same(const struct agent_file_identity *file,
		    const struct statx *status)
{
	struct agent_file_identity other = identity_of(status);

	return file->device == other.device && file->inode == other.inode &&
	       file->birth == other.birth;
}

/* A regular file of this user's that has no second name somewhere else. */
static bool is_own(const struct statx *status)
{
	return S_ISREG(status->stx_mode) && status->stx_uid == geteuid() &&
	       status->stx_nlink == 1;
}

/* Field 22 of /proc/self/stat: ticks from boot to the start of the process. */
static bool start_ticks(uint64_t *ret)
{
	char text[1024];
	_cleanup_close_ int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (size <= 0)
		return false;
	text[size] = '\0';
	/* The name, field 2, may hold anything; the last ')' is behind it. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	/* By hand: newer glibcs have a newer scanf(), which older ones lack. */
	*ret = 0;
	for (at++; *at >= '0' && *at <= '9'; at++)
		*ret = *ret * 10 + (uint64_t)(*at - '0');
	return *ret > 0;
}

static bool was_made_here(const struct statx *status)
{
	return shared_pid == getpid() && is_same(&shared, status);
}

static int64_t now(clockid_t clock)
{
	struct timespec time = {};

	clock_gettime(clock, &time);
	return nanoseconds(time.tv_sec, time.tv_nsec);
}

/*
 * Whether the file was written to since this process began. Times of files are as
 * coarse as the kernel's tick, and so is a process's start.
 */
static bool is_of_this_process(const struct statx *status)
{
	const int64_t coarse = 20000000;
	int64_t ticks_per_second = sysconf(_SC_CLK_TCK);
	int64_t age, written;
	uint64_t start;

	if (!start_ticks(&start) || ticks_per_second <= 0)
		return false;
	age = now(CLOCK_BOOTTIME) -
	      (int64_t)(start * (uint64_t)(1000000000 / ticks_per_second));
	written = nanoseconds(status->stx_mtime.tv_sec,
			      status->stx_mtime.tv_nsec);
	return written >= now(CLOCK_REALTIME) - age - coarse;
}

static int open_flags(const struct agent_file *file)
{
	int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

	return file->kind == AGENT_FILE_IMAGE ? flags : flags | O_APPEND;
}

static void identify(struct agent_file *file, const struct statx *status)
{
	file->identity = identity_of(status);
	file->pid = getpid();
}

/* Not one of the standard streams, which the program may have closed. */
static int keep_fd(struct agent_file *file, int *fd)
{
	file->fd = *fd > STDERR_FILENO ?
			   take_fd(fd) :
			   fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return file->fd < 0 ? errno : 0;
}

/* Opens what stands under the path, if it is the file that it has been. */
static int open_same(struct agent_file *file, struct statx *ret)
{
	_cleanup_close_ int fd = open(file->path, open_flags(file));
	int error;

	if (fd < 0)
		return errno;
	error = look(fd, "", ret);
	if (error)
		return error;
	if (!is_same(&file->identity, ret))
		return ESTALE;
	return keep_fd(file, &fd);
}

static void remove_at_exit(struct agent_file *file)
{
	const char *keep = agent_setting("KAA_TRAMPOLINE_KEEP");

	if (!keep || strcmp(keep, "0") != 0 || file->listed)
		return;
	file->listed = true;
	file->next = files;
	files = file;
}

static int create(struct agent_file *file, uint64_t *ret_size)
{
	_cleanup_close_ int fd = open(file->path,
				      open_flags(file) | O_CREAT | O_EXCL, 0600);
	struct statx status;
	int error;

	if (fd < 0)
		return errno;
	/* Whatever the umask takes away. */
	if (fchmod(fd, 0600))
		return errno;
	error = look(fd, "", &status);
	if (error)
		return error;
	identify(file, &status);
	remove_at_exit(file);
	if (file->kind == AGENT_FILE_SHARED_LOG) {
		shared = file->identity;
		shared_pid = file->pid;
	}
	*ret_size = 0;
	return keep_fd(file, &fd);
}

/*
 * Another user's file is in the way of nobody but root, who may remove it: what is
 * called after this process and was not written since it began was left behind by
 * another process of that number.
 */
static bool may_remove(const struct statx *status)
{
	if (!S_ISREG(status->stx_mode))
		return false;
	return status->stx_uid == geteuid() ||
	       (!geteuid() && !is_of_this_process(status));
}

/* What stands in the way is gone on with, or removed (EAGAIN), or EEXIST. */
static int go_on_or_remove(struct agent_file *file, uint64_t *ret_size)
{
	struct statx status;
	int error = look(AT_FDCWD, file->path, &status);

	if (error)
		return error == ENOENT ? EAGAIN : error;
	if (!may_remove(&status))
		return EEXIST;
	if (file->kind == AGENT_FILE_SHARED_LOG && is_own(&status) &&
	    (was_made_here(&status) || is_of_this_process(&status))) {
		identify(file, &status);
		error = open_same(file, &status);
		*ret_size = status.stx_size;
		return error;
	}
	if (unlink(file->path) && errno != ENOENT)
		return errno;
	return EAGAIN;
}

static int open_new(struct agent_file *file, uint64_t *ret_size)
{
	int error = EEXIST;

	/* Once is enough unless somebody plays games with the name. */
	for (int tries = 0; tries < 8; tries++) {
		error = create(file, ret_size);
		if (error != EEXIST)
			return error;
		error = go_on_or_remove(file, ret_size);
		if (error != EAGAIN)
			return error;
	}
	return EEXIST;
}

static int set_path(struct agent_file *file, const char *prefix,
		    const char *suffix)
{
	const char *dir = agent_setting("KAA_TRAMPOLINE_DIR");
	int size;

	if (!dir || !dir[0])
		dir = "/tmp";
	size = snprintf(file->path, sizeof(file->path), "%s/%s%d%s", dir,
			prefix, (int)getpid(), suffix);
	agent_subject_set(file->path);
	if (size < 0 || (size_t)size >= sizeof(file->path))
		return ENAMETOOLONG;
	return dir[0] == '/' ? 0 : EINVAL;
}

/* Sees to it that fd is the file. */
static int check(struct agent_file *file, struct statx *ret)
{
	agent_subject_set(file->path);
	if (file->pid != getpid())
		return ESRCH;
	if (file->fd >= 0 && !look(file->fd, "", ret) &&
	    is_same(&file->identity, ret))
		return 0;
	/* The number is the program's by now: it is not ours to close. */
	file->fd = -1;
	return open_same(file, ret) ? EBADF : 0;
}

int agent_file_open(struct agent_file *file, enum agent_file_kind kind,
		    const char *prefix, const char *suffix, uint64_t *ret_size)
{
	struct statx status;
	int error;

	if (file->pid == getpid() && !check(file, &status)) {
		*ret_size = status.stx_size;
		return 0;
	}
	file->kind = kind;
	error = set_path(file, prefix, suffix);
	return error ? error : open_new(file, ret_size);
}

static int check_limit(uint64_t end)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit))
		return errno;
	return end > limit.rlim_cur ? EFBIG : 0;
}

static size_t total_size(const struct iovec *parts, int count)
{
	size_t total = 0;

	for (int i = 0; i < count; i++)
		total += parts[i].iov_len;
	return total;
}

/* Takes back what was written of an append, unless somebody wrote behind it. */
static void take_back(struct agent_file *file, uint64_t size, size_t written)
{
	struct statx status;

	if (!look(file->fd, "", &status) && status.stx_size == size + written &&
	    ftruncate(file->fd, (off_t)size))
		file->fd = -1;
}

int agent_file_append(struct agent_file *file, const struct iovec *parts,
		      int count)
{
	size_t total = total_size(parts, count);
	struct statx status;
	ssize_t written;
	int error = check(file, &status);

	if (!error)
		error = check_limit(status.stx_size + total);
	if (error)
		return error;
	do
		written = writev(file->fd, parts, count);
	while (written < 0 && errno == EINTR);
	if (written < 0)
		return errno;
	if ((size_t)written == total)
		return 0;
	take_back(file, status.stx_size, (size_t)written);
	return ENOSPC;
}

static int write_piece(int fd, const struct agent_file_piece *piece)
{
	size_t done = 0;

	while (done < piece->size) {
		ssize_t written = pwrite(fd, (const char *)piece->data + done,
					 piece->size - done,
					 (off_t)(piece->offset + done));

		if (written > 0)
			done += (size_t)written;
		else if (written == 0)
			return ENOSPC;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

int agent_file_write_at(struct agent_file *file,
			const struct agent_file_piece *pieces, int count)
{
	struct statx status;
	int error = check(file, &status);
	uint64_t end = 0;

	for (int i = 0; i < count; i++)
		if (pieces[i].offset + pieces[i].size > end)
			end = pieces[i].offset + pieces[i].size;
	if (!error)
		error = check_limit(end);
	for (int i = 0; !error && i < count; i++)
		error = write_piece(file->fd, &pieces[i]);
	return error;
}

int agent_file_truncate(struct agent_file *file, uint64_t size)
{
	struct statx status;
	int error = check(file, &status);

	if (!error)
		error = check_limit(size);
	if (error)
		return error;
	return ftruncate(file->fd, (off_t)size) ? errno : 0;
}

void agent_file_close(struct agent_file *file)
{
	struct statx status;

	if (file->fd >= 0 && !look(file->fd, "", &status) &&
	    is_same(&file->identity, &status))
		close(file->fd);
	file->fd = -1;
}

static void take_off_list(struct agent_file *file)
{
	struct agent_file **at = &files;

	while (*at && *at != file)
		at = &(*at)->next;
	if (*at)
		*at = file->next;
	file->listed = false;
}

static void remove_file(const struct agent_file *file)
{
	struct statx status;

	if (file->pid == getpid() && !look(AT_FDCWD, file->path, &status) &&
	    is_same(&file->identity, &status))
		unlink(file->path);
}

void agent_file_discard(struct agent_file *file)
{
	remove_file(file);
	agent_file_forget(file);
}

void agent_file_forget(struct agent_file *file)
{
	agent_file_close(file);
	take_off_list(file);
	file->pid = 0;
}

__attribute__((destructor)) void agent_files_remove(void)
{
	for (const struct agent_file *file = files; file; file = file->next)
		remove_file(file);
	files = NULL;
}
