// SPDX-License-Identifier: GPL-2.0-only
#include "collect/name_writer.h"

#include <linux/perf_event.h>

#include "base/mapping_name.h"
#include "base/strbuf.h"
#include "sys/own_vdso.h"

void name_writer_deinit(struct name_writer *writer)
{
	name_table_deinit(&writer->names);
}

struct error *name_writer_wish(struct name_writer *writer,
			       const struct stack_builder *stacks,
			       const struct record *sample,
			       const struct target *target)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < stacks->chain.count; i++) {
		uint64_t ip = stacks->chain.data[i];

		if (ip == (uint64_t)PERF_CONTEXT_USER)
			break;
		if (ip < PERFDATA_CONTEXT_MAX)
			error = name_table_kernel(&writer->names, ip);
	}
	for (size_t i = 0; !error && i < stacks->natives.count; i++) {
		uint64_t ip = stacks->natives.data[i].ip;
		const struct process_map *map;

		if (!stack_frame_lacks_cfi(stacks, sample, i))
			continue;
		map = process_map_at(target->process, ip, sample->time);
		if (map && !mapping_has_file(map->file->path))
			error = name_table_user(&writer->names, sample->pid,
						ip);
	}
	return error;
}

static struct error *put_symbol(void *arg, const struct kaa_symbol *symbol)
{
	struct name_writer *writer = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_symbol(symbol, &payload);

	if (error)
		return error;
	return output_payload(writer->output, output_time_last(writer->output),
			      0, payload.data, payload.len);
}

struct error *name_writer_put_process(struct name_writer *writer, uint32_t pid)
{
	return name_table_tell_process(&writer->names, pid, put_symbol, writer);
}

/*
 * A recording without it is still good where it was made. Not long before the first
 * sample: that may come soon after its process called exec, and samply takes what
 * comes before an exec for another process.
 */
static struct error *put_vdso(struct name_writer *writer)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct output *output = writer->output;
	struct kaa_vdso vdso = {};
	struct error *error = own_vdso(&vdso.image);

	if (!error)
		error = kaa_encode_vdso(&vdso, &payload);
	if (!error)
		return output_payload(output, output->round_earliest - 1, 0,
				      payload.data, payload.len);
	if (error->code == ERROR_NO_MEMORY)
		return error;
	error_destroy(error);
	return NULL;
}

struct error *name_writer_put_vdso(struct name_writer *writer)
{
	uint32_t file = writer->names.file;

	if (writer->vdso_in == file || !writer->output->round_earliest)
		return NULL;
	writer->vdso_in = file;
	return put_vdso(writer);
}

struct error *name_writer_put_all(struct name_writer *writer)
{
	return name_table_tell_all(&writer->names, put_symbol, writer);
}

struct error *name_writer_put_source(struct name_writer *writer,
				     struct source_state *source,
				     const struct target_list *targets)
{
	return source->source->put_names ?
		       source->source->put_names(source, targets,
						 &writer->names, put_symbol,
						 writer) :
		       NULL;
}
