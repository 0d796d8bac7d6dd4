// SPDX-License-Identifier: GPL-2.0-only
#include "explore/disassembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hex.h"
#include "obj/elf_file.h"
#include "sys/capture.h"
#include "sys/invoker.h"

enum {
	SOURCE_TIMEOUT_MS = 10000,
	PLAIN_TIMEOUT_MS = 10000,
	OUTPUT_MAX = 64 << 20,
	/* Bytes of code; larger "functions" are none. */
	SPAN_MAX = 4 << 20,
};

static bool same_build_id(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

/* The path of the dso's file, once it is known to be that file. */
static struct error *find_path(struct dso *dso, char *path, size_t size)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *again = NULL;
	struct elf_file *elf;
	struct error *error;

	if (dso->kind != DSO_FILE)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' is not a file that can be disassembled",
				    dso->path);
	error = dso_elf(dso, &elf);
	if (error)
		return error;
	snprintf(path, size, "%s%s", dso->root ? dso->root : "", dso->path);
	error = elf_file_open(path, &again);
	if (!error && !same_build_id(&again->build_id, &elf->build_id))
		error = error_create(ERROR_NOT_FOUND,
				     "'%s' is not the file that was recorded",
				     path);
	return error;
}

/* What objdump is to read: [start, end) after `moved` was added to addresses. */
struct span {
	const char *path;
	uint64_t start;
	uint64_t end;
	uint64_t moved;
	struct watch *watch;
};

static struct error *run(const struct span *span, bool source,
			 struct strbuf *out)
{
	_cleanup_(invoker_deinit) struct invoker invoker = {};
	char from[64], to[64], moved[64];
	const char *argv[] = { "objdump", source ? "-dS" : "-d",
			       "-C",	  "--no-show-raw-insn",
			       from,	  to,
			       moved,	  "--",
			       span->path, NULL };
	const struct capture capture = {
		.argv = argv,
		.invoker = &invoker,
		.timeout_ms = source ? SOURCE_TIMEOUT_MS : PLAIN_TIMEOUT_MS,
		.limit = OUTPUT_MAX,
		.watch = span->watch,
	};
	struct error *error = invoker_detect(&invoker);
	int status = 0;

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64,
		 span->start);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, span->end);
	snprintf(moved, sizeof(moved), "--adjust-vma=0x%" PRIx64,
		 span->moved);
	if (!error)
		error = capture_run(&capture, out, &status);
	if (error)
		return error;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_create(ERROR_NOT_FOUND,
				    "objdump was not found; install binutils");
	if (status)
		return error_create(ERROR_UNSUPPORTED,
				    "objdump cannot disassemble '%s'",
				    span->path);
	return NULL;
}

static struct error *disassemble(const struct span *span, struct strbuf *out,
				 bool *has_source)
{
	struct error *error = run(span, *has_source, out);

	if (!error || error->code != ERROR_LIMIT || !*has_source)
		return error;
	error_destroy(error);
	*has_source = false;
	return run(span, false, out);
}

struct error *disassembly_check_span(uint64_t start, uint64_t end)
{
	return end > start && end - start <= SPAN_MAX
		       ? NULL
		       : error_create(
				 ERROR_UNSUPPORTED,
				 "the symbol has no size, so it cannot be disassembled");
}

struct error *disassembly_read(struct dso *dso, uint64_t start, uint64_t end,
			       struct watch *watch, struct strbuf *out,
			       bool *has_source)
{
	char path[8192];
	const struct span span = { path, start, end, 0, watch };
	struct error *error = disassembly_check_span(start, end);

	if (!error)
		error = find_path(dso, path, sizeof(path));
	return error ? error : disassemble(&span, out, has_source);
}

/* --- Bytes -------------------------------------------------------------- */

/* A file without a name, which the child inherits. */
static struct error *write_memory(const struct strbuf *bytes, int *ret)
{
	_cleanup_close_ int fd = memfd_create("code", 0);
	int errnum;

	if (fd < 0)
		return error_os(errno, NULL, "cannot make a file in memory");
	errnum = fd_write_all(fd, bytes->data, bytes->len);
	if (errnum)
		return error_os(errnum, NULL, "cannot write to memory");
	*ret = take_fd(&fd);
	return NULL;
}

struct error *disassembly_code(const struct jit_image *image, uint64_t address,
			       struct watch *watch, struct strbuf *out,
			       bool *has_source)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	_cleanup_close_ int fd = -1;
	uint8_t build_id[JIT_IMAGE_BUILD_ID_SIZE];
	struct jit_image copy = *image;
	uint64_t end = address + image->code.size;
	char path[64];
	const struct span span = { path, address, end,
				   address - JIT_IMAGE_TEXT, watch };
	struct error *error = disassembly_check_span(address, end);

	copy.symbol_address = address;
	if (!error)
		error = jit_image_write(&copy, &bytes, build_id);
	if (!error)
		error = write_memory(&bytes, &fd);
	if (error)
		return error;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return disassemble(&span, out, has_source);
}

/* --- Its output --------------------------------------------------------- */

bool disassembly_address(const char *line, size_t n, uint64_t *ret,
			 size_t *text)
{
	size_t i = 0, digits = 0;
	uint64_t address = 0;

	while (i < n && line[i] == ' ')
		i++;
	for (; i < n && hex_digit(line[i]) >= 0 && digits < 16; i++, digits++)
		address = address << 4 | (uint64_t)hex_digit(line[i]);
	if (!digits || i + 1 >= n || line[i] != ':' || line[i + 1] != '\t')
		return false;
	*ret = address;
	*text = i + 2;
	return true;
}

bool disassembly_next(struct disassembly_lines *lines,
		      struct disassembly_line *ret)
{
	while (*lines->text) {
		const char *text = lines->text;
		size_t n = strcspn(text, "\n"), skip = 0;
		bool begun = lines->begun;

		*ret = (struct disassembly_line){};
		ret->is_instruction =
			disassembly_address(text, n, &ret->address, &skip);
		ret->text = text + skip;
		ret->length = n - skip;
		/* Before the symbol's own line stand headings. */
		lines->begun |= n > 2 && text[n - 1] == ':' &&
				text[n - 2] == '>';
		lines->text += n + (text[n] == '\n');
		if (ret->is_instruction || (begun && n))
			return true;
	}
	return false;
}
