// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Python stacks of all threads of a process that holds still, by nothing
 * but the layout: "thread ID", then "QUALNAME\tFILE\tLINE", innermost first.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "obj/elf_file.h"
#include "probe.h"
#include "python/code_name.h"
#include "python/layout.h"
#include "python/linetable.h"

enum {
	FRAMES_MAX = 1000,
	BYTES_MAX = 1 << 20,
};

struct target {
	int mem;
	struct py_binary binary;
	uint64_t bias;
};

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	const struct target *t = arg;

	return pread(t->mem, buf, size, (off_t)address) == (ssize_t)size;
}

static uint64_t word(struct target *t, uint64_t address)
{
	uint64_t value = 0;

	read_memory(t, address, &value, sizeof(value));
	return value;
}

static uint32_t half(struct target *t, uint64_t address)
{
	return (uint32_t)word(t, address);
}

/* Opens the mapped file of one line of /proc/PID/maps if it is an interpreter. */
static struct error *try_map(struct target *t, const char *pid,
			     const char *line)
{
	char path[4096], file_path[128];
	uint64_t start, end, offset;
	_cleanup_(cleanup_elf_file_) struct elf_file *file = NULL;
	struct error *error;

	if (t->binary.version ||
	    sscanf(line, "%" SCNx64 "-%" SCNx64 " r-xp %" SCNx64 " %*s %*s %4095s",
		   &start, &end, &offset, path) != 4 ||
	    path[0] != '/')
		return NULL;
	/* Works whatever the process's root is. */
	snprintf(file_path, sizeof(file_path),
		 "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	error = elf_file_open(file_path, &file);
	if (error)
		return error;
	if (!py_detect_maybe(file))
		return NULL;
	error = probe_detect_file(file, &t->binary);
	if (!error && !elf_file_bias(file, start, end - start, offset, &t->bias))
		error = error_create(ERROR_FORMAT, "no bias");
	return error;
}

static struct error *find_interpreter(struct target *t, const char *pid)
{
	char path[64], line[4200];
	_cleanup_fclose_ FILE *maps = NULL;
	struct error *error = NULL;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return error_create(ERROR_NOT_FOUND, "no process %s", pid);
	while (!error && fgets(line, sizeof(line), maps))
		error = try_map(t, pid, line);
	if (!error && !t->binary.version)
		error = error_create(ERROR_NOT_FOUND, "no Python in %s", pid);
	return error;
}

static char *text_of(struct target *t, uint64_t object)
{
	static uint8_t bytes[BYTES_MAX];
	const struct py_layout *l = &t->binary.layout;
	uint64_t length = word(t, object + l->text_length);
	uint32_t state = half(t, object + l->text_state);
	uint32_t kind = state >> l->text_kind_shift & 7;
	uint64_t at = object + (state & l->text_ascii_mask ?
					l->text_ascii_data :
					l->text_compact_data);
	struct strbuf out = STRBUF_INIT;

	if (!(state & l->text_compact_mask))
		at = word(t, object + l->text_data_pointer);
	if (length < BYTES_MAX / 4 && read_memory(t, at, bytes, length * kind))
		py_text_append(&out, (struct bytes){ bytes, length * kind },
			       kind);
	strbuf_putc(&out, '\0');
	return strbuf_take(&out);
}

static int64_t offset_of(struct target *t, uint64_t frame, uint64_t code)
{
	const struct py_layout *l = &t->binary.layout;

	if (l->flags & PY_LASTI)
		return (int64_t)(int32_t)half(t, frame + l->frame_instruction) *
		       l->lasti_unit;
	return (int64_t)(word(t, frame + l->frame_instruction) - code -
			 l->code_adaptive);
}

static uint32_t line_of(struct target *t, uint64_t code, int64_t offset)
{
	static uint8_t bytes[BYTES_MAX];
	const struct py_layout *l = &t->binary.layout;
	uint64_t table = word(t, code + l->code_lines);
	uint64_t size = word(t, table + l->bytes_size);
	struct py_lines lines;
	uint32_t line;

	if (size > BYTES_MAX ||
	    !read_memory(t, table + l->bytes_data, bytes, size))
		return 0;
	error_destroy(py_lines_decode(l->lines_format,
				      half(t, code + l->code_first_line),
				      (struct bytes){ bytes, size }, &lines));
	line = py_lines_find(&lines, offset);
	py_lines_deinit(&lines);
	return line;
}

static void print_frame(struct target *t, uint64_t frame, uint64_t code)
{
	const struct py_layout *l = &t->binary.layout;
	uint32_t name = l->code_qualname != PY_ABSENT ? l->code_qualname :
							l->code_name;
	_cleanup_free_ char *qualname = text_of(t, word(t, code + name));
	_cleanup_free_ char *file = text_of(t, word(t, code + l->code_filename));

	if (!py_code_is_internal(file, qualname))
		printf("%s\t%s\t%u\n", qualname, file,
		       line_of(t, code, offset_of(t, frame, code)));
}

static bool is_shim(struct target *t, uint64_t frame)
{
	const struct py_layout *l = &t->binary.layout;

	return (l->flags & PY_SHIM_FRAMES) &&
	       (half(t, frame + l->frame_owner) & 255) >= l->shim_owner;
}

static void print_thread(struct target *t, uint64_t thread)
{
	const struct py_layout *l = &t->binary.layout;
	uint64_t frame;

	printf("thread %" PRIu64 "\n", word(t, thread + l->thread_id));
	frame = l->flags & PY_FRAME_VIA_CFRAME ?
			word(t, word(t, thread + l->thread_cframe) +
					l->cframe_frame) :
			word(t, thread + l->thread_frame);
	for (int i = 0; frame && i < FRAMES_MAX; i++) {
		uint64_t code = word(t, frame + l->frame_code) &
				~(uint64_t)l->code_tag_mask;

		if (!is_shim(t, frame))
			print_frame(t, frame, code);
		frame = word(t, frame + l->frame_previous);
	}
}

static void print_threads(struct target *t, uint64_t runtime)
{
	const struct py_layout *l = &t->binary.layout;
	uint64_t interp = word(t, runtime + l->runtime_interpreters);

	for (; interp; interp = word(t, interp + l->interp_next)) {
		uint64_t thread = word(t, interp + l->interp_threads);

		for (; thread; thread = word(t, thread + l->thread_next))
			print_thread(t, thread);
	}
}

struct error *probe_stacks(const char *pid)
{
	struct target t = {};
	struct py_memory memory = { read_memory, &t };
	struct py_layout_seen seen;
	uint64_t runtime;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%s/mem", pid);
	t.mem = open(path, O_RDONLY | O_CLOEXEC);
	error = find_interpreter(&t, pid);
	if (!error) {
		runtime = t.binary.runtime + t.bias;
		error = py_layout_validate(&t.binary.layout, &memory, runtime,
					   t.binary.code_type + t.bias, &seen);
	}
	if (!error) {
		printf("seen %u interpreters, %u threads, %u live, %u frames\n",
		       seen.interpreters, seen.threads, seen.live_threads,
		       seen.frames);
		print_threads(&t, runtime);
	}
	if (t.mem >= 0)
		close(t.mem);
	return error;
}
