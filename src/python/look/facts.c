// SPDX-License-Identifier: GPL-2.0-only
#include "python/look/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path_name.h"
#include "obj/elf_file.h"
#include "python/detect.h"
#include "python/look/look.h"
#include "symbolize/rooted.h"
#include "sys/capture.h"
#include "sys/proc.h"

void python_facts_deinit(struct python_facts *facts)
{
	free(facts->program);
	free(facts->version);
	free(facts->implementation);
	free(facts->library);
	free(facts->walker_refusal);
	python_config_deinit(&facts->config);
	*facts = (struct python_facts){};
}

/* Only what calls itself Python is run. */
static bool is_python_name(const char *file)
{
	const char *name = path_name(file);

	return strncmp(name, "python", 6) == 0 ||
	       strncmp(name, "pypy", 4) == 0;
}

static struct error *not_python(const char *subject)
{
	return error_create(ERROR_UNSUPPORTED, "there is no Python in %s",
			    subject);
}

/* A named program: it was asked, or is an ELF file that embeds Python. */
static struct error *look_at_program(const char *file, bool asked,
				     struct python_facts *facts)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *elf = NULL;
	struct error *error =
		elf_file_open(asked ? facts->library : file, &elf);

	if (error)
		return error;
	if (asked)
		return python_look_at_elf(elf, facts);
	if (!py_detect_maybe(elf))
		return not_python(file);
	error = python_set_text(&facts->program, file);
	if (error)
		return error;
	error = python_set_text(&facts->library, file);
	if (error)
		return error;
	error = python_look_at_elf(elf, facts);
	return error ? error : python_look_at_sysconfig("", facts);
}

static struct error *ask_and_look(const char *file, const char *path,
				  const struct invoker *invoker,
				  struct python_facts *facts)
{
	struct error *error;

	if (!is_python_name(file))
		return look_at_program(file, false, facts);
	error = python_ask(file, path, invoker, facts);
	return error ? error : look_at_program(file, true, facts);
}

struct error *python_facts_of_program(const char *name, const char *path,
				      const struct invoker *invoker,
				      struct python_facts *ret)
{
	_cleanup_free_ char *file = NULL;
	struct python_facts facts = {};
	struct error *error = capture_which(path, name, &file);

	if (error)
		return error;
	error = ask_and_look(file, path, invoker, &facts);
	if (error) {
		python_facts_deinit(&facts);
		return error;
	}
	*ret = facts;
	return NULL;
}

/* A path "/.../libpython3.12.so.1.0", but not the stable ABI's libpython3.so */
static bool is_libpython(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash, "/libpython", 10) == 0 &&
	       strncmp(slash, "/libpython3.so", 14) != 0;
}

/* Where the interpreter of a process is. */
struct located {
	/* The mapped file's inode; 0: it is the program itself. */
	uint64_t inode;
	/* The root below which the paths of the process hold. */
	const char *root;
	int fd;
};

/* Finds facts->library: a mapped libpython, or the program. */
static struct error *find_library(const char *root, pid_t pid,
				  struct python_facts *facts,
				  struct located *located)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	struct error *error = proc_maps_read(root, pid, &maps);
	const char *found = facts->program;

	if (error)
		return error;
	vec_for_each(map, &maps.maps) {
		if ((map->prot & PROT_EXEC) && is_libpython(map->path)) {
			found = map->path;
			located->inode = map->inode;
			facts->shared = true;
			break;
		}
	}
	error = python_set_text(&facts->library, found);
	proc_maps_deinit(&maps);
	return error;
}

static bool has_inode(int fd, uint64_t inode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_ino == inode;
}

/*
 * Opens path below root if it is the file with that inode; -1 if not. Paths in
 * /proc hold below /proc/PID/root if the process has a mount namespace of its
 * own, and below the reader's root if it is merely in a chroot.
 */
static int open_if_same(const char *root, const char *path, uint64_t inode)
{
	_cleanup_close_ int fd = -1;
	struct error *error = rooted_open(root, path, 0, &fd);

	if (error) {
		error_destroy(error);
		return -1;
	}
	return has_inode(fd, inode) ? take_fd(&fd) : -1;
}

