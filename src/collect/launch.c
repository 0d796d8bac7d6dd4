// SPDX-License-Identifier: GPL-2.0-only
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/name_match.h"
#include "base/search_path.h"
#include "sys/privilege.h"

enum { EXIT_EXEC_FAILED = 127 };

/* --- is there such a command --- */

/* 0, or why that file cannot be run. */
static int check_file(const char *file)
{
	struct stat st;

	if (stat(file, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return faccessat(AT_FDCWD, file, X_OK, AT_EACCESS) ? errno : 0;
}

/* As execvp() searches: what may not be run is passed over, but remembered. */
static int find_in_folders(const char *name, const char *path,
			   char file[PATH_MAX])
{
	int found = ENOENT;

	while (search_path_next(&path, name, file, PATH_MAX)) {
		int errnum = check_file(file);

		if (!errnum)
			return 0;
		if (errnum == EACCES || errnum == EISDIR)
			found = errnum;
	}
	return found;
}

/* A path; or a script that people meant to be here. */
static bool means_file(const char *name)
{
	return strchr(name, '/') ||
	       (name_ends_with(name, ".py") && access(name, F_OK));
}

static struct error *exec_error(const char *name, int errnum)
{
	if (errnum == ENOENT)
		return error_create(ERROR_NOT_FOUND, "'%s': %s", name,
				    means_file(name) ? "there is no such file" :
						       "command not found");
	return error_os(errnum, name, "cannot run the command");
}

struct error *launch_find(const char *name, const char *path, char **ret)
{
	char file[PATH_MAX], *found;
	bool has_slash = strchr(name, '/') != NULL;
	int errnum = ENOENT;

	if (!path)
		path = getenv("PATH");
	if (has_slash)
		errnum = check_file(name);
	else if (*name)
		errnum = find_in_folders(
			name, path ? path : SEARCH_PATH_DEFAULT, file);
	if (errnum)
		return exec_error(name, errnum);
	found = strdup(has_slash ? name : file);
	if (!found)
		return error_no_memory();
	*ret = found;
	return NULL;
}

/* --- starting it --- */

static void __attribute__((noreturn))
child(int go_fd, int failure_fd, char *const argv[],
      const struct invoker *invoker, const char *path, bool output_is_data,
      launch_trampolines *trampolines)
{
	char byte;
	int err = 0;

	/* End of file: the recorder is gone or gave up. */
	if (read(go_fd, &byte, 1) != 1)
		_exit(EXIT_EXEC_FAILED);
	if (output_is_data && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		err = errno;
	if (!err)
		err = -privilege_become(invoker);
	if (!err)
		err = -invoker_set_environment(invoker, path);
	if (!err && byte && trampolines)
		err = trampolines(argv);
	if (!err) {
		execvp(argv[0], argv);
		err = errno;
	}
	if (write(failure_fd, &err, sizeof(err)) != sizeof(err))
		_exit(EXIT_EXEC_FAILED);
	_exit(EXIT_EXEC_FAILED);
}

struct error *launch_prepare(struct launch *launch, char *const argv[],
			     const struct invoker *invoker, const char *path,
			     bool output_is_data,
			     launch_trampolines *trampolines)
{
	int go[2], failure[2];
	pid_t pid;

	/* A socket, since writing to it can do without SIGPIPE. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return error_os(errno, NULL, "cannot make a pair of sockets");
	if (pipe2(failure, O_CLOEXEC)) {
		int errnum = errno;

		close(go[0]);
		close(go[1]);
		return error_os(errnum, NULL, "cannot make a pipe");
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(failure[0]);
		child(go[0], failure[1], argv, invoker, path, output_is_data,
		      trampolines);
	}
	close(go[0]);
	close(failure[1]);
	*launch = (struct launch){
		.pid = pid,
		.go_fd = go[1],
		.failure_fd = failure[0],
		.name = argv[0],
	};
	if (pid < 0) {
		int errnum = errno;

		launch_deinit(launch);
		return error_os(errnum, NULL, "cannot fork");
	}
	return NULL;
}

/* The command has been looked for: what is not there is its interpreter. */
static struct error *late_error(const struct launch *launch, int errnum)
{
	if (errnum == ENOENT)
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' or the interpreter in its first line was not found",
			launch->name);
	return exec_error(launch->name, errnum);
}

struct error *launch_go(struct launch *launch, bool trampolines)
{
	char byte = trampolines;
	ssize_t n;
	int errnum;

	if (send(launch->go_fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' was killed before it started",
				    launch->name);
	do {
		n = read(launch->failure_fd, &errnum, sizeof(errnum));
	} while (n < 0 && errno == EINTR);
	close(launch->go_fd);
	close(launch->failure_fd);
	launch->go_fd = launch->failure_fd = -1;
	if (n != sizeof(errnum))
		return NULL;
	waitpid(launch->pid, NULL, 0);
	launch->pid = -1;
	return late_error(launch, errnum);
}

void launch_deinit(struct launch *launch)
{
	bool waiting = launch->go_fd >= 0;

	if (launch->go_fd >= 0)
		close(launch->go_fd);
	if (launch->failure_fd >= 0)
		close(launch->failure_fd);
	if (waiting && launch->pid > 0)
		waitpid(launch->pid, NULL, 0);
	*launch = (struct launch)LAUNCH_INIT;
}
