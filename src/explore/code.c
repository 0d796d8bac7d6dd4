// SPDX-License-Identifier: GPL-2.0-only
#include "explore/code.h"

#include <stdlib.h>
#include <string.h>

#include "explore/disassembly.h"
#include "symbolize/kernel_code.h"

struct function {
	const struct code_places *places;
	const struct profile_symbol *symbol;
	const char *name;
	/* Of its file; "" without one. */
	const char *path;
};

/* The dso of the store that the function is in, or NULL. */
static struct dso *find_dso(const struct function *f)
{
	const struct dso_store *store = f->places->dsos;

	for (size_t i = 0; store && *f->path && i < dso_store_count(store);
	     i++) {
		struct dso *each = dso_store_at(store, i);

		if ((each->kind == DSO_FILE || each->kind == DSO_VDSO) &&
		    !strcmp(each->path, f->path) && each->state == DSO_OPEN)
			return each;
	}
	return NULL;
}

/* A perf map has names alone. */
static struct error *no_code(const struct function *f)
{
	if (!strncmp(f->path, "/tmp/perf-", strlen("/tmp/perf-")))
		return error_create(
			ERROR_NOT_FOUND,
			"'%s' has names, but no code (a jitdump has both); the lines are addresses",
			f->path);
	return error_create(
		ERROR_NOT_FOUND,
		"the code of '%s' was not found; the lines are addresses",
		*f->path ? f->path : f->name);
}

/* As it stands in memory, if it is the kernel that runs. */
static struct error *disassemble_kernel(const struct function *f,
					struct strbuf *out, bool *has_source)
{
	_cleanup_strbuf_ struct strbuf code = STRBUF_INIT;
	struct jit_image image = { .name = f->name };
	uint64_t bias = 0;
	struct error *error;

	if (!f->places->dsos || !dso_store_kallsyms(f->places->dsos, &bias))
		return error_create(
			ERROR_NOT_FOUND,
			"the running kernel is not the recorded one, or only root may read its code; the lines are addresses");
	error = disassembly_check_span(f->symbol->start, f->symbol->end);
	if (!error)
		error = kernel_code_read(NULL, f->symbol->start - bias,
					 f->symbol->end - f->symbol->start,
					 &code);
	if (error)
		return error;
	image.code = (struct bytes){ (const uint8_t *)code.data, code.len };
	return disassembly_code(&image, f->symbol->start, f->places->watch, out,
				has_source);
}

/* No file has it, so objdump is given its code alone. */
static struct error *disassemble_vdso(const struct function *f, struct dso *dso,
				      struct strbuf *out, bool *has_source)
{
	uint64_t start = f->symbol->start, end = f->symbol->end;
	_cleanup_free_ uint8_t *code = NULL;
	struct jit_image image = { .name = f->name };
	struct elf_file *elf;
	struct error *error = disassembly_check_span(start, end);

	if (!error)
		error = dso_elf(dso, &elf);
	if (error)
		return error;
	code = malloc(end - start);
	if (!code)
		return error_no_memory();
	error = elf_file_read_image(elf, start, code, end - start);
	if (error)
		return error;
	image.code = (struct bytes){ code, end - start };
	return disassembly_code(&image, start, f->places->watch, out,
				has_source);
}

struct error *code_disassemble(const struct code_places *places,
			       const struct profile *profile,
			       const struct profile_frame *frame,
			       struct strbuf *out, bool *has_source)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);
	const struct profile_dso *in = profile_dso(profile, frame->dso);
	const struct function f = {
		.places = places,
		.symbol = symbol,
		.name = profile_string(profile, symbol->name, "[unknown]"),
		.path = in ? profile_string(profile, in->long_name, "") : "",
	};
	struct dso *dso = find_dso(&f);
	struct jit_image image;

	if (dso && dso->kind == DSO_VDSO)
		return disassemble_vdso(&f, dso, out, has_source);
	if (dso)
		return disassembly_read(dso, symbol->start, symbol->end,
					places->watch, out, has_source);
	if (frame->kind == PROFILE_FRAME_KERNEL)
		return disassemble_kernel(&f, out, has_source);
	if (places->jit_code &&
	    places->jit_code(places->jit_arg, f.path, symbol->start,
			     symbol->end, f.name, &image))
		return disassembly_code(&image, symbol->start, places->watch,
					out, has_source);
	return no_code(&f);
}
