// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as the image of registered code; its rows are read from this process. */
#include <unistd.h>

#include "collect/made_object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct remote_memory memory = remote_memory_init(getpid());
	struct made_object *object;
	struct error *error = made_object_create((struct bytes){ data, size },
						 &memory, &object);

	if (error) {
		error_destroy(error);
		return 0;
	}
	vec_for_each(range, &object->code)
		if (object->cfi)
			cfi_find(object->cfi, range->start);
	vec_for_each(symbol, &object->symbols)
		made_object_symbol(object, symbol->range.start);
	made_object_destroy(object);
	remote_memory_deinit(&memory);
	return 0;
}
