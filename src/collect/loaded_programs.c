// SPDX-License-Identifier: GPL-2.0-only
#include "collect/loaded_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

enum {
	/* Of one program; the kernel allows 256. */
	FUNCTIONS_MAX = 4096,
	/* Bytes for each function in struct bpf_func_info; it may grow. */
	INFO_MAX = 256,
	TAG_SIZE = 8,
	/* KSYM_NAME_LEN of Linux 6.1 on. */
	NAME_MAX_BYTES = 511,
};

/* Of one program; the arrays have an element for each function. */
struct details {
	struct bpf_prog_info info;
	uint64_t *starts;
	uint32_t *sizes;
	uint8_t (*tags)[TAG_SIZE];
	/* `functions` of info.func_info_rec_size bytes, or none. */
	uint8_t *infos;
	/* Borrowed; NULL: none. */
	const struct btf *btf;
};

/* Types that were loaded last: all programs of one object have the same. */
struct types {
	uint32_t id;
	struct btf *btf;
};

static void details_deinit(struct details *details)
{
	free(details->starts);
	free(details->sizes);
	free(details->tags);
	free(details->infos);
}

void loaded_programs_deinit(struct loaded_programs *programs)
{
	vec_deinit(&programs->functions);
	vec_deinit(&programs->programs);
	arena_deinit(&programs->names);
}

const char *loaded_function_name(struct arena *arena, const uint8_t tag[8],
				 const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_puts(&text, "bpf_prog_");
	for (int i = 0; i < TAG_SIZE; i++)
		strbuf_printf(&text, "%02x", tag[i]);
	if (name && *name)
		strbuf_printf(&text, "_%s", name);
	strbuf_truncate(&text, NAME_MAX_BYTES);
	return text.failed ? NULL : arena_strndup(arena, text.data, text.len);
}

/* By its BTF; else the program's own, which is that of its only function. */
static const char *short_name(const struct details *details, size_t i)
{
	const struct bpf_prog_info *info = &details->info;
	const struct btf_type *type;
	struct bpf_func_info function;

	if (!details->btf || i >= info->nr_func_info)
		return info->nr_jited_ksyms == 1 ? info->name : "F";
	memcpy(&function, details->infos + i * info->func_info_rec_size,
	       sizeof(function));
	type = btf__type_by_id(details->btf, function.type_id);
	return type ? btf__name_by_offset(details->btf, type->name_off) : NULL;
}

/* Not JIT-compiled, of another form than is known, or its addresses are hidden. */
static bool is_usable(const struct bpf_prog_info *info)
{
	return info->nr_jited_ksyms && info->nr_jited_ksyms <= FUNCTIONS_MAX &&
	       info->nr_jited_func_lens == info->nr_jited_ksyms &&
	       info->nr_prog_tags == info->nr_jited_ksyms &&
	       info->nr_func_info <= FUNCTIONS_MAX &&
	       (!info->nr_func_info ||
		(info->func_info_rec_size >= sizeof(struct bpf_func_info) &&
		 info->func_info_rec_size <= INFO_MAX));
}

/* What the second question is to fill. */
static struct error *make_room(struct details *details,
			       const struct bpf_prog_info *first)
{
	size_t count = first->nr_jited_ksyms;

	details->starts = calloc(count, sizeof(*details->starts));
	details->sizes = calloc(count, sizeof(*details->sizes));
	details->tags = calloc(count, sizeof(*details->tags));
	details->infos = calloc(first->nr_func_info + 1,
				first->func_info_rec_size + 1);
	if (!details->starts || !details->sizes || !details->tags ||
	    !details->infos)
		return error_no_memory();
	details->info = (struct bpf_prog_info){
		.nr_jited_ksyms = first->nr_jited_ksyms,
		.jited_ksyms = (uintptr_t)details->starts,
		.nr_jited_func_lens = first->nr_jited_func_lens,
		.jited_func_lens = (uintptr_t)details->sizes,
		.nr_prog_tags = first->nr_prog_tags,
		.prog_tags = (uintptr_t)details->tags,
		.nr_func_info = first->nr_func_info,
		.func_info_rec_size = first->func_info_rec_size,
		.func_info = (uintptr_t)details->infos,
	};
	return NULL;
}