/* Opens the library; own_root is /proc/PID/root. */
static struct error *open_library(const char *own_root, int exe_fd,
				  const struct python_facts *facts,
				  struct located *located)
{
	const char *const roots[] = { own_root, "" };
	struct stat st;

	if (!located->inode && fstat(exe_fd, &st) == 0)
		located->inode = st.st_ino;
	for (size_t i = 0; i < 2 && located->fd < 0; i++) {
		located->root = roots[i];
		located->fd = open_if_same(roots[i], facts->library,
					   located->inode);
	}
	/* Replaced since it was started: the program itself still opens. */
	if (located->fd < 0 && !facts->shared)
		located->fd = fcntl(exe_fd, F_DUPFD_CLOEXEC, 0);
	if (located->fd < 0)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' is the interpreter of the process, but the file was replaced or cannot be reached",
				    facts->library);
	return NULL;
}

/*
 * "3.7m" of libpython3.7m.so.1.0 as version "3.7", for interpreters that the
 * walker does not know.
 */
static struct error *version_of_name(struct python_facts *facts)
{
	const char *slash = strrchr(facts->library, '/');
	const char *digits;
	size_t length;

	if (facts->version || !slash)
		return NULL;
	digits = slash + strcspn(slash, "0123456789");
	length = strspn(digits, "0123456789.");
	while (length && digits[length - 1] == '.')
		length--;
	if (!memchr(digits, '.', length))
		return NULL;
	facts->version = strndup(digits, length);
	return facts->version ? NULL : error_no_memory();
}

/* facts->program and ->library are known, the library is open. */
static struct error *look_from_outside(pid_t pid, struct located *located,
				       struct python_facts *facts)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct error *error = elf_file_open_fd(take_fd(&located->fd),
					       facts->library, &file);
	char subject[32];

	if (error)
		return error;
	snprintf(subject, sizeof(subject), "process %d", (int)pid);
	if (!facts->shared && !py_detect_maybe(file) &&
	    !is_python_name(facts->program))
		return not_python(subject);
	error = python_look_at_elf(file, facts);
	if (error)
		return error;
	/* A file's name tells less than the interpreter in it. */
	error = version_of_name(facts);
	return error ? error : python_look_at_sysconfig(located->root, facts);
}

static struct error *look_at_process(const char *root, pid_t pid,
				     struct python_facts *facts)
{
	struct located located = { .fd = -1 };
	_cleanup_close_ int exe_fd = -1;
	char exe[64], own_root[64];
	struct error *error = proc_link(root, pid, "exe", &facts->program);

	if (error)
		return error;
	error = find_library(root, pid, facts, &located);
	if (error)
		return error;
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	snprintf(own_root, sizeof(own_root), "/proc/%d/root", (int)pid);
	exe_fd = open(exe, O_RDONLY | O_CLOEXEC);
	if (exe_fd < 0)
		return error_os(errno, exe, "cannot open");
	error = open_library(own_root, exe_fd, facts, &located);
	return error ? error : look_from_outside(pid, &located, facts);
}

static struct error *may_not_examine(const char *root, pid_t pid)
{
	_cleanup_strbuf_ struct strbuf owner = STRBUF_INIT;

	if (geteuid() == 0)
		return error_create(ERROR_PERMISSION,
				    "even root may not examine process %d",
				    (int)pid);
	proc_put_owner(root, pid, &owner);
	return error_create(ERROR_PERMISSION,
			    "process %d belongs to %s; run kaa under sudo",
			    (int)pid, owner.data);
}

struct error *python_facts_of_process(const char *root, pid_t pid,
				      struct python_facts *ret)
{
	struct python_facts facts = {};
	struct error *error = look_at_process(root, pid, &facts);

	if (!error) {
		*ret = facts;
		return NULL;
	}
	python_facts_deinit(&facts);
	if (error_is_os(error, EACCES) || error_is_os(error, EPERM)) {
		error_destroy(error);
		return may_not_examine(root, pid);
	}
	return error;
}
