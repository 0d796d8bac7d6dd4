// SPDX-License-Identifier: GPL-2.0-only
#include "sys/tracefs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/compare.h"

/* A format has a few KiB, printk_formats some hundred where modules are many. */
enum { TEXT_MAX = 16 << 20 };

#define NEEDS_ROOT "only root may record tracepoints: run kaa under sudo, or see with 'kaa record --mode wall' where the program waits"

static const char *const folders[] = {
	"/sys/kernel/tracing/events",
	"/sys/kernel/debug/tracing/events",
};

void tracepoint_texts_deinit(struct tracepoint_texts *texts)
{
	strbuf_deinit(&texts->header_page);
	strbuf_deinit(&texts->header_event);
	strbuf_deinit(&texts->printk_formats);
	vec_for_each(format, &texts->formats) {
		free(format->system);
		strbuf_deinit(&format->text);
	}
	vec_deinit(&texts->formats);
}

/*
 * tracefs where nobody else sees it: it is mounted in no folder, and gone when this
 * process ends. -1: this user may not, or the kernel is older than 5.2.
 */
static int mount_detached(void)
{
	_cleanup_close_ int fs =
		(int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);

	if (fs < 0 ||
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		return -1;
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
			    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
				    MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/* The same one each time; NULL: there is none. Of the main thread alone. */
static const char *detached_folder(void)
{
	static char folder[sizeof("/proc/self/fd//events") + 11];
	int fd;

	if (*folder)
		return folder;
	fd = mount_detached();
	if (fd < 0)
		return NULL;
	snprintf(folder, sizeof(folder), "/proc/self/fd/%d/events", fd);
	return folder;
}

static struct error *find_detached(const char *root, const char **folder,
				   struct name_list *systems)
{
	*folder = root && *root ? NULL : detached_folder();
	if (*folder)
		return dir_list(NULL, *folder, systems);
	if (geteuid())
		return error_create(ERROR_PERMISSION, NEEDS_ROOT);
	return error_create(
		ERROR_UNSUPPORTED,
		"tracepoints need tracefs, which is not mounted: run 'sudo mount -t tracefs nodev /sys/kernel/tracing'");
}

struct error *tracefs_find(const char *root, const char **folder,
			   struct name_list *systems)
{
	bool forbidden = false;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		struct error *error = dir_list(root, folders[i], systems);

		if (!error) {
			*folder = folders[i];
			return NULL;
		}
		forbidden |= error_is_os(error, EACCES);
		error_destroy(error);
	}
	if (forbidden)
		return error_create(
			ERROR_PERMISSION,
			"this user may not read /sys/kernel/tracing: " NEEDS_ROOT);
	return find_detached(root, folder, systems);
}

/* --- the formats of some ids --- */

struct search {
	const char *root;
	const char *folder;
	struct tracepoint_texts *texts;
	/* Sorted, each once. */
	uint64_t *ids;
	size_t count;
	/* Those of them that no tracepoint had yet. */
	size_t left;
};

static struct error *take_ids(struct search *s, const uint64_t *ids,
			      size_t count)
{
	s->ids = calloc(count ? count : 1, sizeof(*s->ids));
	if (!s->ids)
		return error_no_memory();
	if (count)
		memcpy(s->ids, ids, count * sizeof(*ids));
	qsort(s->ids, count, sizeof(*s->ids), compare_u64_items);
	for (size_t i = 0; i < count; i++)
		if (!i || s->ids[i] != s->ids[i - 1])
			s->ids[s->count++] = s->ids[i];
	s->left = s->count;
	return NULL;
}

static struct error *add_format(struct search *s, const char *system,
				const char *path)
{
	struct tracepoint_format format = { .text = STRBUF_INIT };
	struct error *error = file_read(s->root, path, TEXT_MAX, &format.text);

	if (!error) {
		format.system = strdup(system);
		if (format.system && vec_push(&s->texts->formats, format)) {
			s->left--;
			return NULL;
		}
		error = error_no_memory();
	}
	free(format.system);
	strbuf_deinit(&format.text);
	return error;
}

/* What has no readable id is no tracepoint. */
static struct error *look_at(struct search *s, const char *system,
			     const char *name)
{
	char path[PATH_MAX];
	struct error *error;
	uint64_t id;
	int64_t value;

	if (snprintf(path, sizeof(path), "%s/%s/%s/id", s->folder, system,
		     name) >= (int)sizeof(path))
		return NULL;
	error = file_read_i64(s->root, path, &value);
	if (error) {
		error_destroy(error);
		return NULL;
	}
	id = (uint64_t)value;
	if (!bsearch(&id, s->ids, s->count, sizeof(id), compare_u64_items))
		return NULL;
	if (snprintf(path, sizeof(path), "%s/%s/%s/format", s->folder, system,
		     name) >= (int)sizeof(path))
		return NULL;
	return add_format(s, system, path);
}

static struct error *look_through(struct search *s, const char *system)
{
	struct name_list names = {};
	struct error *error = NULL;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", s->folder, system) >=
	    (int)sizeof(path))
		return NULL;
	/* Files beside the systems. */
	error = dir_list(s->root, path, &names);
	if (error) {
		error_destroy(error);
		return NULL;
	}
	for (size_t i = 0; !error && s->left && i < names.count; i++)
		error = look_at(s, system, names.data[i]);
	name_list_deinit(&names);
	return error;
}

static struct error *read_formats(struct search *s,
				  const struct name_list *systems)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && s->left && i < systems->count; i++)
		error = look_through(s, systems->data[i]);
	if (!error && s->left)
		error = error_create(ERROR_NOT_FOUND,
				     "%zu of the recorded tracepoints %s not in '%s'",
				     s->left, s->left == 1 ? "is" : "are",
				     s->folder);
	return error;
}

/* --- the other texts --- */

static struct error *read_text(const struct search *s, const char *name,
			       struct strbuf *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	return file_read(s->root, path, TEXT_MAX, out);
}

/* Kernels have them only if something uses them. */
static void read_printk_formats(const struct search *s)
{
	error_destroy(read_text(s, "../printk_formats",
				&s->texts->printk_formats));
}

struct error *tracepoint_texts_read(const char *root, const uint64_t *ids,
				    size_t count,
				    struct tracepoint_texts *texts)
{
	struct search s = { .root = root, .texts = texts };
	struct name_list systems = {};
	struct error *error = take_ids(&s, ids, count);

	if (!error)
		error = tracefs_find(root, &s.folder, &systems);
	if (!error)
		error = read_text(&s, "header_page", &texts->header_page);
	if (!error)
		error = read_text(&s, "header_event", &texts->header_event);
	if (!error)
		error = read_formats(&s, &systems);
	if (!error)
		read_printk_formats(&s);
	name_list_deinit(&systems);
	free(s.ids);
	return error;
}
