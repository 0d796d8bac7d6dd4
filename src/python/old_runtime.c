// SPDX-License-Identifier: GPL-2.0-only
#include "python/old_runtime.h"

#include <string.h>

#include "obj/elf_symbols.h"
#include "python/releases.h"

enum {
	/* Instructions of a function that are looked at, in bytes. */
	CODE_SIZE = 24,
	/* sizeof(pthread_mutex_t), sizeof(pthread_cond_t) */
	MUTEX_SIZE = 40,
	CONDITION_SIZE = 48,
	/* What is between 3.6's lock and its condition; other builds have other. */
	LOCK_SPAN_MAX = 256,
	VARIABLES_MAX = 4,
};

/* A variable; where it is may not be known. */
struct variable {
	uint64_t vaddr;
	bool found;
};

bool py_old_runtime_maybe(struct elf_file *file)
{
	return elf_file_exports(file, "PyEval_EvalFrameEx") &&
	       !elf_file_exports(file, "PyPy_GetVersion");
}

static struct error *find_symbol(struct elf_file *file, const char *name,
				 struct variable *ret)
{
	struct elf_symbol symbol;
	struct error *error = elf_file_find_symbol(file, name, &symbol);

	ret->found = !error;
	if (!error)
		ret->vaddr = symbol.vaddr;
	else if (error->code == ERROR_NOT_FOUND) {
		error_destroy(error);
		error = NULL;
	}
	return error;
}

/* Behind what functions may begin with: endbr64; push %rbp, mov %rsp,%rbp. */
static size_t skip_entry(const uint8_t code[CODE_SIZE])
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5 };
	size_t at = 0;

	if (!memcmp(code, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	if (!memcmp(code + at, frame, sizeof(frame)))
		at += sizeof(frame);
	return at;
}

/*
 * The variable that an exported function reads first, by mov x(%rip) to the register
 * of that ModRM byte.
 */
static struct error *find_by_reader(struct elf_file *file, const char *function,
				    uint8_t modrm, struct variable *ret)
{
	uint8_t code[CODE_SIZE];
	struct variable reader;
	struct error *error = find_symbol(file, function, &reader);
	int32_t distance;
	size_t at;

	if (error || !reader.found)
		return error;
	error = elf_file_read_image(file, reader.vaddr, code, sizeof(code));
	if (error)
		return error;
	at = skip_entry(code);
	if (code[at] != 0x48 || code[at + 1] != 0x8b || code[at + 2] != modrm)
		return NULL;
	memcpy(&distance, code + at + 3, sizeof(distance));
	*ret = (struct variable){ reader.vaddr + at + 7 +
					  (uint64_t)(int64_t)distance,
				  true };
	return NULL;
}

/* ModRM bytes of x(%rip). */
#define TO_RAX 0x05
#define TO_RDI 0x3d

static struct error *find_variable(struct elf_file *file, const char *name,
				   const char *function, uint8_t modrm,
				   struct variable *ret)
{
	struct error *error = find_symbol(file, name, ret);

	return error || ret->found ?
		       error :
		       find_by_reader(file, function, modrm, ret);
}

/* The parts of the GIL that who wants it sleeps on: all of them, or none. */
static struct error *find_lock(struct elf_file *file, bool is_pointer,
			       struct variable *start, struct variable *end)
{
	struct variable mutex, condition;
	struct error *error;

	if (is_pointer)
		return find_variable(file, "interpreter_lock",
				     "PyEval_ReleaseLock", TO_RDI, start);
	error = find_symbol(file, "gil_mutex", &mutex);
	if (!error)
		error = find_symbol(file, "gil_cond", &condition);
	if (error || !mutex.found || !condition.found)
		return error;
	*start = mutex.vaddr < condition.vaddr ? mutex : condition;
	*end = mutex.vaddr < condition.vaddr ?
		       (struct variable){ condition.vaddr + CONDITION_SIZE, true } :
		       (struct variable){ mutex.vaddr + MUTEX_SIZE, true };
	start->found = end->found = end->vaddr - start->vaddr <= LOCK_SPAN_MAX;
	return NULL;
}

static struct error *place(const struct elf_file *file, uint64_t runtime,
			   const struct variable *variable, uint32_t *ret)
{
	if (variable->found && variable->vaddr - runtime >= PY_OFFSET_MAX)
		return error_create(ERROR_UNSUPPORTED,
				    "'%s' has its variables in an order that is not known",
				    file->path);
	*ret = variable->found ? (uint32_t)(variable->vaddr - runtime) :
				 PY_ABSENT;
	return NULL;
}

struct error *py_old_runtime_find(struct elf_file *file,
				  struct py_binary *binary)
{
	struct py_layout *layout = &binary->layout;
	struct variable all[VARIABLES_MAX] = {};
	uint32_t *const places[VARIABLES_MAX] = {
		&layout->runtime_interpreters, &layout->runtime_current,
		&layout->runtime_lock, &layout->runtime_lock_end
	};
	struct error *error = find_variable(file, "interp_head",
					    "PyInterpreterState_Head", TO_RAX,
					    &all[0]);

	if (!error)
		error = find_symbol(file, "_PyThreadState_Current", &all[1]);
	if (!error)
		error = find_lock(file, layout->flags & PY_LOCK_IS_POINTER,
				  &all[2], &all[3]);
	if (!error && (!all[0].found || !all[1].found))
		error = error_create(ERROR_UNSUPPORTED,
				     "cannot find the thread states of Python %u.%u in '%s'",
				     binary->version >> 24,
				     PY_MINOR(binary->version), file->path);
	if (layout->flags & PY_BYTE_TEXTS)
		layout->unicode_width =
			elf_file_exports(file, "PyUnicodeUCS2_FromUnicode") ? 2 :
									      4;
	binary->runtime = UINT64_MAX;
	for (size_t i = 0; i < VARIABLES_MAX; i++)
		if (all[i].found && all[i].vaddr < binary->runtime)
			binary->runtime = all[i].vaddr;
	for (size_t i = 0; !error && i < VARIABLES_MAX; i++)
		error = place(file, binary->runtime, &all[i], places[i]);
	return error;
}
