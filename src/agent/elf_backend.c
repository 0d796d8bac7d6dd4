// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backend "perf_elf": the trampolines are the text of an ELF image,
 * /tmp/kaa-<pid>-<n>-<random>.elf, mapped executable; announcing fills in its tables. To any
 * tool this is a shared library with symbols, lines and unwind information:
 * `perf record --call-graph dwarf` and `perf report` need nothing else.
 *
 * Tools read the symbols when they report, from the file or from perf's cache of files
 * by build-id, so the file stays when the process ends (agent/files.h says how
 * to have it elsewhere, or removed), and no later process with the same pid makes one
 * of the same name: not all recordings hold build-ids. The name must not begin with /tmp/perf- or
 * /tmp/jitted-: perf takes such files for something else.
 *
 * A process has as many images as it needs. The child of a fork begins with one of
 * its own: its parent goes on to fill the one that both have mapped. What was
 * announced before the fork has its name in the parent's image, so announcing an
 * inherited slot does nothing.
 *
 * A file system that is full fails a write, never the code: what is mapped was
 * written before.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "agent/announce.h"
#include "agent/backend.h"
#include "agent/elf_slots.h"
#include "agent/files.h"
#include "agent/symbol.h"
#include "agent/trampoline.h"

/* Slots of a process's first image; each has twice the slots of the one before. */
#define FIRST_SLOTS 1024u
#define MOST_SLOTS 65536u
#define IMAGES_MAX 64

/* Of the line program, what one function needs. */
#define PROGRAM_MAX (ELF_SLOTS_LINE_MAX + AGENT_FILENAME_MAX)

/* How far an image's tables are filled. */
struct tables {
	uint32_t names_used;
	uint32_t lines_used;
	/* Defined in the line table; the last one is last_filename. */
	uint32_t filenames;
};

struct image {
	struct agent_file file;
	struct elf_slots plan;
	uint8_t build_id[ELF_SLOTS_BUILD_ID_SIZE];
	/* Where it is mapped; NULL: not in use. */
	uint8_t *start;
	/* Another process fills it. */
	bool inherited;
	/* Slots handed out. */
	uint32_t used;
	struct tables tables;
};

static struct image images[IMAGES_MAX];
/* The one to take slots from. */
static struct image *current;
/* How many this process has made. */
static uint32_t made;
static struct agent_announcer announcer;
static char last_filename[AGENT_FILENAME_MAX];

static uint32_t slots_of_next(void)
{
	uint32_t slots = FIRST_SLOTS;

	for (uint32_t i = 0; i < made && slots < MOST_SLOTS; i++)
		slots *= 2;
	return slots;
}

/* Random, or else something that no other image has. */
static void make_build_id(uint8_t ret[ELF_SLOTS_BUILD_ID_SIZE])
{
	struct timespec time = {};
	uint32_t pid = (uint32_t)getpid();

	if (getrandom(ret, ELF_SLOTS_BUILD_ID_SIZE, GRND_NONBLOCK) ==
	    ELF_SLOTS_BUILD_ID_SIZE)
		return;
	clock_gettime(CLOCK_REALTIME, &time);
	memset(ret, 0, ELF_SLOTS_BUILD_ID_SIZE);
	memcpy(ret, &time.tv_nsec, 4);
	memcpy(ret + 4, &time.tv_sec, 8);
	memcpy(ret + 12, &pid, 4);
	memcpy(ret + 16, &made, 4);
}

static int write_fixed(struct image *image)
{
	size_t size = image->plan.fixed_end;
	uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	if (bytes == MAP_FAILED)
		return errno;
	elf_slots_write(&image->plan, image->build_id, bytes);
	error = agent_file_write_at(
		&image->file,
		&(struct agent_file_piece){ 0, bytes, size }, 1);
	munmap(bytes, size);
	return error;
}

static int write_content(struct image *image)
{
	uint8_t header[ELF_SLOTS_LINE_HEADER];
	int error = write_fixed(image);

	if (error)
		return error;
	/* The rest takes no room on the disk until it is filled. */
	error = agent_file_truncate(&image->file, image->plan.size);
	if (error)
		return error;
	elf_slots_line_header(header);
	return agent_file_write_at(&image->file,
				   &(struct agent_file_piece){
					   image->plan.line, header,
					   sizeof(header) }, 1);
}

