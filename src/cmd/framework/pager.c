// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *pager_command(void)
{
	const char *command = getenv("KAA_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = access("/usr/bin/less", X_OK) ? "cat" : "less";
	return command;
}

static void run_pager(const char *command, const int pipe_fds[2])
{
	dup2(pipe_fds[0], STDIN_FILENO);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	/* Quit if it fits on one screen; colours; cut lines; leave the screen. */
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void pager_start(struct pager *pager)
{
	const char *command = pager_command();
	int fds[2];

	if (!isatty(STDOUT_FILENO) || !command[0] || !strcmp(command, "cat") ||
	    pipe(fds))
		return;
	fflush(stdout);
	pager->pid = fork();
	if (pager->pid == 0)
		run_pager(command, fds);
	if (pager->pid > 0) {
		dup2(fds[1], STDOUT_FILENO);
		/* The user who leaves the pager has seen enough. */
		signal(SIGPIPE, SIG_DFL);
		/* Ctrl-C is for the pager. */
		signal(SIGINT, SIG_IGN);
	} else {
		pager->pid = 0;
	}
	close(fds[0]);
	close(fds[1]);
}

void pager_end(struct pager *pager)
{
	if (!pager->pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	pager->pid = 0;
}