static bool ask(int fd, struct bpf_prog_info *info)
{
	uint32_t size = sizeof(*info);

	return !bpf_obj_get_info_by_fd(fd, info, &size);
}

static const struct btf *types_of(struct types *types, uint32_t id)
{
	if (types->id == id)
		return types->btf;
	btf__free(types->btf);
	*types = (struct types){ id, btf__load_from_kernel_by_id(id) };
	return types->btf;
}

/* *usable: all there is to know of the program is known. */
static struct error *read_details(int fd, struct types *types,
				  struct details *details, bool *usable)
{
	struct bpf_prog_info first = {};
	struct error *error;

	*usable = false;
	if (!ask(fd, &first) || !is_usable(&first))
		return NULL;
	error = make_room(details, &first);
	if (error)
		return error;
	*usable = ask(fd, &details->info) && is_usable(&details->info) &&
		  details->info.nr_jited_ksyms == first.nr_jited_ksyms &&
		  details->info.nr_func_info <= first.nr_func_info &&
		  details->info.func_info_rec_size == first.func_info_rec_size;
	if (*usable && details->info.btf_id && details->info.nr_func_info)
		details->btf = types_of(types, details->info.btf_id);
	return NULL;
}

static struct error *add_functions(struct loaded_programs *programs,
				   const struct details *details)
{
	for (size_t i = 0; i < details->info.nr_jited_ksyms; i++) {
		/* The first is called by the tag of the whole program. */
		const uint8_t *tag = i ? details->tags[i] : details->info.tag;
		const struct loaded_function function = {
			.start = details->starts[i],
			.size = details->sizes[i],
			.name = loaded_function_name(&programs->names, tag,
						     short_name(details, i)),
		};

		if (!function.name)
			return error_no_memory();
		if (function.start && function.size &&
		    !vec_push(&programs->functions, function))
			return error_no_memory();
	}
	return NULL;
}

static struct error *add_program(struct loaded_programs *programs,
				 struct types *types, int fd)
{
	struct details details = {};
	struct loaded_program program;
	bool usable;
	struct error *error = read_details(fd, types, &details, &usable);

	if (!error && usable)
		error = add_functions(programs, &details);
	if (!error && usable) {
		program = (struct loaded_program){
			.id = details.info.id,
			.functions_end = programs->functions.count,
		};
		memcpy(program.tag, details.info.tag, TAG_SIZE);
		if (!vec_push(&programs->programs, program))
			error = error_no_memory();
	}
	details_deinit(&details);
	return error;
}

struct error *loaded_programs_read(struct loaded_programs *programs)
{
	struct types types = {};
	struct error *error = NULL;
	uint32_t id = 0;

	while (!error && !bpf_prog_get_next_id(id, &id)) {
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		error = add_program(programs, &types, fd);
		close(fd);
	}
	btf__free(types.btf);
	return error;
}

static struct error *tell_function(const struct loaded_function *function,
				   record_sink *sink, void *arg)
{
	const struct record record = {
		.type = PERF_RECORD_KSYMBOL,
		.ksymbol = { .addr = function->start,
			     .len = function->size,
			     .ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF,
			     .name = function->name,
			     .name_len = (uint32_t)strlen(function->name) },
	};

	return sink(arg, &record);
}

static struct error *tell_program(const struct loaded_program *program,
				  record_sink *sink, void *arg)
{
	struct record record = {
		.type = PERF_RECORD_BPF_EVENT,
		.bpf_event = { .event_type = PERF_BPF_EVENT_PROG_LOAD,
			       .prog_id = program->id },
	};

	memcpy(record.bpf_event.tag, program->tag, TAG_SIZE);
	return sink(arg, &record);
}

struct error *loaded_programs_tell(const struct loaded_programs *programs,
				   record_sink *sink, void *arg)
{
	struct error *error = NULL;
	size_t i = 0;

	vec_for_each(program, &programs->programs) {
		for (; !error && i < program->functions_end; i++)
			error = tell_function(&programs->functions.data[i],
					      sink, arg);
		if (!error)
			error = tell_program(program, sink, arg);
	}
	return error;
}
