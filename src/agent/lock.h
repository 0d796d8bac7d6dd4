/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lock around the backend. Not held across calls into CPython.
 */
#ifndef KAA_AGENT_LOCK_H
#define KAA_AGENT_LOCK_H

void agent_lock(void);
void agent_unlock(void);

/*
 * Handlers for pthread_atfork(): no other thread is inside a backend while the
 * process is copied.
 */
void lock_before_fork(void);
void lock_after_fork_in_parent(void);
void lock_after_fork_in_child(void);

#endif
