// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/dso_find.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "obj/elf_debug.h"
#include "symbolize/rooted.h"
#include "sys/proc.h"

static struct error *open_elf(const char *root, const char *path,
			      struct elf_file **ret)
{
	int fd;
	struct error *error = rooted_open(root, path, 0, &fd);

	if (error)
		return error;
	return elf_file_open_fd(fd, path, ret);
}

/* Why a candidate was not taken. */
struct search {
	const struct build_id *build_id;
	bool mismatch;
	/* The first error other than "no such file". */
	struct error *broken;
	struct elf_file *found;
};

static bool is_absent(const struct error *error)
{
	return error->code == ERROR_OS || error->code == ERROR_NOT_FOUND;
}

static bool try_path(struct search *search, const char *root, const char *path)
{
	struct elf_file *file;
	struct error *error = open_elf(root, path, &file);

	if (error && !is_absent(error) && !search->broken) {
		search->broken = error;
		return false;
	}
	if (error) {
		error_destroy(error);
		return false;
	}
	if (search->build_id->size &&
	    !build_id_equal(search->build_id, &file->build_id)) {
		search->mismatch = true;
		elf_file_destroy(file);
		return false;
	}
	search->found = file;
	return true;
}

/* dir/.build-id/ab/cdef...suffix, NULL without build-id or memory. */
static char *build_id_path(const char *dir, const struct build_id *id,
			   const char *suffix)
{
	char hex[BUILD_ID_TEXT_SIZE];
	char *path;

	if (!dir || id->size < 2)
		return NULL;
	build_id_format(id, hex);
	if (asprintf(&path, "%s/.build-id/%.2s/%s%s", dir, hex, hex + 2,
		     suffix) < 0)
		return NULL;
	return path;
}

/* The root of a process in another mount namespace, else NULL. */
static char *process_root(const struct dso_options *options, int32_t pid)
{
	bool same = true;
	char *root;

	if (pid <= 0)
		return NULL;
	error_destroy(proc_same_namespace(options->root, pid, "mnt", &same));
	if (same || asprintf(&root, "%s/proc/%d/root",
			     options->root ? options->root : "", pid) < 0)
		return NULL;
	return root;
}

static bool try_all(struct search *search, const struct dso_options *options,
		    const char *path, int32_t pid, char **root)
{
	_cleanup_free_ char *cached =
		build_id_path(options->buildid_dir, search->build_id, "/elf");
	_cleanup_free_ char *inside = NULL;
	bool certain = search->build_id->size;

	/* The pid may be another process by now: only a build-id tells. */
	if (options->live || certain)
		inside = process_root(options, pid);
	if (inside && try_path(search, inside, path)) {
		*root = take_ptr(inside);
		return true;
	}
	/* Our own file of that path is another one, unless a build-id says. */
	if ((!inside || certain) && try_path(search, options->symfs, path))
		return true;
	return cached && try_path(search, NULL, cached);
}

struct error *dso_find_file(const struct dso_options *options, const char *path,
			    const struct build_id *build_id, int32_t pid,
			    char **root, bool *mismatch, struct elf_file **ret)
{
	struct search search = { .build_id = build_id };
	_cleanup_free_ char *found_root = NULL;

	if (!try_all(&search, options, path, pid, &found_root)) {
		if (!search.broken || search.mismatch) {
			error_destroy(search.broken);
			search.broken = error_at(
				ERROR_NOT_FOUND, path, 0,
				search.mismatch ?
					"the file has another build-id than "
					"the recorded one" :
					"the file does not exist");
		}
		*mismatch = search.mismatch;
		return search.broken;
	}
	error_destroy(search.broken);
	if (!found_root && options->symfs && options->symfs[0]) {
		found_root = strdup(options->symfs);
		if (!found_root) {
			elf_file_destroy(search.found);
			return error_no_memory();
		}
	}
	*root = take_ptr(found_root);
	*ret = search.found;
	return NULL;
}

struct error *dso_find_vdso(const struct dso_options *options,
			    const struct build_id *build_id,
			    struct elf_file **ret)
{
	_cleanup_free_ char *cached =
		build_id_path(options->buildid_dir, build_id, "/vdso");
	struct search search = { .build_id = build_id };
	bool found = cached && try_path(&search, NULL, cached);

	error_destroy(search.broken);
	if (!found)
		return error_at(ERROR_NOT_FOUND, "[vdso]", 0,
				"not in the build-id cache");
	*ret = search.found;
	return NULL;
}

static bool try_build_id(struct search *search,
			 const struct dso_options *options, const char *root)
{
	const char *dir = options->debug_dir ? options->debug_dir :
					       "/usr/lib/debug";
	_cleanup_free_ char *system =
		build_id_path(dir, search->build_id, ".debug");
	_cleanup_free_ char *cached =
		build_id_path(options->buildid_dir, search->build_id, "/debug");

	return (system && root && try_path(search, root, system)) ||
	       (system && try_path(search, NULL, system)) ||
	       (cached && try_path(search, NULL, cached));
}

/* A debuglink names its file by CRC; a build-id, where both have one, too. */
static bool try_link(struct search *search, const char *root, const char *path,
		     uint32_t crc)
{
	uint32_t found_crc;
	struct error *error;

	if (!try_path(search, root, path))
		return false;
	error = elf_file_crc(search->found, &found_crc);
	if (!error && found_crc == crc)
		return true;
	error_destroy(error);
	elf_file_destroy(search->found);
	search->found = NULL;
	return false;
}

static bool try_debuglink(struct search *search,
			  const struct dso_options *options, const char *root,
			  const char *path, struct elf_file *file)
{
	const struct {
		const char *before, *after;
	} places[] = {
		{ "", "" },
		{ "", "/.debug" },
		{ options->debug_dir ? options->debug_dir : "/usr/lib/debug",
		  "" },
	};
	const char *slash = strrchr(path, '/');
	const char *name;
	uint32_t crc;
	struct error *error = elf_file_debuglink(file, &name, &crc);

	if (error || !slash) {
		error_destroy(error);
		return false;
	}
	for (size_t i = 0; i < 3; i++) {
		_cleanup_strbuf_ struct strbuf link = STRBUF_INIT;

		strbuf_printf(&link, "%s%.*s%s/%s", places[i].before,
			      (int)(slash - path), path, places[i].after, name);
		if (!link.failed && try_link(search, root, link.data, crc))
			return true;
	}
	return false;
}

struct error *dso_find_debug(const struct dso_options *options,
			     const char *root, const char *path,
			     struct elf_file *file, struct elf_file **ret)
{
	struct search search = { .build_id = &file->build_id };
	bool found;

	found = (file->build_id.size && try_build_id(&search, options, root)) ||
		try_debuglink(&search, options, root, path, file);
	error_destroy(search.broken);
	if (!found)
		return error_at(ERROR_NOT_FOUND, path, 0,
				"no debug file was found");
	*ret = search.found;
	return NULL;
}
