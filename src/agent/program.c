// SPDX-License-Identifier: GPL-2.0-only
#include "agent/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/mode.h"
#include "base/python_command.h"
#include "base/search_path.h"

enum {
	SEGMENTS_MAX = 64,
	/* Entries of the dynamic section, read in pieces. */
	DYNAMIC_MAX = 1024,
	DYNAMIC_PIECE = 32,
	/* Symbols of one bucket of the hash table. */
	CHAIN_MAX = 256,
};

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

#ifdef __GLIBC__
#define LOADER "ld-linux"
#else
#define LOADER "ld-musl"
#endif

/* One ELF file: what is read of it. */
struct image {
	int fd;
	Elf64_Phdr segments[SEGMENTS_MAX];
	size_t segment_count;
	/* Of the dynamic section, 0: not there. */
	uint64_t strings;
	uint64_t symbols;
	uint64_t hash;
};

/* The head of a table of the kind DT_GNU_HASH. */
struct gnu_hash {
	uint32_t bucket_count;
	uint32_t first_symbol;
	uint32_t bloom_count;
	uint32_t bloom_shift;
};

/* --- names --- */

/*
 * Shells, and programs whose work is to start another one, or to wait for it. In
 * any of them the agent only hands itself on.
 */
static const char *const carriers[] = {
	"sh",	  "bash",  "dash",    "zsh",	 "ksh",	    "ksh93",  "mksh",
	"ash",	  "fish",  "busybox", "env",	 "nice",    "ionice", "nohup",
	"setsid", "time",  "timeout", "stdbuf",	 "xargs",   "taskset", "chrt",
	"numactl", "prlimit", "setarch", "flock", "make",   "gmake",  "tini",
	"uv",	  "uvx",   "rye",     "pixi",	 "strace",  "ltrace", "perf",
};

const char *agent_program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_carrier_name(const char *name)
{
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++)
		if (!strcmp(name, carriers[i]))
			return true;
	return python_is_name(name);
}

/* --- ELF --- */

static bool read_at(int fd, uint64_t offset, void *buf, size_t size)
{
	return offset <= INT64_MAX &&
	       pread(fd, buf, size, (off_t)offset) == (ssize_t)size;
}

/* A string, cut if it is longer than the buffer. */
static bool read_string_at(int fd, uint64_t offset, char *buf, size_t size)
{
	ssize_t n = offset <= INT64_MAX ?
			    pread(fd, buf, size - 1, (off_t)offset) :
			    -1;

	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

/* The file's bytes at a vaddr. */
static bool to_offset(const struct image *image, uint64_t vaddr, uint64_t *ret)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *s = &image->segments[i];

		if (s->p_type == PT_LOAD && vaddr >= s->p_vaddr &&
		    vaddr - s->p_vaddr < s->p_filesz) {
			*ret = vaddr - s->p_vaddr + s->p_offset;
			return true;
		}
	}
	return false;
}

static bool read_vaddr(const struct image *image, uint64_t vaddr, void *buf,
		       size_t size)
{
	uint64_t offset;

	return to_offset(image, vaddr, &offset) &&
	       read_at(image->fd, offset, buf, size);
}

static bool read_string(const struct image *image, uint64_t index, char *buf,
			size_t size)
{
	uint64_t offset;

	return to_offset(image, image->strings + index, &offset) &&
	       read_string_at(image->fd, offset, buf, size);
}

