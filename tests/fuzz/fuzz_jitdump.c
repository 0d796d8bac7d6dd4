// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a jitdump. Whatever a record hands out lies in the bytes given, and
 * all of it can be read.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "obj/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *begin, *end;
static volatile uint8_t sink;

static void check_bytes(struct bytes bytes)
{
	if (!bytes.size)
		return;
	if (bytes.data < begin || bytes.data > end ||
	    bytes.size > (size_t)(end - bytes.data))
		abort();
	sink = bytes.data[0] ^ bytes.data[bytes.size - 1];
}

static void check_string(const char *s)
{
	check_bytes((struct bytes){ (const uint8_t *)s, strlen(s) + 1 });
}

static void check(struct jitdump_record *record)
{
	struct jitdump_line line;

	if (record->address + record->size < record->address)
		abort();
	if (record->type != JITDUMP_LOAD)
		return;
	check_string(record->name);
	check_bytes(record->code);
	check_bytes(record->unwinding.eh_frame);
	check_bytes(record->unwinding.eh_frame_hdr);
	while (jitdump_next_line(&record->lines, &line))
		check_string(line.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump_record record;
	struct jitdump dump;
	struct error *error = jitdump_init(&dump, data, size, NULL);

	begin = data;
	end = data + size;
	while (!error && jitdump_next(&dump, &record))
		check(&record);
	if (!error && dump.truncated_bytes > size)
		abort();
	error_destroy(error);
	return 0;
}
