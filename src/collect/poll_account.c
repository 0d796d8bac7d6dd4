// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_account.h"

enum {
	/* From here on samples are divided, into parts that have at least so much of it. */
	LONG_NS = 50000000,
	PARTS = 16,
};

static uint64_t at_most(int64_t value, uint64_t most)
{
	if (value <= 0)
		return 0;
	return (uint64_t)value < most ? (uint64_t)value : most;
}

void poll_account_begin(struct poll_account *account, const struct task_run *run)
{
	account->told = *run;
	account->woken = UINT64_MAX;
}

uint64_t poll_account_woken(uint64_t sleeps, bool sleeps_now)
{
	return sleeps == UINT64_MAX ? sleeps : sleeps - (sleeps && sleeps_now);
}

/*
 * So long it waited for a CPU since its last sample; less than nothing: a wait that went on
 * then was told of as longer than it was.
 */
static int64_t has_waited(const struct poll_account *account,
			  const struct task_run *run)
{
	return (int64_t)(run->kept_off - account->told.kept_off);
}

/* Each time that it got a CPU since, a sleep was over. */
static bool waited_asleep(const struct poll_account *account,
			  const struct task_run *run, uint64_t woken)
{
	uint64_t times = run->slices - account->told.slices;

	return times && woken != UINT64_MAX && account->woken != UINT64_MAX &&
	       woken - account->woken >= times;
}

uint64_t poll_account_goes_on(struct poll_account *account, uint64_t waits,
			      uint64_t since, uint64_t time)
{
	uint64_t most = time;

	if (account->waits_told && account->waits_since == since)
		most += account->waits_told;
	account->waits_told = waits < most ? waits : most;
	account->waits_since = since;
	return account->waits_told;
}

void poll_account_drop_waits(struct poll_account *account,
			     const struct task_run *run)
{
	account->awake_wait = account->asleep_wait = 0;
	account->told.kept_off = run->kept_off;
	account->waits_told = 0;
}

/* What was told of too much is taken off, so that it may be less than nothing. */
static int64_t awake_since(const struct poll_account *account,
			   const struct task_run *run, uint64_t woken)
{
	int64_t ran = (int64_t)(run->ran - account->told.ran);

	return account->behind + ran +
	       (waited_asleep(account, run, woken) ? 0 :
						     has_waited(account, run));
}

uint64_t poll_account_awake(const struct poll_account *account,
			    const struct task_run *run, uint64_t woken)
{
	return at_most(awake_since(account, run, woken), UINT64_MAX);
}

void poll_account_pass(struct poll_account *account, const struct task_run *run,
		       uint64_t woken)
{
	if (waited_asleep(account, run, woken))
		account->asleep_wait += has_waited(account, run);
	else
		account->awake_wait += has_waited(account, run);
	account->told = *run;
	account->woken = woken;
}

uint64_t poll_account_divide(struct poll_account *account,
			     const struct task_run *run, uint64_t woken,
			     bool sleeps, uint64_t time)
{
	int64_t awake = awake_since(account, run, woken);
	uint64_t now = at_most(awake, time);
	uint64_t *mine = sleeps ? &account->owed_asleep : &account->owed_awake;
	uint64_t period;

	account->behind = awake - (int64_t)now;
	account->owed_awake += now;
	account->owed_asleep += time - now;
	period = *mine;
	*mine = 0;
	poll_account_pass(account, run, woken);
	return period;
}

/* A part that is smaller than that is not told: the next sample has it. */
static uint64_t divide(int64_t waited, uint64_t period)
{
	uint64_t least = period / PARTS, wait = at_most(waited, period);

	if (wait < least)
		return 0;
	return period - wait < least ? period : wait;
}

uint64_t poll_account_wait(struct poll_account *account, bool sleeps,
			   uint64_t period, bool may_divide)
{
	int64_t *waited = sleeps ? &account->asleep_wait : &account->awake_wait;
	uint64_t wait;

	if (may_divide && period >= LONG_NS)
		wait = divide(*waited, period);
	else
		wait = *waited >= (int64_t)(period / 2) ? period : 0;
	*waited -= (int64_t)wait;
	return wait;
}
