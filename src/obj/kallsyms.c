// SPDX-License-Identifier: GPL-2.0-only
#include "obj/kallsyms.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* Reach of the last symbol of the kernel or of a module. */
#define TAIL 4096
#define MODULE_MAX UINT16_MAX

struct parse {
	struct kallsyms *syms;
	size_t capacity;
	uint64_t text;
	uint64_t stext;
	size_t zeros;
	/* Lines of one module stand together. */
	uint16_t last_module;
};

struct line {
	uint64_t address;
	char type;
	const char *name;
	size_t name_len;
	/* "[name]", or NULL. */
	const char *module;
	size_t module_len;
};

static bool read_address(const char **pos, const char *end, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;

	for (; p < end && *p != ' '; p++) {
		int digit = *p >= '0' && *p <= '9' ? *p - '0' :
			    *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 :
						     -1;

		if (digit < 0 || p - *pos >= 16)
			return false;
		value = value << 4 | (uint64_t)digit;
	}
	if (p == *pos || p == end)
		return false;
	*pos = p + 1;
	*ret = value;
	return true;
}

static bool split_line(const char *pos, const char *end, struct line *ret)
{
	const char *tab;

	if (!read_address(&pos, end, &ret->address) || end - pos < 3 ||
	    pos[1] != ' ')
		return false;
	ret->type = pos[0];
	pos += 2;
	tab = memchr(pos, '\t', (size_t)(end - pos));
	ret->name = pos;
	ret->name_len = (size_t)((tab ? tab : end) - pos);
	ret->module = tab ? tab + 1 : NULL;
	ret->module_len = tab ? (size_t)(end - tab - 1) : 0;
	return ret->name_len;
}

static struct error *add_module(struct parse *p, const char *name, size_t len,
				uint16_t *ret)
{
	struct kallsyms *syms = p->syms;
	char *copy;

	if (syms->module_count >= MODULE_MAX)
		return error_create(ERROR_LIMIT, "too many kernel modules");
	if (!vec_grow_((void **)&syms->modules, &p->capacity,
		       syms->module_count + 1, sizeof(*syms->modules)))
		return error_no_memory();
	copy = arena_strndup(&syms->symtab.names, name, len);
	if (!copy)
		return error_no_memory();
	*ret = (uint16_t)syms->module_count;
	syms->modules[syms->module_count++] = copy;
	return NULL;
}

static bool is_module(const struct parse *p, size_t index,
		      const struct line *line)
{
	const char *name = p->syms->modules[index];

	return strlen(name) == line->module_len &&
	       !memcmp(name, line->module, line->module_len);
}

static struct error *find_module(struct parse *p, const struct line *line,
				 uint16_t *ret)
{
	struct error *error;

	if (!line->module) {
		*ret = 0;
		return NULL;
	}
	if (is_module(p, p->last_module, line)) {
		*ret = p->last_module;
		return NULL;
	}
	for (size_t i = 1; i < p->syms->module_count; i++) {
		if (is_module(p, i, line)) {
			p->last_module = *ret = (uint16_t)i;
			return NULL;
		}
	}
	error = add_module(p, line->module, line->module_len, ret);
	if (!error)
		p->last_module = *ret;
	return error;
}

static bool name_is(const struct line *line, const char *name)
{
	return line->name_len == strlen(name) &&
	       !memcmp(line->name, name, line->name_len);
}

static struct error *add_line(struct parse *p, const struct line *line)
{
	uint16_t module;
	uint8_t binding;
	struct error *error;

	if (!strchr("tTwW", line->type))
		return NULL;
	if (!line->address) {
		p->zeros++;
		return NULL;
	}
	error = find_module(p, line, &module);
	if (error)
		return error;
	if (!module && name_is(line, "_text"))
		p->text = line->address;
	if (!module && name_is(line, "_stext"))
		p->stext = line->address;
	binding = (line->type | 0x20) == 'w' ? STB_WEAK :
		  line->type == 'T'	     ? STB_GLOBAL :
					       STB_LOCAL;
	return symtab_add(&p->syms->symtab, line->address, 0, line->name,
			  line->name_len, STT_FUNC, binding, module);
}

static struct error *parse_lines(struct parse *p, const char *pos,
				 const char *end)
{
	struct error *error = NULL;
	struct line line;

	while (pos < end && !error) {
		const char *newline = memchr(pos, '\n', (size_t)(end - pos));
		const char *stop = newline ? newline : end;

		if (split_line(pos, stop, &line))
			error = add_line(p, &line);
		pos = stop + 1;
	}
	return error;
}

struct error *kallsyms_parse(const void *data, size_t size,
			     struct kallsyms *ret)
{
	struct kallsyms syms = {};
	struct parse p = { .syms = &syms };
	uint16_t kernel;
	struct error *error;

	error = add_module(&p, KALLSYMS_KERNEL, strlen(KALLSYMS_KERNEL),
			   &kernel);
	if (!error)
		error = parse_lines(&p, data, (const char *)data + size);
	if (!error)
		error = symtab_finish(&syms.symtab, SYMTAB_LAST_ALIAS, TAIL);
	if (error) {
		kallsyms_deinit(&syms);
		return error;
	}
	syms.text = p.text ? p.text : p.stext;
	syms.restricted = p.zeros && !syms.symtab.count;
	*ret = syms;
	return NULL;
}

void kallsyms_deinit(struct kallsyms *syms)
{
	free(syms->modules);
	symtab_deinit(&syms->symtab);
	*syms = (struct kallsyms){};
}
