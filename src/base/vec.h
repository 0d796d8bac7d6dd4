/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A growing array of any type.
 *
 *	VEC(struct thing) things = {};
 *	if (!vec_push(&things, thing))
 *		return error_no_memory();
 *	vec_deinit(&things);
 *
 * Name the type when it passes a function boundary:
 *	typedef VEC(struct thing) thing_vec;  or  struct thing_vec VEC_BODY(...)
 */
#ifndef KAA_BASE_VEC_H
#define KAA_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define VEC_BODY(type)           \
	{                        \
		type *data;      \
		size_t count;    \
		size_t capacity; \
	}
#define VEC(type) struct VEC_BODY(type)

/* Grows *data to hold at least need elements; false when memory runs out. */
bool vec_grow_(void **data, size_t *capacity, size_t need, size_t size);

/* Makes room for n more elements; false when memory runs out. */
#define vec_reserve(v, n)                                                \
	vec_grow_((void **)&(v)->data, &(v)->capacity, (v)->count + (n), \
		  sizeof(*(v)->data))

/* Appends one element; false when memory runs out. */
#define vec_push(v, ...)                                             \
	((v)->count < (v)->capacity || vec_reserve((v), 1) ?         \
		 ((v)->data[(v)->count++] = (__VA_ARGS__), true) :   \
		 false)

/* Grows *data to need elements, the new ones zeroed. */
bool vec_extend_(void **data, size_t *count, size_t *capacity, size_t need,
		 size_t size);

/*
 * The address of element i, zeroed if it was not there yet, as are those before
 * it; NULL when memory runs out. Makes a table of what a number stands for.
 */
#define vec_slot(v, i)                                                    \
	((i) < (v)->count ||                                              \
			 vec_extend_((void **)&(v)->data, &(v)->count,    \
				     &(v)->capacity, (size_t)(i) + 1,     \
				     sizeof(*(v)->data)) ?                \
		 &(v)->data[i] :                                          \
		 NULL)

#define vec_last(v) (&(v)->data[(v)->count - 1])
#define vec_clear(v) ((void)((v)->count = 0))
#define vec_deinit(v)                            \
	do {                                     \
		free((v)->data);                 \
		(v)->data = NULL;                \
		(v)->count = (v)->capacity = 0;  \
	} while (0)

/* How many elements there are before the first whose member is not `order` value. */
#define vec_search_(v, member, order, value)                         \
	({                                                           \
		size_t low_ = 0, high_ = (v)->count, middle_;        \
		while (low_ < high_) {                               \
			middle_ = low_ + (high_ - low_) / 2;         \
			if ((v)->data[middle_].member order (value)) \
				low_ = middle_ + 1;                  \
			else                                         \
				high_ = middle_;                     \
		}                                                    \
		low_;                                                \
	})

/*
 * The index of the first element whose member is not less than value, or the count. The
 * elements are in order of that member, a number.
 */
#define vec_lower_bound(v, member, value) vec_search_(v, member, <, value)
/* The same of the first element whose member is greater: how many are not. */
#define vec_upper_bound(v, member, value) vec_search_(v, member, <=, value)

/* The last element whose member is not greater than value, or NULL. */
#define vec_floor(v, member, value)                                  \
	({                                                           \
		size_t end_ = vec_upper_bound(v, member, value);     \
		end_ ? &(v)->data[end_ - 1] : NULL;                  \
	})

/* Iterates with `it` pointing at each element in turn. */
#define vec_for_each(it, v)                                  \
	for (__typeof__(&*(v)->data) it = (v)->data;         \
	     it && it < (v)->data + (v)->count; it++)

#endif