static const Elf64_Phdr *segment(const struct image *image, uint32_t type)
{
	for (size_t i = 0; i < image->segment_count; i++)
		if (image->segments[i].p_type == type)
			return &image->segments[i];
	return NULL;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static bool is_sanitizer_library(const char *name)
{
	static const char *const libraries[] = {
		"libasan.",	"libtsan.", "libmsan.",
		"liblsan.",	"libhwasan.", "libclang_rt.",
	};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (begins_with(name, libraries[i]))
			return true;
	return false;
}

/* Calls for each entry of the dynamic section, to its end. */
static void each_dynamic(struct image *image,
			 void (*entry)(struct image *image,
				       const Elf64_Dyn *dynamic, void *arg),
			 void *arg)
{
	const Elf64_Phdr *s = segment(image, PT_DYNAMIC);
	size_t count = s ? s->p_filesz / sizeof(Elf64_Dyn) : 0;
	Elf64_Dyn piece[DYNAMIC_PIECE];

	if (count > DYNAMIC_MAX)
		count = DYNAMIC_MAX;
	for (size_t i = 0; i < count; i += DYNAMIC_PIECE) {
		size_t n = count - i < DYNAMIC_PIECE ? count - i : DYNAMIC_PIECE;

		if (!read_at(image->fd, s->p_offset + i * sizeof(Elf64_Dyn),
			     piece, n * sizeof(Elf64_Dyn)))
			return;
		for (size_t j = 0; j < n; j++) {
			if (piece[j].d_tag == DT_NULL)
				return;
			entry(image, &piece[j], arg);
		}
	}
}

static void take_table(struct image *image, const Elf64_Dyn *dynamic, void *arg)
{
	(void)arg;
	if (dynamic->d_tag == DT_STRTAB)
		image->strings = dynamic->d_un.d_ptr;
	else if (dynamic->d_tag == DT_SYMTAB)
		image->symbols = dynamic->d_un.d_ptr;
	else if (dynamic->d_tag == DT_GNU_HASH)
		image->hash = dynamic->d_un.d_ptr;
}

/* arg: a kind that becomes what the library says. A sanitizer outweighs. */
static void judge_library(struct image *image, const Elf64_Dyn *dynamic,
			  void *arg)
{
	enum agent_program_kind *kind = arg;
	char name[64];

	if (dynamic->d_tag != DT_NEEDED ||
	    !read_string(image, dynamic->d_un.d_val, name, sizeof(name)))
		return;
	if (is_sanitizer_library(name))
		*kind = AGENT_PROGRAM_SANITIZER;
	else if (begins_with(name, "libpython") &&
		 *kind != AGENT_PROGRAM_SANITIZER)
		*kind = AGENT_PROGRAM_PYTHON;
}

static bool symbol_is(const struct image *image, uint32_t index,
		      const char *name)
{
	Elf64_Sym symbol;
	char text[64];

	return read_vaddr(image, image->symbols + index * sizeof(symbol),
			  &symbol, sizeof(symbol)) &&
	       symbol.st_shndx != SHN_UNDEF &&
	       read_string(image, symbol.st_name, text, sizeof(text)) &&
	       !strcmp(text, name);
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* What most names that are not there end at. */
static bool bloom_has(const struct image *image, const struct gnu_hash *head,
		      uint32_t hash)
{
	uint64_t at = image->hash + sizeof(*head) +
		      hash / 64 % head->bloom_count * 8;
	uint64_t word;

	return read_vaddr(image, at, &word, sizeof(word)) &&
	       word >> hash % 64 & word >> (hash >> head->bloom_shift) % 64 & 1;
}

static bool exports(const struct image *image, const struct gnu_hash *head,
		    const char *name)
{
	uint64_t buckets = image->hash + sizeof(*head) +
			   head->bloom_count * UINT64_C(8);
	uint64_t chains = buckets + head->bucket_count * UINT64_C(4);
	uint32_t hash = hash_of(name), index, value = 0;

	if (!bloom_has(image, head, hash) ||
	    !read_vaddr(image, buckets + hash % head->bucket_count * UINT64_C(4),
			&index, sizeof(index)) ||
	    index < head->first_symbol)
		return false;
	for (unsigned int i = 0; i < CHAIN_MAX && !(value & 1); i++, index++) {
		if (!read_vaddr(image,
				chains + (index - head->first_symbol) *
						 UINT64_C(4),
				&value, sizeof(value)))
			return false;
		if ((value | 1) == (hash | 1) && symbol_is(image, index, name))
			return true;
	}
	return false;
}

/* A sanitizer's runtime may be linked statically, as CPython may be. */
static enum agent_program_kind judge_exports(const struct image *image)
{
	static const char *const sanitizers[] = {
		"__asan_init", "__tsan_init", "__msan_init", "__hwasan_init",
	};
	struct gnu_hash head;

	if (!image->hash ||
	    !read_vaddr(image, image->hash, &head, sizeof(head)) ||
	    !head.bucket_count || !head.bloom_count || head.bloom_shift > 31)
		return AGENT_PROGRAM_OTHER;
	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(sanitizers[0]); i++)
		if (exports(image, &head, sanitizers[i]))
			return AGENT_PROGRAM_SANITIZER;
	if (exports(image, &head, "Py_GetVersion"))
		return AGENT_PROGRAM_PYTHON;
	return AGENT_PROGRAM_OTHER;
}

static enum agent_program_kind judge_dynamic(struct image *image)
{
	enum agent_program_kind needed = AGENT_PROGRAM_OTHER, exported;

	each_dynamic(image, take_table, NULL);
	each_dynamic(image, judge_library, &needed);
	if (needed == AGENT_PROGRAM_SANITIZER)
		return needed;
	exported = judge_exports(image);
	return exported == AGENT_PROGRAM_OTHER ? needed : exported;
}

/* The dynamic loader that it asks for. */
static enum agent_program_kind judge_loader(const struct image *image)
{
	const Elf64_Phdr *s = segment(image, PT_INTERP);
	char path[AGENT_PROGRAM_LINE_MAX];

	if (!s || !segment(image, PT_DYNAMIC))
		return AGENT_PROGRAM_STATIC;
	if (!read_string_at(image->fd, s->p_offset, path, sizeof(path)) ||
	    !begins_with(agent_program_name(path), LOADER))
		return AGENT_PROGRAM_OTHER_LIBC;
	return AGENT_PROGRAM_OTHER;
}

static bool is_privileged(int fd)
{
	mode_t mode;

	return !agent_mode_of(fd, "", &mode) || (mode & (S_ISUID | S_ISGID)) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool read_segments(struct image *image, const Elf64_Ehdr *header)
{
	size_t count = header->e_phnum;

	if (header->e_phentsize != sizeof(Elf64_Phdr) || count > SEGMENTS_MAX)
		return false;
	image->segment_count = count;
	return read_at(image->fd, header->e_phoff, image->segments,
		       count * sizeof(Elf64_Phdr));
}

static enum agent_program_kind judge_elf(int fd)
{
	struct image image = { .fd = fd };
	enum agent_program_kind kind;
	Elf64_Ehdr header;

	if (!read_at(fd, 0, &header, sizeof(header)))
		return AGENT_PROGRAM_FOREIGN;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != MACHINE)
		return AGENT_PROGRAM_FOREIGN;
	if (is_privileged(fd))
		return AGENT_PROGRAM_PRIVILEGED;
	if (!read_segments(&image, &header))
		return AGENT_PROGRAM_FOREIGN;
	kind = judge_loader(&image);
	return kind == AGENT_PROGRAM_OTHER ? judge_dynamic(&image) : kind;
}

/* --- scripts --- */

/* Splits "#! /usr/bin/env -S x y" as the kernel does. False: no interpreter. */
static bool split_line(char *line, struct agent_program *ret)
{
	char *end, *start = line + 2 + strspn(line + 2, " \t");

	start[strcspn(start, "\n")] = '\0';
	for (end = start + strlen(start);
	     end > start && (end[-1] == ' ' || end[-1] == '\t'); end--)
		end[-1] = '\0';
	end = start + strcspn(start, " \t");
	if (end == start)
		return false;
	memcpy(ret->interpreter, start, (size_t)(end - start));
	ret->interpreter[end - start] = '\0';
	end += strspn(end, " \t");
	memcpy(ret->argument, end, strlen(end) + 1);
	return true;
}

/* True: *kind says what it is. False: a script, ret->interpreter runs it. */
static bool judge_file(int fd, const char *name, struct agent_program *ret)
{
	char line[AGENT_PROGRAM_LINE_MAX];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 0) {
		ret->kind = AGENT_PROGRAM_UNREADABLE;
		return true;
	}
	line[n] = '\0';
	if (n >= 2 && line[0] == '#' && line[1] == '!' && split_line(line, ret))
		return false;
	if (n >= SELFMAG && !memcmp(line, ELFMAG, SELFMAG))
		ret->kind = judge_elf(fd);
	else
		ret->kind = AGENT_PROGRAM_NO_ELF;
	if (ret->kind == AGENT_PROGRAM_OTHER && is_carrier_name(name))
		ret->kind = AGENT_PROGRAM_CARRIER;
	return true;
}

