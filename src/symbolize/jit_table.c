// SPDX-License-Identifier: GPL-2.0-only
#include "symbolize/jit_table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/compare.h"
#include "base/fd.h"
#include "base/map.h"
#include "symbolize/rooted.h"
#include "sys/proc.h"

enum {
	/* Codes looked at for one address, at most. */
	WALK_MAX = 65536,
};

/* What a marker's time and a dump's may differ by. */
#define TIME_SLACK 10000000000ull
/* What a header's time and that of the first record may differ by. */
#define HEADER_SLACK 3600000000000ull
/* Clocks that are known by one moment: by this much then. */
#define DRIFT_BASE 1000000ull

void jit_dump_destroy(struct jit_dump *dump)
{
	if (!dump)
		return;
	vec_for_each(code, &dump->codes) {
		cfi_table_destroy(code->cfi);
		vec_deinit(&code->sorted_lines);
	}
	vec_deinit(&dump->codes);
	vec_deinit(&dump->by_time);
	arena_deinit(&dump->arena);
	free(dump->path);
	free(dump->root);
	free(dump->data);
	free(dump);
}

struct jit_image jit_dump_image(const struct jit_dump *dump,
				const struct jit_code *code)
{
	return (struct jit_image){
		.name = code->name,
		.code = code->code,
		.address = code->loaded_at,
		.index = code->index,
		.machine = (uint16_t)dump->header.machine,
		.lines = code->lines,
		.unwinding = code->unwinding,
	};
}

struct cfi_table *jit_code_cfi(struct jit_code *code)
{
	uint64_t eh_frame = jit_image_eh_frame(code->code.size);
	const struct cfi_sections sections = {
		.eh_frame = code->unwinding.eh_frame,
		.eh_frame_vaddr = eh_frame,
		.eh_frame_hdr = code->unwinding.eh_frame_hdr,
		.eh_frame_hdr_vaddr = eh_frame + code->unwinding.eh_frame.size,
		.text_vaddr = JIT_IMAGE_TEXT,
		.path = code->name,
	};

	/* V8 has a header alone: code with frame pointers. */
	if (!code->cfi && code->unwinding.eh_frame.size)
		error_destroy(cfi_table_create(&sections, &code->cfi));
	return code->cfi;
}

static int by_line_address(const void *a, const void *b)
{
	const struct jit_line *x = a, *y = b;
	int order = compare_u64(x->address, y->address);

	return order ? order : compare_u64(x->number, y->number);
}

static bool sort_lines(struct jit_code *code)
{
	struct jitdump_lines lines = code->lines;
	jit_line_vec *sorted = &code->sorted_lines;
	struct jitdump_line line;
	bool ascending = true;

	while (jitdump_next_line(&lines, &line)) {
		const struct jit_line next = { line.address, line.file,
					       line.line,
					       (uint32_t)sorted->count };

		ascending &= !sorted->count ||
			     sorted->data[sorted->count - 1].address <=
				     next.address;
		if (!vec_push(sorted, next)) {
			vec_deinit(sorted);
			return false;
		}
	}
	if (!ascending)
		qsort(sorted->data, sorted->count, sizeof(*sorted->data),
		      by_line_address);
	return true;
}

const struct jit_line *jit_code_line(struct jit_code *code, uint64_t address)
{
	uint64_t at = address - code->start + code->loaded_at;
	const jit_line_vec *sorted = &code->sorted_lines;

	if (!code->lines.left || (!sorted->count && !sort_lines(code)))
		return NULL;
	return vec_floor(sorted, address, at);
}

/* --- The file ----------------------------------------------------------- */

/* The root of the marker's process, if it runs and has one of its own. */
static struct error *process_root(const struct jit_dump_options *options,
				  const struct jit_marker *marker, char **ret)
{
	struct proc_status status;
	uint32_t named = 0;
	bool same = true;
	struct error *error;

	*ret = NULL;
	error = proc_status_read(options->root, (pid_t)marker->pid, &status);
	if (!error)
		error = proc_same_namespace(options->root, (pid_t)marker->pid,
					    "mnt", &same);
	error_destroy(error);
	if (error || same || !jitdump_name(marker->path, &named) ||
	    named != (uint32_t)status.nstgid[status.nstgid_count - 1])
		return NULL;
	if (asprintf(ret, "%s/proc/%u/root",
		     options->root ? options->root : "", marker->pid) < 0) {
		*ret = NULL;
		return error_no_memory();
	}
	return NULL;
}

