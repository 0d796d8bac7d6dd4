// SPDX-License-Identifier: GPL-2.0-only
#include "collect/last_walks.h"

/* Frames of all places; each takes some 150 bytes. */
enum { ROOM_MAX = 1 << 16 };

void last_walks_deinit(struct last_walks *walks)
{
	for (size_t i = 0; i < LAST_WALKS; i++)
		unwind_trace_deinit(&walks->places[i]);
	*walks = (struct last_walks){};
}

/* The walk since then may have made the place larger, or smaller. */
static void account(struct last_walks *walks)
{
	if (!walks->given)
		return;
	walks->room += walks->given->capacity - walks->given_capacity;
	if (walks->room > ROOM_MAX)
		last_walks_deinit(walks);
}

struct unwind_trace *last_walks_of(struct last_walks *walks, uint32_t tid)
{
	account(walks);
	/* Threads that begin together have numbers in a row. */
	walks->given = &walks->places[tid % LAST_WALKS];
	walks->given_capacity = walks->given->capacity;
	return walks->given;
}
