// SPDX-License-Identifier: GPL-2.0-only
/* Any bytes as a section TRACING_DATA: what comes out lies within it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/tracing_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct bytes *text, const uint8_t *data, size_t size)
{
	if (text->size &&
	    (text->data < data || text->data + text->size > data + size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracing_section section;
	struct error *error = tracing_data_decode(data, size, &section);

	if (error) {
		error_destroy(error);
		return 0;
	}
	check(&section.header_page, data, size);
	check(&section.printk_formats, data, size);
	vec_for_each(format, &section.formats) {
		check(&format->text, data, size);
		if (strlen(format->system) > size)
			abort();
	}
	tracing_section_deinit(&section);
	return 0;
}
