// SPDX-License-Identifier: GPL-2.0-only
#include "collect/tracepoints.h"

#include <unistd.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "perfdata/tracing_data.h"
#include "sys/tracefs.h"

static struct bytes bytes_of(const struct strbuf *text)
{
	return (struct bytes){ (const uint8_t *)text->data, text->len };
}

static struct error *set_texts(const struct tracepoint_texts *texts,
			       struct features *features)
{
	_cleanup_strbuf_ struct strbuf section = STRBUF_INIT;
	VEC(struct tracing_format) formats = {};
	struct tracing_data data = {
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.header_page = bytes_of(&texts->header_page),
		.header_event = bytes_of(&texts->header_event),
		.printk_formats = bytes_of(&texts->printk_formats),
	};
	struct error *error = NULL;

	vec_for_each(format, &texts->formats)
		if (!error && !vec_push(&formats, (struct tracing_format){
							  format->system,
							  bytes_of(&format->text) }))
			error = error_no_memory();
	data.formats = formats.data;
	data.format_count = formats.count;
	if (!error)
		error = tracing_data_encode(&data, &section);
	if (!error)
		error = features_set_tracing_data(features, section.data,
						  section.len);
	vec_deinit(&formats);
	return error;
}

struct error *tracepoints_describe(const char *root,
				   const struct events *events,
				   struct features *features)
{
	struct tracepoint_texts texts = TRACEPOINT_TEXTS_INIT;
	VEC(uint64_t) ids = {};
	struct error *error = NULL;

	for (size_t i = 0; !error && i < events->list.count; i++) {
		const struct event *event = events->list.data[i];

		if (event->meaning.data == EVENT_DATA_FIELDS &&
		    !vec_push(&ids, event->attr.config))
			error = error_no_memory();
	}
	if (!error && ids.count)
		error = tracepoint_texts_read(root, ids.data, ids.count,
					      &texts);
	if (!error && ids.count)
		error = set_texts(&texts, features);
	tracepoint_texts_deinit(&texts);
	vec_deinit(&ids);
	return error;
}