static int map_image(struct image *image)
{
	void *start = mmap(NULL, image->plan.text_end, PROT_READ | PROT_EXEC,
			   MAP_PRIVATE, image->file.fd, 0);

	if (start == MAP_FAILED)
		return errno;
	image->start = start;
	return 0;
}

/* Makes the image that an open, empty file shall be, and takes slots from it. */
static int begin_image(struct image *image)
{
	int error;

	elf_slots_plan(agent_trampoline(), slots_of_next(), &image->plan);
	error = write_content(image);
	if (!error)
		error = map_image(image);
	if (error)
		return error;
	image->used = 0;
	image->tables = (struct tables){
		.names_used = 1,
		.lines_used = ELF_SLOTS_LINE_HEADER,
	};
	image->inherited = false;
	made++;
	current = image;
	return 0;
}

/* One not in use; else an inherited one, which nobody but slot_of() misses. */
static struct image *find_free(void)
{
	for (int i = 0; i < IMAGES_MAX; i++)
		if (!images[i].start)
			return &images[i];
	for (int i = 0; i < IMAGES_MAX; i++)
		if (images[i].inherited)
			return &images[i];
	return NULL;
}

/* The file that it has, or if there is none a new one with a new build-id. */
static int open_image_file(struct image *image, uint64_t *ret_size)
{
	char suffix[32];
	uint32_t unique;

	make_build_id(image->build_id);
	memcpy(&unique, image->build_id, sizeof(unique));
	snprintf(suffix, sizeof(suffix), "-%u-%08x.elf", made, unique);
	return agent_file_open(&image->file, AGENT_FILE_IMAGE, "kaa-", suffix,
			       ret_size);
}

static int new_image(void)
{
	struct image *image = find_free();
	uint64_t size;
	int error;

	if (!image)
		return ENOMEM;
	image->file = (struct agent_file)AGENT_FILE_INIT;
	error = open_image_file(image, &size);
	if (error)
		return error;
	error = begin_image(image);
	if (error) {
		agent_file_discard(&image->file);
		image->start = NULL;
	}
	return error;
}

/* Goes on with the current image; if its file is gone, with a new one. */
static int reopen_current(void)
{
	uint64_t size;
	int error = open_image_file(current, &size);

	return error || size ? error : begin_image(current);
}

static int elf_open(void)
{
	agent_subject_set("");
	if (!agent_trampoline())
		return ENOTSUP;
	announcer.failed = 0;
	return current ? reopen_current() : new_image();
}

static bool is_full(const struct image *image)
{
	return image->used == image->plan.slots ||
	       image->tables.names_used + AGENT_SYMBOL_SIZE >
		       elf_slots_strtab_size(&image->plan);
}

static void *elf_take(void)
{
	struct image *before = current;
	int error = 0;

	if (!current || is_full(current))
		error = new_image();
	if (error) {
		errno = error;
		return NULL;
	}
	if (before && before != current)
		agent_file_close(&before->file);
	return current->start +
	       elf_slots_address(&current->plan, current->used++);
}

/* The image that has handed the address out, and the number of its slot. */
static struct image *find_image(const void *address, uint32_t *ret)
{
	for (int i = 0; i < IMAGES_MAX; i++) {
		struct image *image = &images[i];
		uint64_t at = (uintptr_t)address - (uintptr_t)image->start -
			      image->plan.text;
		uint64_t n;

		if (!image->start)
			continue;
		n = at / image->plan.trampoline->stride;
		if (n < image->used) {
			*ret = (uint32_t)n;
			return image;
		}
	}
	return NULL;
}

/* The pieces of an announcement, in the order in which they are written. */
struct announcement {
	struct agent_file_piece pieces[4];
	int count;
	char name[AGENT_SYMBOL_SIZE];
	uint8_t program[PROGRAM_MAX];
	/* Of the line program, without itself. */
	uint32_t line_length;
	Elf64_Sym symbol;
};