static struct error *open_in(struct jit_dump *dump, char *root, int *fd)
{
	struct error *error =
		rooted_open(root, dump->path, O_NOFOLLOW, fd);

	if (error) {
		free(root);
		return error;
	}
	dump->root = root;
	return NULL;
}

static struct error *open_file(const struct jit_dump_options *options,
			       const struct jit_marker *marker,
			       struct jit_dump *dump, int *fd)
{
	char *root = NULL;
	struct error *error;

	if (options->symfs && options->symfs[0]) {
		root = strdup(options->symfs);
		return root ? open_in(dump, root, fd) : error_no_memory();
	}
	error = process_root(options, marker, &root);
	if (error)
		return error;
	if (root) {
		error = open_in(dump, root, fd);
		if (!error)
			return NULL;
		error_destroy(error);
	}
	return open_in(dump, NULL, fd);
}

static bool is_marked_file(const struct jit_marker *marker,
			   const struct stat *st)
{
	return marker->inode && marker->inode == st->st_ino &&
	       marker->major == major(st->st_dev) &&
	       marker->minor == minor(st->st_dev);
}

static struct error *check(const struct jit_dump_options *options,
			   const struct jit_marker *marker,
			   const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return error_at(ERROR_UNSUPPORTED, marker->path, 0,
				"a jitdump must be a regular file");
	if ((uint64_t)st->st_size > JIT_DUMP_SIZE_MAX)
		return error_at(ERROR_LIMIT, marker->path, 0,
				"the jitdump is too large: %" PRIu64 " bytes",
				(uint64_t)st->st_size);
	if (options->force || is_marked_file(marker, st) || !st->st_uid ||
	    st->st_uid == geteuid())
		return NULL;
	return error_at(ERROR_PERMISSION, marker->path, 0,
			"the jitdump belongs to user %u, neither root nor you, "
			"and is not the recorded file; use -f to read it "
			"anyway",
			st->st_uid);
}

/*
 * In another PID namespace a process has another number in its dump's name; so
 * the file of that name in our own /tmp may be anybody's.
 */
static struct error *check_pid(const struct jit_dump_options *options,
			       const struct jit_marker *marker,
			       const struct stat *st)
{
	uint32_t named;

	if (options->force || !marker->inode || is_marked_file(marker, st) ||
	    (jitdump_name(marker->path, &named) && named == marker->pid))
		return NULL;
	return error_at(ERROR_PERMISSION, marker->path, 0,
			"the jitdump is not the file that process %u had "
			"mapped; use -f to read it anyway",
			marker->pid);
}

static uint64_t find_begin(const struct jitdump *header)
{
	struct jitdump copy = *header;
	struct jitdump_record first;

	if (!jitdump_next(&copy, &first))
		return header->timestamp;
	return header->timestamp <= first.time &&
			       first.time - header->timestamp < HEADER_SLACK ?
		       header->timestamp :
		       first.time;
}

/* A dump from after the recording is another process's. */
static struct error *check_age(const struct jit_dump_options *options,
			       const struct jit_marker *marker,
			       const struct stat *st,
			       const struct jit_dump *dump)
{
	if (options->force || is_marked_file(marker, st) ||
	    !marker->monotonic || !marker->time ||
	    dump->header.arch_timestamp ||
	    dump->begun <= marker->time + TIME_SLACK)
		return NULL;
	return error_at(ERROR_PERMISSION, marker->path, 0,
			"the jitdump is newer than the recording, so another "
			"process wrote it; use -f to read it anyway");
}

static struct error *load(const struct jit_dump_options *options,
			  const struct jit_marker *marker,
			  struct jit_dump *dump)
{
	_cleanup_close_ int fd = -1;
	struct error *error;
	struct stat st;
	size_t size;
	int errnum;

	error = open_file(options, marker, dump, &fd);
	if (error_is_os(error, ENOENT))
		error->code = ERROR_NOT_FOUND;
	if (error)
		return error;
	if (fstat(fd, &st))
		return error_os(errno, marker->path, "cannot read");
	error = check(options, marker, &st);
	if (!error && !dump->root)
		error = check_pid(options, marker, &st);
	if (error)
		return error;
	if ((uint64_t)st.st_size > options->room)
		return error_at(ERROR_LIMIT, marker->path, 0,
				"too many bytes of jitdumps");
	dump->size = (uint64_t)st.st_size;
	dump->data = malloc((size_t)st.st_size + 1);
	if (!dump->data)
		return error_no_memory();
	/* It may still grow. */
	errnum = fd_read_at(fd, dump->data, (size_t)st.st_size, 0, &size);
	error = errnum ? error_os(errnum, dump->path, "cannot read")
		       : jitdump_init(&dump->header, dump->data, size,
				      dump->path);
	if (!error)
		dump->begun = find_begin(&dump->header);
	return error ? error : check_age(options, marker, &st, dump);
}

