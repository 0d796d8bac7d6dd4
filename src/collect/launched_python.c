// SPDX-License-Identifier: GPL-2.0-only
#include "collect/launched_python.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

enum {
	/* Entries of .dynamic, which ends with DT_NULL. */
	DYNAMIC_MAX = 4096,
	/* Of a run path. */
	FOLDERS_MAX = 64,
};

/* Where ld.so looks, and what distributions add in /etc/ld.so.conf.d (ld.so(8)). */
static const char system_folders[] =
	"/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:"
	"/usr/local/lib:/usr/local/lib64:/lib:/usr/lib";

/* Of .dynamic; borrowed from the file. */
struct needs {
	/* "libpython3.12.so.1.0", or NULL. */
	const char *library;
	/* DT_RUNPATH or DT_RPATH, or "". */
	const char *run_path;
};

static const char *string_at(struct bytes strings, uint64_t at)
{
	return at < strings.size &&
			       memchr(strings.data + at, 0, strings.size - at) ?
		       (const char *)strings.data + at :
		       "";
}

static bool is_libpython(const char *name)
{
	/* libpython3.so passes all on to the one of a version. */
	return !strncmp(name, "libpython", 9) && strcmp(name, "libpython3.so") != 0;
}

static void take_entry(const Elf64_Dyn *entry, struct bytes strings,
		       struct needs *ret)
{
	const char *text = string_at(strings, entry->d_un.d_val);

	if (entry->d_tag == DT_NEEDED && is_libpython(text))
		ret->library = text;
	else if (entry->d_tag == DT_RUNPATH ||
		 (entry->d_tag == DT_RPATH && !*ret->run_path))
		ret->run_path = text;
}

/* Sources: System V gABI chapter 5, "Dynamic Section". */
static struct error *read_needs(struct elf_file *elf, struct needs *ret)
{
	struct bytes dynamic, strings;
	struct error *error = elf_file_section_by_name(elf, ".dynamic", NULL,
						       &dynamic);

	*ret = (struct needs){ .run_path = "" };
	if (!error)
		error = elf_file_section_by_name(elf, ".dynstr", NULL, &strings);
	if (error)
		return error;
	for (size_t i = 0; i < DYNAMIC_MAX; i++) {
		Elf64_Dyn entry;

		if ((i + 1) * sizeof(entry) > dynamic.size)
			break;
		memcpy(&entry, dynamic.data + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			break;
		take_entry(&entry, strings, ret);
	}
	return NULL;
}

/* One folder of a run path; origin: where the program is. */
static void put_folder(const char *folder, size_t len, const char *origin,
		       struct strbuf *out)
{
	static const char *const variables[] = { "$ORIGIN", "${ORIGIN}" };

	for (size_t i = 0; i < 2; i++) {
		size_t skipped = strlen(variables[i]);

		if (len < skipped || strncmp(folder, variables[i], skipped) != 0)
			continue;
		strbuf_puts(out, origin);
		folder += skipped;
		len -= skipped;
		break;
	}
	strbuf_append(out, folder, len);
}

/* The first of the folders that has the library. */
static struct error *prepare_in(struct target_files *files, const char *folders,
				const char *origin, const char *library,
				bool *found)
{
	*found = false;
	for (int i = 0; *folders && !*found && i < FOLDERS_MAX; i++) {
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
		size_t len = strcspn(folders, ":");
		const struct module *module = NULL;
		struct error *error;

		put_folder(folders, len, origin, &path);
		strbuf_printf(&path, "/%s", library);
		folders += len + (folders[len] == ':');
		error = strbuf_error(&path);
		if (!error && *path.data == '/')
			error = target_files_prepare(files, path.data, &module);
		if (error)
			return error;
		*found = module != NULL;
	}
	return NULL;
}

static struct error *prepare_library(struct target_files *files,
				     const char *program,
				     const struct needs *needs)
{
	_cleanup_free_ char *origin = realpath(program, NULL);
	bool found;
	struct error *error;

	if (!origin)
		return NULL;
	*strrchr(origin, '/') = '\0';
	error = prepare_in(files, needs->run_path, origin, needs->library, &found);
	if (error || found)
		return error;
	return prepare_in(files, system_folders, origin, needs->library, &found);
}

struct error *launched_python_prepare(struct target_files *files,
				      const char *program)
{
	const struct module *module;
	struct needs needs;
	struct error *error = target_files_prepare(files, program, &module);

	if (error || !module || module->is_python || module_refused(module))
		return error;
	error = read_needs(module->elf, &needs);
	if (!error && needs.library)
		return prepare_library(files, program, &needs);
	if (error && error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}
