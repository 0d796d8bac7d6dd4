// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "python/look/look.h"
#include "symbolize/rooted.h"

/* Those of CPython have 50 to 150 KiB. */
enum { SYSCONFIG_MAX = 16 << 20 };

/* "<prefix>/lib/pythonX.Y" of "<prefix>/bin/program"; false if not known. */
static bool library_folder(const struct python_facts *facts, char *folder,
			   size_t size)
{
	const char *slash = strrchr(facts->program, '/');
	const char *dot = facts->version ? strchr(facts->version, '.') : NULL;
	size_t series;

	if (!slash || !dot || !isdigit((unsigned char)dot[1]))
		return false;
	series = (size_t)(dot + 1 - facts->version) +
		 strspn(dot + 1, "0123456789");
	return snprintf(folder, size, "%.*s/../lib/python%.*s",
			(int)(slash - facts->program), facts->program,
			(int)series, facts->version) < (int)size;
}

/* What follows the version in the program's name: "d" of "python3.13d". */
static const char *abi_of(const struct python_facts *facts)
{
	const char *name = strrchr(facts->program, '/') + 1;

	name += strcspn(name, "0123456789");
	return name + strspn(name, "0123456789.");
}

/*
 * The _sysconfigdata_<abi>_*.py in the folder: a debug build may stand beside the
 * ordinary one. Else another one; false if there is none.
 */
static bool find_file(const char *root, const char *folder, const char *abi,
		      char *file, size_t size)
{
	char own[NAME_MAX + 1], name[NAME_MAX + 1] = "";
	struct error *error;
	struct dirent *entry;
	DIR *dir;
	int fd;

	snprintf(own, sizeof(own), "_sysconfigdata_%s_", abi);

	error = rooted_open(root, folder, O_DIRECTORY, &fd);
	if (error) {
		error_destroy(error);
		return false;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return false;
	}
	while ((entry = readdir(dir))) {
		bool is_own = !strncmp(entry->d_name, own, strlen(own));

		if (fnmatch("_sysconfigdata*.py", entry->d_name, 0) == 0 &&
		    (is_own || !name[0]))
			snprintf(name, sizeof(name), "%s", entry->d_name);
		if (is_own)
			break;
	}
	closedir(dir);
	return name[0] &&
	       snprintf(file, size, "%s/%s", folder, name) < (int)size;
}

/* Appends a regular file; false if it is none, too large or not readable. */
static bool read_file(const char *root, const char *file, struct strbuf *out)
{
	_cleanup_close_ int fd = -1;
	struct error *error = rooted_open(root, file, 0, &fd);
	struct stat st;
	ssize_t n;

	if (error) {
		error_destroy(error);
		return false;
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > SYSCONFIG_MAX || !strbuf_reserve(out, SYSCONFIG_MAX))
		return false;
	n = read(fd, out->data, SYSCONFIG_MAX);
	if (n <= 0)
		return false;
	out->len = (size_t)n;
	out->data[n] = '\0';
	return true;
}

struct error *python_look_at_sysconfig(const char *root,
				       struct python_facts *facts)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char folder[PATH_MAX], file[PATH_MAX];

	if (!library_folder(facts, folder, sizeof(folder)) ||
	    !find_file(root, folder, abi_of(facts), file, sizeof(file)) ||
	    !read_file(root, file, &text))
		return NULL;
	return python_config_parse(
		(struct bytes){ (const uint8_t *)text.data, text.len },
		&facts->config);
}