static void add(struct announcement *a, uint64_t offset, const void *data,
		size_t size)
{
	a->pieces[a->count++] = (struct agent_file_piece){ offset, data, size };
}

/* With its NUL, over whatever a write that failed has left. */
static void add_name(struct announcement *a, const struct elf_slots *plan,
		     struct tables *tables, const struct agent_symbol *symbol)
{
	memcpy(a->name, symbol->name, symbol->name_size);
	a->name[symbol->name_size] = '\0';
	add(a, plan->strtab + tables->names_used, a->name,
	    symbol->name_size + 1);
	tables->names_used += (uint32_t)symbol->name_size + 1;
}

/* Only the current image's table grows; what has no room in it gets no line. */
static bool has_line(const struct image *image,
		     const struct agent_symbol *symbol)
{
	return image == current &&
	       strlen(symbol->filename) < AGENT_FILENAME_MAX &&
	       image->tables.lines_used + PROGRAM_MAX <=
		       elf_slots_line_size(&image->plan);
}

/* The program's length stands in front of it. */
static void add_line(struct announcement *a, const struct elf_slots *plan,
		     struct tables *tables, uint32_t n,
		     const struct agent_symbol *symbol)
{
	bool define = !tables->filenames ||
		      strcmp(last_filename, symbol->filename) != 0;
	size_t size;

	tables->filenames += define;
	size = elf_slots_line(plan, n, symbol->filename, tables->filenames,
			      define, symbol->first_line, a->program);
	add(a, plan->line + tables->lines_used, a->program, size);
	tables->lines_used += (uint32_t)size;
	a->line_length = tables->lines_used - (uint32_t)sizeof(a->line_length);
	add(a, plan->line, &a->line_length, sizeof(a->line_length));
}

/* If it fails, the tables are what they were: the next one writes over it. */
static int write_symbol(struct image *image, uint32_t n,
			const struct agent_symbol *symbol)
{
	struct tables tables = image->tables;
	bool with_line = has_line(image, symbol);
	/* Too large for what may be the end of a thread's stack. */
	static struct announcement a;
	int error;

	a.count = 0;
	a.symbol = elf_slots_symbol(&image->plan, n, tables.names_used);
	add_name(&a, &image->plan, &tables, symbol);
	if (with_line)
		add_line(&a, &image->plan, &tables, n, symbol);
	add(&a, image->plan.symtab + (n + 1) * sizeof(a.symbol), &a.symbol,
	    sizeof(a.symbol));
	error = agent_file_write_at(&image->file, a.pieces, a.count);
	if (error)
		return error;
	image->tables = tables;
	if (with_line)
		strcpy(last_filename, symbol->filename);
	return 0;
}

static int elf_announce(const void *slot, const struct agent_symbol *symbol)
{
	uint32_t n;
	struct image *image = find_image(slot, &n);

	if (!image)
		return agent_announced(&announcer, EINVAL);
	if (image->inherited)
		return 0;
	if (announcer.failed)
		return agent_announced(&announcer, announcer.failed);
	if (symbol->name_size >= AGENT_SYMBOL_SIZE)
		return agent_announced(&announcer, ENAMETOOLONG);
	return agent_announced(&announcer, write_symbol(image, n, symbol));
}

static void elf_close(void)
{
	for (int i = 0; i < IMAGES_MAX; i++)
		if (images[i].start && !images[i].inherited)
			agent_file_close(&images[i].file);
}

static void elf_forked(void)
{
	for (int i = 0; i < IMAGES_MAX; i++) {
		if (!images[i].start)
			continue;
		if (!images[i].inherited)
			agent_file_forget(&images[i].file);
		images[i].inherited = true;
	}
	current = NULL;
	made = 0;
}

static const void *elf_slot_of(const void *address)
{
	uint32_t n;
	const struct image *image = find_image(address, &n);

	return image ? image->start + elf_slots_address(&image->plan, n) : NULL;
}

const struct agent_backend agent_backend_elf = {
	.name = "perf_elf",
	.open = elf_open,
	.take = elf_take,
	.announce = elf_announce,
	.close = elf_close,
	.forked = elf_forked,
	.slot_of = elf_slot_of,
};
