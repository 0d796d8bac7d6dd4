// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <unistd.h>

#include "cmd/framework/command.h"

/*
 * As a program dies of Ctrl-C that does not catch it: a shell that runs kaa in a
 * loop ends the loop then. Should the signal be ignored, a shell's exit code for it.
 */
static int die_of_interrupt(void)
{
	sigset_t set;

	signal(SIGINT, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	kill(getpid(), SIGINT);
	return 128 + SIGINT;
}

int main(int argc, char **argv)
{
	int exit_code = command_main(argc, argv);

	return exit_code == EXIT_CODE_INTERRUPTED ? die_of_interrupt() :
						    exit_code;
}
