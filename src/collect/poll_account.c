// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_account.h"

void poll_account_begin(struct poll_account *account, const struct task_run *run)
{
	account->told = *run;
	account->woken = UINT64_MAX;
}

uint64_t poll_account_woken(uint64_t sleeps, bool sleeps_now)
{
	return sleeps == UINT64_MAX ? sleeps : sleeps - (sleeps && sleeps_now);
}

/* So long it waited for a CPU since its last sample. */
static uint64_t has_waited(const struct poll_account *account,
			   const struct task_run *run)
{
	/* A wait that went on at the last sample may have been told of as longer. */
	return run->kept_off > account->told.kept_off ?
		       run->kept_off - account->told.kept_off :
		       0;
}

/* Each time that it got a CPU since, a sleep was over. */
static bool waited_asleep(const struct poll_account *account,
			  const struct task_run *run, uint64_t woken)
{
	uint64_t times = run->slices - account->told.slices;

	return times && woken != UINT64_MAX && account->woken != UINT64_MAX &&
	       woken - account->woken >= times;
}

uint64_t poll_account_awake(const struct poll_account *account,
			    const struct task_run *run, uint64_t woken)
{
	uint64_t awake = account->behind + run->ran - account->told.ran;

	return waited_asleep(account, run, woken) ?
		       awake :
		       awake + has_waited(account, run);
}

void poll_account_pass(struct poll_account *account, const struct task_run *run,
		       uint64_t woken)
{
	int64_t waited = (int64_t)has_waited(account, run);

	if (waited_asleep(account, run, woken))
		account->asleep_wait += waited;
	else
		account->awake_wait += waited;
	account->told = *run;
	account->woken = woken;
}

uint64_t poll_account_divide(struct poll_account *account,
			     const struct task_run *run, uint64_t woken,
			     bool sleeps, uint64_t time)
{
	uint64_t awake = poll_account_awake(account, run, woken);
	uint64_t now = awake < time ? awake : time;
	uint64_t *mine = sleeps ? &account->owed_asleep : &account->owed_awake;
	uint64_t period;

	account->behind = awake - now;
	account->owed_awake += now;
	account->owed_asleep += time - now;
	period = *mine;
	*mine = 0;
	poll_account_pass(account, run, woken);
	return period;
}

bool poll_account_waits(struct poll_account *account, bool sleeps,
			uint64_t period)
{
	int64_t *waited = sleeps ? &account->asleep_wait : &account->awake_wait;

	if (!period || *waited < (int64_t)(period / 2))
		return false;
	*waited -= (int64_t)period;
	return true;
}
