// SPDX-License-Identifier: GPL-2.0-only
#include "collect/poll_letters.h"

void poll_letters_init(struct poll_letters *letters)
{
	*letters = (struct poll_letters){};
	pthread_mutex_init(&letters->lock, NULL);
}

void poll_letters_deinit(struct poll_letters *letters)
{
	vec_deinit(&letters->sent);
	vec_deinit(&letters->read);
	pthread_mutex_destroy(&letters->lock);
}

struct error *poll_letters_send(struct poll_letters *letters, pid_t pid,
				uint64_t since,
				const struct walker_process *python)
{
	struct poll_letter letter = { .pid = pid,
				      .since = since,
				      .has_python = python != NULL };
	bool kept;

	if (python)
		letter.python = *python;
	pthread_mutex_lock(&letters->lock);
	kept = vec_push(&letters->sent, letter);
	pthread_mutex_unlock(&letters->lock);
	return kept ? NULL : error_no_memory();
}

void poll_letters_read(struct poll_letters *letters)
{
	vec_clear(&letters->read);
	pthread_mutex_lock(&letters->lock);
	vec_for_each(letter, &letters->sent)
		if (!vec_push(&letters->read, *letter))
			break;
	vec_clear(&letters->sent);
	pthread_mutex_unlock(&letters->lock);
}