struct error *jit_dump_open(const struct jit_dump_options *options,
			    const struct jit_marker *marker,
			    struct jit_dump **ret)
{
	_cleanup_(cleanup_jit_dump_) struct jit_dump *dump =
		calloc(1, sizeof(*dump));
	struct error *error;

	if (!dump)
		return error_no_memory();
	dump->path = strdup(marker->path);
	if (!dump->path)
		return error_no_memory();
	error = load(options, marker, dump);
	if (error)
		return error;
	*ret = take_ptr(dump);
	return NULL;
}

struct error *jit_dump_open_folder(const struct jit_dump *dump, int *ret)
{
	const char *slash = strrchr(dump->path, '/');
	_cleanup_free_ char *folder = NULL;

	folder = !slash		      ? strdup(".") :
		 slash == dump->path ? strdup("/") :
				       strndup(dump->path,
					       (size_t)(slash - dump->path));
	if (!folder)
		return error_no_memory();
	return rooted_open(dump->root, folder, O_DIRECTORY, ret);
}

/* --- The table ---------------------------------------------------------- */

/* While the table is filled. */
struct filling {
	struct jit_dump *dump;
	const struct jit_clock *clock;
	/* code_index to the latest code of that load. */
	struct map by_index;
};

static uint64_t convert_time(const struct jit_clock *clock, uint64_t time)
{
	if (!clock->is_counter)
		return time + (uint64_t)clock->offset;
	if (clock->shift > 63)
		return 0;
	return clock->zero + (uint64_t)((unsigned __int128)time * clock->mult >>
					clock->shift);
}

/* A name that a terminal can be shown. */
static const char *clean_name(struct jit_dump *dump, const char *name)
{
	size_t len = 0;
	bool clean = true;
	char *copy;

	for (; name[len]; len++)
		clean &= (uint8_t)name[len] >= 0x20 && name[len] != 0x7f;
	if (clean)
		return name;
	copy = arena_strndup(&dump->arena, name, len);
	for (size_t i = 0; copy && i < len; i++)
		if ((uint8_t)copy[i] < 0x20 || copy[i] == 0x7f)
			copy[i] = '?';
	return copy;
}

static struct error *add_code(struct filling *f, struct jit_code *code)
{
	struct jit_dump *dump = f->dump;
	uint64_t *slot;

	if (code->start == code->end)
		return NULL;
	if (dump->codes.count >= JIT_DUMP_CODES_MAX) {
		dump->left_out++;
		return NULL;
	}
	code->number = (uint32_t)dump->codes.count;
	code->to = UINT64_MAX;
	if (!code->moved)
		code->load = code->number;
	slot = map_insert(&f->by_index, code->index, code->number, NULL);
	if (!slot || !vec_push(&dump->codes, *code))
		return error_no_memory();
	*slot = code->number;
	return NULL;
}

static struct error *add_load(struct filling *f,
			      const struct jitdump_record *record)
{
	struct jit_code code = {
		.start = record->address,
		.end = record->address + record->size,
		.from = convert_time(f->clock, record->time),
		.index = record->index,
		.tid = record->tid,
		.name = clean_name(f->dump, record->name),
		.code = record->code,
		.loaded_at = record->address,
		.lines = record->lines,
		.unwinding = record->unwinding,
	};

	return code.name ? add_code(f, &code) : error_no_memory();
}

static struct error *add_move(struct filling *f,
			      const struct jitdump_record *record)
{
	uint64_t *slot = map_find(&f->by_index, record->index);
	struct jit_code *old, code;

	old = slot ? &f->dump->codes.data[*slot] : NULL;
	if (!old || old->start != record->old_address ||
	    record->address + (old->end - old->start) < record->address) {
		f->dump->left_out++;
		return NULL;
	}
	old->to = convert_time(f->clock, record->time);
	code = *old;
	code.start = record->address;
	code.end = record->address + (old->end - old->start);
	code.from = old->to;
	code.tid = record->tid;
	code.moved = true;
	return add_code(f, &code);
}

