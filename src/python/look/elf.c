// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj/elf_symbols.h"
#include "python/detect.h"
#include "python/look/look.h"
#include "python/releases.h"
#include "symbolize/dso_find.h"

enum {
	/* Smaller functions may do without a frame. */
	FUNCTION_SIZE_MIN = 128,
	FUNCTIONS_MAX = 1000 * 1000,
};

enum answer prologue_answer(const struct prologue_count *count)
{
	/*
	 * Compilers that keep frame pointers still delay the prologue of many
	 * functions; those that do not, keep them for a few with dynamic
	 * frames. The shares seen are 60 % and under 3 %.
	 */
	if (count->functions < 50)
		return ANSWER_UNKNOWN;
	return count->with_frame_pointer * 5 >= count->functions ? ANSWER_YES :
								   ANSWER_NO;
}

/* [endbr64] push %rbp; mov %rsp,%rbp */
static bool sets_frame_pointer(const uint8_t code[8])
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (memcmp(code, endbr64, sizeof(endbr64)) == 0)
		code += sizeof(endbr64);
	return code[0] == 0x55 &&
	       ((code[1] == 0x48 && code[2] == 0x89 && code[3] == 0xe5) ||
		(code[1] == 0x48 && code[2] == 0x8b && code[3] == 0xec));
}

static void count_prologues(struct elf_file *file, struct prologue_count *ret)
{
	const struct elf_section *section =
		elf_file_section_by_type(file, SHT_SYMTAB);
	struct elf_symbol_iter it;
	struct elf_symbol symbol;
	struct error *error;

	if (!section)
		section = elf_file_section_by_type(file, SHT_DYNSYM);
	if (!section)
		return;
	error = elf_symbol_iter_init(file, section, &it);
	while (!error && ret->functions < FUNCTIONS_MAX &&
	       elf_symbol_iter_next(&it, &symbol)) {
		uint8_t code[8];

		if (symbol.type != STT_FUNC ||
		    symbol.size < FUNCTION_SIZE_MIN ||
		    symbol.shndx == SHN_UNDEF)
			continue;
		error = elf_file_read_image(file, symbol.vaddr, code,
					    sizeof(code));
		if (!error) {
			ret->functions++;
			ret->with_frame_pointer += sets_frame_pointer(code);
			continue;
		}
		/* A symbol without code says nothing of the others. */
		error_destroy(error);
		error = NULL;
	}
	error_destroy(error);
}

/* "3.13.0", "3.14.0rc2" of PY_VERSION_HEX. */
static char *version_text(uint32_t hex)
{
	static const char *const levels[16] = {
		[0xa] = "a", [0xb] = "b", [0xc] = "rc"
	};
	const char *level = levels[hex >> 4 & 15];
	char *text;
	int n;

	if (level)
		n = asprintf(&text, "%u.%u.%u%s%u", hex >> 24, hex >> 16 & 255,
			     hex >> 8 & 255, level, hex & 15);
	else
		n = asprintf(&text, "%u.%u.%u", hex >> 24, hex >> 16 & 255,
			     hex >> 8 & 255);
	return n < 0 ? NULL : text;
}

static char *versions_of_walker(void)
{
	char known[PY_RELEASES_TEXT_MAX], *text;

	py_releases_text(PY_FOR_WALKER, known);
	return asprintf(&text, "it reads only CPython %s", known) < 0 ? NULL :
								       text;
}

/*
 * Whether the walker reads this interpreter. On the way a version comes out,
 * for those who cannot ask.
 */
static struct error *judge_interpreter(struct elf_file *file,
				       struct python_facts *facts)
{
	struct py_binary binary;
	struct error *error = py_detect(file, NULL, &binary);

	if (error) {
		facts->walker_refusal = error->code == ERROR_NOT_FOUND ?
						versions_of_walker() :
						strdup(error->message);
		error_destroy(error);
		return facts->walker_refusal ? NULL : error_no_memory();
	}
	if (!facts->version) {
		facts->version = version_text(binary.version);
		if (!facts->version)
			return error_no_memory();
	}
	return NULL;
}

static enum symbol_source find_symbols(struct elf_file *file)
{
	_cleanup_(cleanup_elf_file_) struct elf_file *debug = NULL;
	const struct dso_options options = {};
	struct error *error;

	if (elf_file_section_by_type(file, SHT_SYMTAB))
		return SYMBOLS_OWN;
	error = dso_find_debug(&options, NULL, file->path, file, &debug);
	error_destroy(error);
	return error ? SYMBOLS_EXPORTED : SYMBOLS_DEBUG_FILE;
}

struct error *python_look_at_elf(struct elf_file *file,
				 struct python_facts *facts)
{
	facts->build_id = file->build_id;
	facts->symbols = find_symbols(file);
	if (file->machine == EM_X86_64)
		count_prologues(file, &facts->prologues);
	return judge_interpreter(file, facts);
}
