/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long output on a terminal goes through a pager: $KAA_PAGER, else $PAGER,
 * else less. "cat" or an empty value: none.
 */
#ifndef KAA_CMD_FRAMEWORK_PAGER_H
#define KAA_CMD_FRAMEWORK_PAGER_H

#include <sys/types.h>

/* Zero-initialise. */
struct pager {
	/* 0: there is none. */
	pid_t pid;
};

/*
 * Starts one and puts it behind standard output, if that is a terminal. Best
 * effort: without a pager the output goes to the terminal.
 */
void pager_start(struct pager *pager);
/* Ends the output and waits until the user has left the pager. */
void pager_end(struct pager *pager);

#define _cleanup_pager_ _cleanup_(pager_end)

#endif
