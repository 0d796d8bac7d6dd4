// SPDX-License-Identifier: GPL-2.0-only
#include "collect/name_writer.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/mapping_name.h"
#include "base/strbuf.h"
#include "collect/removed_files.h"
#include "sys/own_vdso.h"

/* Addresses and names of registered code. */
enum { MADE_MAX = 4 << 20 };

enum made_kind {
	/* What was registered when the address was looked up. */
	MADE_ADDRESS,
	/* Name and size of the function that begins there. */
	MADE_NAME,
	/* From what time on that was written to hold. */
	MADE_SINCE,
};

void name_writer_deinit(struct name_writer *writer)
{
	name_table_deinit(&writer->names);
	map_deinit(&writer->made);
}

/* What is written when the recording is over. */
static struct error *put_last(const struct name_writer *writer,
			      const struct strbuf *payload)
{
	return output_payload(writer->output, output_time_last(writer->output),
			      0, payload->data, payload->len);
}

static struct error *put_symbol(void *arg, const struct kaa_symbol *symbol)
{
	struct name_writer *writer = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_symbol(symbol, &payload);

	return error ? error : put_last(writer, &payload);
}

/*
 * Registered code: in perf's eyes it belongs to the process's perf map. Readers that
 * read in order of time come to know it before the first sample in it.
 */
static struct error *put_made(struct name_writer *writer, uint32_t pid,
			      uint64_t since, const struct made_symbol *made)
{
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf dso = STRBUF_INIT;
	struct kaa_symbol symbol = {
		.pid = pid,
		.kind = KAA_SYMBOL_PERF_MAP,
		.start = made->range.start,
		.size = made->range.end - made->range.start,
		/* Other code may have been there before. */
		.valid_from = since,
		.valid_to = UINT64_MAX,
		.name = { made->name, strlen(made->name) },
	};
	struct error *error;

	strbuf_printf(&dso, "/tmp/perf-%u.map", pid);
	symbol.dso = (struct kaa_string){ dso.data, dso.len };
	error = kaa_encode_symbol(&symbol, &payload);
	if (error)
		return error;
	return output_payload(writer->output,
			      output_time_before(writer->output, since), 0,
			      payload.data, payload.len);
}

/* *is_new: what is noted last for the key in this file is not the value. */
static struct error *note_made(struct name_writer *writer, uint64_t key,
			       uint64_t value, bool *is_new)
{
	uint64_t noted = hash_combine(writer->names.file, value), *last;

	/* What is forgotten is written once more. */
	if (writer->made.count >= MADE_MAX)
		map_clear(&writer->made);
	last = map_insert(&writer->made, key, noted, is_new);
	if (!last)
		return error_no_memory();
	*is_new |= *last != noted;
	*last = noted;
	return NULL;
}

static uint64_t made_key(const struct target *target, enum made_kind kind,
			 uint64_t address)
{
	return hash_combine(hash_combine(target->pid, kind), address);
}

/*
 * When another name or size was written last for the address, or was written for
 * later samples alone.
 */
static struct error *wish_made(struct name_writer *writer,
			       const struct target *target,
			       const struct made_symbol *made)
{
	uint64_t start = made->range.start, since = target->made.since;
	uint64_t value = hash_combine(made->range.end - start,
				      hash_string(made->name));
	uint64_t *written;
	bool is_new;
	struct error *error = note_made(
		writer, made_key(target, MADE_NAME, start), value, &is_new);

	if (error)
		return error;
	written = map_insert(&writer->made, made_key(target, MADE_SINCE, start),
			     since, NULL);
	if (!written)
		return error_no_memory();
	if (!is_new && since >= *written)
		return NULL;
	*written = since;
	return put_made(writer, target->pid, since, made);
}

/* Code that no file has. */
static struct error *wish_user(struct name_writer *writer,
			       const struct target *target, uint64_t ip)
{
	const struct made_symbol *at = target_made_symbol(target, ip);
	/* A return address may stand behind the last byte. */
	const struct made_symbol *before = target_made_symbol(target, ip - 1);
	struct error *error = NULL;

	if (at)
		error = wish_made(writer, target, at);
	if (!error && before && before != at)
		error = wish_made(writer, target, before);
	if (error || at || before)
		return error;
	return name_table_user(&writer->names, target->pid, ip);
}

/* Each address once, for what is registered now, and for the earliest sample. */
static struct error *wish_user_once(struct name_writer *writer,
				    const struct target *target, uint64_t ip)
{
	bool is_new;
	struct error *error =
		note_made(writer, made_key(target, MADE_ADDRESS, ip),
			  hash_combine(target->made.version,
				       target->made.since),
			  &is_new);

	return error || !is_new ? error : wish_user(writer, target, ip);
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
	for (size_t i = stacks->first_without_cfi;
	     !error && i < stacks->natives.count; i++) {
		uint64_t ip = stacks->natives.data[i].ip;
		const struct process_map *map;

		if (!stack_frame_lacks_cfi(stacks, sample, i))
			continue;
		map = process_map_at(target->process, ip, sample->time);
		if (map && !mapping_has_file(map->file->path))
			error = wish_user_once(writer, target, ip);
	}
	return error;
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

static struct error *put_file_symbol(void *arg,
				     const struct kaa_file_symbol *symbol)
{
	struct name_writer *writer = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_file_symbol(symbol, &payload);

	return error ? error : put_last(writer, &payload);
}

struct error *name_writer_put_removed(struct name_writer *writer,
				      const struct target_files *files)
{
	return removed_files_tell(files, put_file_symbol, writer);
}

static struct error *put_hash(void *arg, const struct kaa_source *source)
{
	struct name_writer *writer = arg;
	_cleanup_strbuf_ struct strbuf payload = STRBUF_INIT;
	struct error *error = kaa_encode_source(source, &payload);

	return error ? error : put_last(writer, &payload);
}

struct error *name_writer_put_hashes(struct name_writer *writer,
				     const struct source_hashes *hashes,
				     const struct code_table *codes)
{
	return source_hashes_tell(hashes, codes, put_hash, writer);
}

struct error *name_writer_put_source(struct name_writer *writer,
				     struct source_state *source)
{
	return source->source->put_names ?
		       source->source->put_names(source, &writer->names,
						 put_symbol, writer) :
		       NULL;
}
