// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a file of another profiler, of the format that they look like and of
 * each format of their kind. What is read refers only to what is there, and can be
 * written as a recording.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "import/import_format.h"
#include "import/recording.h"

/* Larger ones are slow to write, and no different. */
enum { WRITTEN_MAX = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct import_model *m)
{
	for (size_t i = 0; i < m->places.count; i++)
		if (m->places.data[i].function >= m->functions.count)
			abort();
	for (size_t i = 0; i < m->nodes.count; i++) {
		const struct import_node *node = &m->nodes.data[i];

		if (node->place >= m->places.count ||
		    (node->parent != PROFILE_NONE && node->parent >= i))
			abort();
	}
	for (size_t i = 0; i < m->samples.count; i++) {
		const struct import_sample *sample = &m->samples.data[i];

		if (!sample->count || !sample->weight ||
		    sample->event >= m->events.count ||
		    sample->thread >= m->threads.count ||
		    (sample->node != PROFILE_NONE &&
		     sample->node >= m->nodes.count))
			abort();
	}
}

static void read_as(const struct strbuf *text, const struct import_row *format)
{
	struct import_model model = IMPORT_MODEL_INIT;
	const struct import_row *found;
	struct import_written written;
	struct error *error = import_read("input", text->data, text->len, format,
					  &model, &found);

	check(&model);
	if (!error && model.count <= WRITTEN_MAX)
		error = import_write(&model, "/dev/null", -1, -1, &written);
	error_destroy(error);
	import_model_deinit(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_append(&text, data, size);
	if (!text.failed) {
		read_as(&text, NULL);
		for (const struct import_row *row = import_formats; row->name;
		     row++)
			read_as(&text, row);
	}
	strbuf_deinit(&text);
	return 0;
}
