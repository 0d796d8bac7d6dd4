/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people call a function, beside the whole name of its symbol. A symbol
 * "py::<qualified name>:<file>" is called by each of these:
 *
 *	Orders.dedupe        its qualified name
 *	dedupe               the end of it, from a '.' on
 *	shop.orders.Orders.dedupe   with the module in front, as its file tells
 *	orders.py            the file or the end of its path, for all its functions;
 *	                     without '.', '/' or '<' it is the name of a function
 *	orders.py:37         what is at that line of the file; of the line of a def,
 *	                     of its decorators and its arguments all of the function
 *	dedupe:orders.py     a function of that file (with a line, too)
 *
 * "py::" may stand in front of all of them. Any other symbol has one name, but for
 * what gcc puts behind it when it links: dict_dealloc is dict_dealloc.lto_priv.0, too;
 * and what has no name is called by its module: _json+0x1a0.
 */
#ifndef KAA_PROFILE_SYMBOL_WORD_H
#define KAA_PROFILE_SYMBOL_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of a Python function's symbol; borrowed from it. */
struct python_symbol {
	const char *qualname;
	size_t qualname_length;
	const char *file;
};

/* False: the symbol is not of a Python function; *ret stays as it is. */
bool python_symbol_parse(const char *symbol, struct python_symbol *ret);
/* Leaves of its qualified name the last part: "key" of "Orders.dedupe.<locals>.key". */
void python_symbol_keep_last(struct python_symbol *symbol);

/*
 * A task of asyncio, the outermost frame of its samples (docs/async.md). Its name,
 * borrowed from the symbol and not terminated; NULL: it has none. False: the symbol is
 * not of a task.
 */
bool task_symbol_parse(const char *symbol, const char **name, size_t *length);

/*
 * Link-time optimization (gcc) calls a static function "dict_dealloc.lto_priv.0";
 * perhaps it appends more. Where that begins, or NULL.
 */
#define SYMBOL_LINK_MARK ".lto_priv."
const char *symbol_link_suffix(const char *symbol);

/*
 * "_json.cpython-311-x86_64-linux-gnu.so" is the module _json: the length of that; of
 * any other name all of it.
 */
size_t symbol_module_length(const char *name);

struct symbol_word {
	/* As given; borrowed. */
	const char *text;
	/* The part of it between "py::" and ":<line>". */
	const char *name;
	size_t length;
	/* 0: none. */
	uint32_t line;
	/* The symbol's whole name alone, as in perf. */
	bool exact;
};

/* Of a frame; all 0 where it is not known. */
struct symbol_lines {
	/* Where it is. */
	uint32_t line;
	/* Of its function, as in struct profile_symbol. */
	uint32_t def;
	uint32_t body;
};

struct symbol_word symbol_word_init(const char *text, bool exact);
/*
 * The word calls the function of that symbol, which is at these lines. symbol may be
 * NULL, which nothing calls.
 */
bool symbol_word_calls(const struct symbol_word *word, const char *symbol,
		       const struct symbol_lines *lines);
/*
 * The word has the line of the function's def, or another one before its code. A
 * module has no def.
 */
bool symbol_word_calls_def(const struct symbol_word *word, const char *symbol,
			   const struct symbol_lines *lines);
/* The word calls the file of that symbol, for all its functions. */
bool symbol_word_calls_file(const struct symbol_word *word,
			    const char *symbol);
/* The word has a line, of a file that the function of that symbol is in. */
bool symbol_word_has_line_in(const struct symbol_word *word,
			     const char *symbol);

#endif