/* Without blocking: it may be a FIFO. */
static int open_file(int dirfd, const char *path)
{
	mode_t mode;
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (!agent_mode_of(fd, "", &mode) || !S_ISREG(mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool judge_path(int dirfd, const char *path, struct agent_program *ret)
{
	int fd = open_file(dirfd, path);
	bool done;

	if (fd < 0) {
		ret->kind = AGENT_PROGRAM_UNREADABLE;
		return true;
	}
	done = judge_file(fd, agent_program_name(path), ret);
	close(fd);
	return done;
}

bool agent_program_read_line(const char *path, struct agent_program *ret)
{
	*ret = (struct agent_program){ .kind = AGENT_PROGRAM_UNREADABLE };
	return !judge_path(AT_FDCWD, path, ret);
}

void agent_program_identify(int dirfd, const char *path,
			    struct agent_program *ret)
{
	char interpreter[AGENT_PROGRAM_LINE_MAX];
	bool done;

	*ret = (struct agent_program){ .kind = AGENT_PROGRAM_UNREADABLE };
	if (!*path)
		done = judge_file(dirfd, path, ret);
	else
		done = judge_path(dirfd, path, ret);
	for (int depth = 0; !done && depth < AGENT_PROGRAM_DEPTH_MAX; depth++) {
		memcpy(interpreter, ret->interpreter, sizeof(interpreter));
		done = judge_path(AT_FDCWD, interpreter, ret);
	}
}

/* --- searching --- */

static bool may_run(const char *path)
{
	mode_t mode;

	return agent_mode_of(AT_FDCWD, path, &mode) && S_ISREG(mode) &&
	       !access(path, X_OK);
}

static bool search_path(const char *path, const char *name, char *buf,
			size_t size)
{
	while (search_path_next(&path, name, buf, size))
		if (may_run(buf))
			return true;
	return false;
}

bool agent_program_search(const char *name, char *buf, size_t size)
{
	const char *path = getenv("PATH");
	size_t name_size = strlen(name) + 1;

	if (!*name || name_size > size)
		return false;
	if (!strchr(name, '/'))
		return search_path(path ? path : SEARCH_PATH_DEFAULT, name, buf,
				   size);
	memcpy(buf, name, name_size);
	return true;
}
