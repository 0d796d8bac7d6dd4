// SPDX-License-Identifier: GPL-2.0-only
#include "agent/lock.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t lock_owner;
static bool locked;
/* Whether the fork in progress took the lock. */
static bool locked_for_fork;

void agent_lock(void)
{
	pthread_mutex_lock(&lock);
	lock_owner = pthread_self();
	locked = true;
}

void agent_unlock(void)
{
	locked = false;
	pthread_mutex_unlock(&lock);
}

/* A signal handler that forks may have interrupted this very thread in there. */
void lock_before_fork(void)
{
	if (locked && pthread_equal(lock_owner, pthread_self()))
		return;
	agent_lock();
	locked_for_fork = true;
}

void lock_after_fork_in_parent(void)
{
	if (!locked_for_fork)
		return;
	locked_for_fork = false;
	agent_unlock();
}

void lock_after_fork_in_child(void)
{
	static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;

	if (!locked_for_fork)
		return;
	locked_for_fork = false;
	locked = false;
	lock = fresh;
}
