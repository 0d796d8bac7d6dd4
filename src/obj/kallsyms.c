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
	/* "[name]", or NULL. */
	const char *module;
};

/* One more than what a digit stands for; 0: no digit. */
static const uint8_t digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

/* --- selecting lines --- */

enum { ADDRESS_DIGITS = 16 };

/* The symbols that begin behind one of the addresses, up to the next one. */
struct interval {
	/* The first and the last start; first above last: there are none. */
	uint64_t first;
	uint64_t last;
};

struct selection {
	const uint64_t *addresses;
	size_t count;
	/* count + 1: intervals[i] ends with addresses[i], the last nowhere. */
	struct interval *intervals;
	/* Where the line before belonged: most lines come by address. */
	size_t latest;
};

/* Eight digits as a number; of what are none, any number. */
static uint64_t eight_digits(const char *text)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	/* 'a' is 0x61. */
	word = (word & ones * 15) + 9 * (word >> 6 & ones);
	word = __builtin_bswap64(word);
	word = (word | word >> 4) & 0x00ff00ff00ff00ff;
	word = (word | word >> 8) & 0x0000ffff0000ffff;
	return (word | word >> 16) & 0xffffffff;
}

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* The start of the line's symbol, if it is code. */
static bool line_start(const char *line, size_t size, uint64_t *ret)
{
	if (size < ADDRESS_DIGITS + 4 || line[ADDRESS_DIGITS] != ' ' ||
	    !is_code(line[ADDRESS_DIGITS + 1]) ||
	    line[ADDRESS_DIGITS + 2] != ' ')
		return false;
	*ret = eight_digits(line) << 32 | eight_digits(line + 8);
	return true;
}

static bool is_in(const struct selection *selection, size_t i, uint64_t start)
{
	return (!i || selection->addresses[i - 1] < start) &&
	       (i == selection->count || start <= selection->addresses[i]);
}