static struct error *read_codes(struct filling *f)
{
	struct jitdump_record record;
	struct error *error = NULL;

	while (!error && jitdump_next(&f->dump->header, &record)) {
		if (record.type == JITDUMP_LOAD)
			error = add_load(f, &record);
		else if (record.type == JITDUMP_MOVE)
			error = add_move(f, &record);
	}
	return error;
}

static int by_address(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void set_reach(struct jit_dump *dump)
{
	uint64_t reach = 0;

	vec_for_each(code, &dump->codes) {
		dump->overlaps |= code->start < reach;
		if (code->end > reach)
			reach = code->end;
		code->reach = reach;
	}
}

/* Nobody stands before it in time and overlaps it. */
static bool is_first(const struct jit_dump *dump, size_t at)
{
	const struct jit_code *code = &dump->codes.data[at];

	if (at && dump->codes.data[at - 1].reach > code->start)
		return false;
	for (size_t i = at + 1; i < dump->codes.count &&
				i - at < WALK_MAX &&
				dump->codes.data[i].start < code->end;
	     i++)
		if (dump->codes.data[i].from < code->from)
			return false;
	return true;
}

static void allow_drift(struct jit_dump *dump, const struct jit_clock *clock)
{
	uint64_t aligned = convert_time(clock, clock->aligned);

	if (!clock->drifts)
		return;
	for (size_t i = 0; i < dump->codes.count; i++) {
		struct jit_code *code = &dump->codes.data[i];
		uint64_t since = code->from - aligned;
		uint64_t drift = DRIFT_BASE + since / 1000;

		if (code->from <= aligned || code->moved || !is_first(dump, i))
			continue;
		code->from -= drift < since ? drift : since;
	}
}

struct timed {
	uint64_t time;
	uint32_t number;
	uint32_t code;
};

static int by_time(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static struct error *sort_by_time(struct jit_dump *dump)
{
	size_t count = dump->codes.count;
	_cleanup_free_ struct timed *order = malloc(count * sizeof(*order) + 1);

	if (!order || !vec_reserve(&dump->by_time, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++)
		order[i] = (struct timed){ dump->codes.data[i].from,
					   dump->codes.data[i].number,
					   (uint32_t)i };
	qsort(order, count, sizeof(*order), by_time);
	for (size_t i = 0; i < count; i++)
		dump->by_time.data[dump->by_time.count++] = order[i].code;
	return NULL;
}

struct error *jit_dump_fill(struct jit_dump *dump,
			    const struct jit_clock *clock)
{
	struct filling f = { .dump = dump, .clock = clock };
	struct error *error = read_codes(&f);

	map_deinit(&f.by_index);
	if (error)
		return error;
	if (dump->codes.count)
		qsort(dump->codes.data, dump->codes.count,
		      sizeof(*dump->codes.data), by_address);
	set_reach(dump);
	allow_drift(dump, clock);
	return sort_by_time(dump);
}

/* --- Looking up --------------------------------------------------------- */

bool jit_dump_has_code(const struct jit_dump *dump, uint64_t start, uint64_t end)
{
	size_t before = start < end ? vec_upper_bound(&dump->codes, start, end - 1) : 0;

	return before && dump->codes.data[before - 1].reach > start;
}

static bool is_later(const struct jit_code *a, const struct jit_code *b)
{
	return !b || a->from > b->from ||
	       (a->from == b->from && a->number > b->number);
}

struct jit_code *jit_dump_find(struct jit_dump *dump, uint64_t address,
			       uint64_t time, uint64_t *valid_from,
			       uint64_t *valid_to)
{
	size_t at = vec_upper_bound(&dump->codes, start, address);
	size_t stop = at > WALK_MAX ? at - WALK_MAX : 0;
	struct jit_code *best = NULL;
	uint64_t next = UINT64_MAX;

	while (at > stop && dump->codes.data[at - 1].reach > address) {
		struct jit_code *code = &dump->codes.data[--at];

		if (code->end <= address)
			continue;
		if (code->from > time)
			next = code->from < next ? code->from : next;
		else if (is_later(code, best))
			best = code;
	}
	if (best && best->to <= time)
		best = NULL;
	*valid_from = best ? best->from : time;
	*valid_to = best && best->to < next ? best->to : next;
	return best;
}

size_t jit_dump_count_at(const struct jit_dump *dump, uint64_t time)
{
	size_t low = 0, high = dump->by_time.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint32_t code = dump->by_time.data[middle];

		if (dump->codes.data[code].from <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
