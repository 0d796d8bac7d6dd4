// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the symbolizer says about addresses of a file: for tests that compare
 * with other tools.
 *
 *	dump_symbols [--functions [--closed]] FILE [DEBUG_DIR] < ADDRESSES
 *	dump_symbols --perf-map PID
 *
 * ADDRESSES are vaddrs in hex, one a line. For each a line: "START NAME", the
 * name as in the file and, behind a tab, as people read it; "-" if there is
 * no symbol. --functions: names are also made up of what CFI tells, with the
 * end behind another tab. --closed: after so many other files were opened that this one
 * was closed. The second form prints the path and the names of the perf map of
 * a running process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "obj/elf_file.h"
#include "symbolize/dso.h"
#include "symbolize/perf_map_file.h"
#include "symbolize/symbolize.h"

static int report(struct error *error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	error_format(error, &text);
	fprintf(stderr, "dump_symbols: %s\n", text.data);
	error_destroy(error);
	return 1;
}

static struct error *answer(struct symbolizer *symbolizer, struct dso *dso,
			    uint64_t vaddr, bool functions)
{
	const struct symbol_info *info = NULL;
	struct elf_file *elf;
	uint64_t offset;
	struct error *error = dso_elf(dso, &elf);

	if (!error && elf_file_vaddr_to_offset(elf, vaddr, &offset))
		error = symbolizer_file(symbolizer, dso, offset, &info);
	if (error)
		return error;
	if (info && functions)
		printf("%" PRIx64 " %s\t%s\t%" PRIx64 "\n", info->start,
		       info->raw_name, info->name, info->end);
	else if (info)
		printf("%" PRIx64 " %s\t%s\n", info->start, info->raw_name,
		       info->name);
	else
		puts("-");
	return NULL;
}

/* The file itself, as if it were others. */
static struct error *open_others(struct dso_store *store, const char *path)
{
	enum { COUNT = 200 };
	struct error *error = NULL;

	for (uint64_t i = 1; i <= COUNT && !error; i++) {
		const struct dso_key key = { .path = path, .inode = i };
		struct elf_file *elf;
		struct dso *dso;

		error = dso_store_get(store, &key, &dso);
		if (!error)
			error = dso_elf(dso, &elf);
	}
	return error;
}

static struct error *run(const char *path, const char *debug_dir,
			 bool functions, bool closed)
{
	_cleanup_(cleanup_dso_store_) struct dso_store *store = NULL;
	_cleanup_(cleanup_symbolizer_) struct symbolizer *symbolizer = NULL;
	const struct dso_options options = { .debug_dir = debug_dir };
	const struct dso_key key = { .path = path };
	struct elf_file *elf;
	struct dso *dso;
	struct error *error;
	uint64_t vaddr;

	error = dso_store_create(&options, &store);
	if (!error)
		error = symbolizer_create(store, &symbolizer);
	if (!error)
		error = dso_store_get(store, &key, &dso);
	if (!error && closed)
		error = dso_elf(dso, &elf);
	if (!error && closed)
		error = open_others(store, path);
	if (!error)
		symbolizer_set_symbols_only(symbolizer, !functions);
	while (!error && scanf("%" SCNx64, &vaddr) == 1)
		error = answer(symbolizer, dso, vaddr, functions);
	return error;
}

static struct error *print_perf_map(int pid)
{
	struct perf_map_file map = {};
	struct error *error = perf_map_file_load_live(NULL, pid, &map);

	if (error)
		return error;
	puts(map.path);
	for (size_t i = 0; i < map.symtab.count; i++)
		puts(map.symtab.symbols[i].name);
	perf_map_file_deinit(&map);
	return NULL;
}

int main(int argc, char **argv)
{
	bool functions = argc > 1 && !strcmp(argv[1], "--functions");
	bool closed = functions && argc > 2 && !strcmp(argv[2], "--closed");
	struct error *error;

	argc -= functions + closed;
	argv += functions + closed;
	if (argc < 2) {
		fprintf(stderr,
			"usage: dump_symbols [--functions [--closed]] FILE [DEBUG_DIR]\n");
		return 2;
	}
	if (!strcmp(argv[1], "--perf-map") && argc > 2)
		error = print_perf_map(atoi(argv[2]));
	else
		error = run(argv[1], argc > 2 ? argv[2] : "/nonexistent",
			    functions, closed);
	return error ? report(error) : 0;
}