static struct interval *find_interval(struct selection *selection,
				      uint64_t start)
{
	size_t low = 0, high = selection->count;

	if (is_in(selection, selection->latest, start))
		return &selection->intervals[selection->latest];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (selection->addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	selection->latest = low;
	return &selection->intervals[low];
}

/* Fills the intervals, or moves the lines that they ask for to the front. */
static size_t pass_lines(struct selection *selection, char *text, size_t size,
			 bool select)
{
	char *pos = text, *end = text + size, *out = text;

	while (pos < end) {
		char *newline = memchr(pos, '\n', (size_t)(end - pos));
		size_t length = (size_t)((newline ? newline + 1 : end) - pos);
		struct interval *interval;
		uint64_t start;

		if (line_start(pos, length, &start)) {
			interval = find_interval(selection, start);
			if (!select && start < interval->first)
				interval->first = start;
			if (!select && start > interval->last)
				interval->last = start;
			if (select && (start == interval->first ||
				       start == interval->last)) {
				memmove(out, pos, length);
				out += length;
			}
		}
		pos += length;
	}
	return (size_t)(out - text);
}

struct error *kallsyms_select(struct strbuf *text, const uint64_t *addresses,
			      size_t count)
{
	struct selection selection = { .addresses = addresses, .count = count };

	selection.intervals = calloc(count + 1, sizeof(*selection.intervals));
	if (!selection.intervals)
		return error_no_memory();
	for (size_t i = 0; i <= count; i++)
		selection.intervals[i].first = UINT64_MAX;
	pass_lines(&selection, text->data, text->len, false);
	strbuf_truncate(text, pass_lines(&selection, text->data, text->len,
					 true));
	free(selection.intervals);
	return NULL;
}

/* --- parsing --- */

/* Stops at what is no digit: at the end of the text there is a NUL. */
static bool read_address(char **pos, uint64_t *ret)
{
	const char *p = *pos;
	uint64_t value = 0;
	uint8_t digit;

	for (; (digit = digits[(unsigned char)*p]); p++)
		value = value << 4 | (digit - 1u);
	if (p == *pos || p - *pos > 16 || *p != ' ')
		return false;
	*pos += p - *pos + 1;
	*ret = value;
	return true;
}

/* Whether one of eight bytes may be a tab or another that is no character. */
static bool may_have_control(const char *bytes)
{
	const uint64_t ones = 0x0101010101010101, highest = ones << 7;
	uint64_t word, delete;

	memcpy(&word, bytes, sizeof(word));
	delete = word ^ (ones * 0x7f);
	return (((word - ones * ' ') & ~word) | ((delete - ones) & ~delete)) &
	       highest;
}

/*
 * Ends a name at the first tab, or where its line does. Nothing in it breaks
 * the lines that it will stand in. Returns where the tab was, or NULL.
 */
static char *end_name(char *pos, char *end)
{
	while (end - pos >= 8 && !may_have_control(pos))
		pos += 8;
	for (; pos < end; pos++) {
		unsigned char c = (unsigned char)*pos;

		if (c == '\t')
			break;
		if (c < ' ' || c == 0x7f)
			*pos = '?';
	}
	*pos = '\0';
	return pos < end ? pos : NULL;
}

/* The line's end may be written to: there is a newline or the last NUL. */
static bool split_line(char *pos, char *end, struct line *ret)
{
	char *tab;

	if (!read_address(&pos, &ret->address) || end - pos < 3 ||
	    pos[1] != ' ' || pos[2] == '\t')
		return false;
	ret->type = pos[0];
	ret->name = pos + 2;
	tab = end_name(pos + 2, end);
	ret->module = tab ? tab + 1 : NULL;
	if (tab)
		end_name(tab + 1, end);
	return true;
}

static struct error *add_module(struct parse *p, const char *name,
				uint16_t *ret)
{
	struct kallsyms *syms = p->syms;

	if (syms->module_count >= MODULE_MAX)
		return error_create(ERROR_LIMIT, "too many kernel modules");
	if (!vec_grow_((void **)&syms->modules, &p->capacity,
		       syms->module_count + 1, sizeof(*syms->modules)))
		return error_no_memory();
	*ret = (uint16_t)syms->module_count;
	syms->modules[syms->module_count++] = name;
	return NULL;
}

static bool is_module(const struct parse *p, size_t index,
		      const struct line *line)
{
	return !strcmp(p->syms->modules[index], line->module);
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
	error = add_module(p, line->module, ret);
	if (!error)
		p->last_module = *ret;
	return error;
}

/* Where the kernel begins, if the symbol says so. */
static void see_start(struct parse *p, const struct line *line)
{
	if (line->name[0] != '_')
		return;
	if (!strcmp(line->name, "_text"))
		p->text = line->address;
	if (!strcmp(line->name, "_stext"))
		p->stext = line->address;
}

static struct error *add_line(struct parse *p, const struct line *line)
{
	uint16_t module;
	uint8_t binding;
	struct error *error;

	if (!is_code(line->type))
		return NULL;
	if (!line->address) {
		p->zeros++;
		return NULL;
	}
	error = find_module(p, line, &module);
	if (error)
		return error;
	if (!module)
		see_start(p, line);
	binding = (line->type | 0x20) == 'w' ? STB_WEAK :
		  line->type == 'T'	     ? STB_GLOBAL :
					       STB_LOCAL;
	return symtab_add_borrowed(&p->syms->symtab, line->address, 0,
				   line->name, STT_FUNC, binding, module);
}

static struct error *parse_lines(struct parse *p, char *pos, char *end)
{
	struct error *error = NULL;
	struct line line;

	while (pos < end && !error) {
		char *newline = memchr(pos, '\n', (size_t)(end - pos));
		char *stop = newline ? newline : end;

		if (split_line(pos, stop, &line))
			error = add_line(p, &line);
		pos = stop + 1;
	}
	return error;
}

struct error *kallsyms_parse(struct strbuf *text, struct kallsyms *ret)
{
	struct kallsyms syms = { .names = *text };
	struct parse p = { .syms = &syms };
	uint16_t kernel;
	struct error *error;

	*text = (struct strbuf)STRBUF_INIT;
	error = add_module(&p, KALLSYMS_KERNEL, &kernel);
	if (!error)
		error = parse_lines(&p, syms.names.data,
				    syms.names.data + syms.names.len);
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
	strbuf_deinit(&syms->names);
	*syms = (struct kallsyms){};
}
