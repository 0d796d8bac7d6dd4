// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a perf map, and as kallsyms. What comes out is sorted, without
 * overlap, and found again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "obj/kallsyms.h"
#include "obj/perf_map.h"
#include "obj/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct symtab *tab)
{
	for (size_t i = 0; i < tab->count; i++) {
		const struct symbol *symbol = &tab->symbols[i];

		if (symbol->start >= symbol->end || strchr(symbol->name, '\n'))
			abort();
		if (i && symbol[-1].end > symbol->start)
			abort();
		if (symtab_find(tab, symbol->start) != symbol ||
		    symtab_find(tab, symbol->end - 1) != symbol)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = STRBUF_INIT;
	struct kallsyms kallsyms = {};
	struct symtab tab = {};
	struct error *error;

	error = perf_map_parse(data, size, &tab, NULL);
	if (!error)
		error = symtab_finish(&tab, SYMTAB_LAST_WINS, 0);
	if (!error)
		check(&tab);
	error_destroy(error);
	symtab_deinit(&tab);
	strbuf_append(&text, data, size);
	error_destroy(kallsyms_parse(&text, &kallsyms));
	kallsyms_deinit(&kallsyms);
	return 0;
}
