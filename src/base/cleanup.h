/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scope-bound cleanup.
 *
 * A variable marked with one of these attributes is released when it leaves
 * scope. Hand ownership on with take_ptr() or take_fd(), which leave the
 * variable empty.
 */
#ifndef KAA_BASE_CLEANUP_H
#define KAA_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Calls fn(&variable) at the end of the scope. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))

static inline void cleanup_free_(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_close_(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclose_(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* free() */
#define _cleanup_free_ _cleanup_(cleanup_free_)
/* close() unless negative */
#define _cleanup_close_ _cleanup_(cleanup_close_)
/* fclose() unless NULL */
#define _cleanup_fclose_ _cleanup_(cleanup_fclose_)

/*
 * Defines cleanup_<name>_(), which calls destroy() on a pointer variable.
 * Use as: _cleanup_(cleanup_<name>_) struct thing *thing = NULL;
 */
#define DEFINE_CLEANUP(name, type, destroy)             \
	static inline void cleanup_##name##_(type *p)   \
	{                                               \
		destroy(*p);                            \
	}                                               \
	struct cleanup_swallow_semicolon_

/* Returns the pointer and sets the variable to NULL. */
#define take_ptr(p)                       \
	({                                \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;               \
		taken_;                   \
	})

/* Returns the descriptor and sets the variable to -1. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
