// SPDX-License-Identifier: GPL-2.0-only
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

bool vec_grow_(void **data, size_t *capacity, size_t need, size_t size)
{
	size_t new_capacity = *capacity ? *capacity : 8;
	void *new_data;

	if (need <= *capacity)
		return true;
	if (need > SIZE_MAX / 2 / size)
		return false;
	while (new_capacity < need)
		new_capacity *= 2;
	new_data = realloc(*data, new_capacity * size);
	if (!new_data)
		return false;
	*data = new_data;
	*capacity = new_capacity;
	return true;
}

bool vec_extend_(void **data, size_t *count, size_t *capacity, size_t need,
		 size_t size)
{
	if (!vec_grow_(data, capacity, need, size))
		return false;
	memset((char *)*data + *count * size, 0, (need - *count) * size);
	*count = need;
	return true;
}
