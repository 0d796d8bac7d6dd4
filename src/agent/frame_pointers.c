// SPDX-License-Identifier: GPL-2.0-only
#include "agent/frame_pointers.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/capi.h"
#include "agent/setting.h"

enum {
	/* Of a function, from its start: where it makes its frame. */
	PROLOGUE = 32,
	/*
	 * Of the twelve functions below. Builds without frame pointers have at
	 * most two that set one up (Debian's 3.14, where they ask for the
	 * address of their frame), Debian's 3.15 with them has eleven.
	 */
	ENOUGH = 4,
};

#ifdef __x86_64__
/* mov %rsp,%rbp, in both encodings. */
static bool sets_frame_pointer(const uint8_t *code)
{
	for (size_t i = 0; i + 3 <= PROLOGUE; i++)
		if (code[i] == 0x48 &&
		    ((code[i + 1] == 0x89 && code[i + 2] == 0xe5) ||
		     (code[i + 1] == 0x8b && code[i + 2] == 0xec)))
			return true;
	return false;
}

bool frame_pointers_kept(void)
{
	const void *const functions[] = {
		(const void *)(uintptr_t)capi.PyObject_GetAttrString,
		(const void *)(uintptr_t)capi.PyObject_CallFunctionObjArgs,
		(const void *)(uintptr_t)capi.PyTuple_New,
		(const void *)(uintptr_t)capi.PyImport_ImportModule,
		(const void *)(uintptr_t)capi.PyUnicode_AsUTF8AndSize,
		(const void *)(uintptr_t)capi.PyErr_NormalizeException,
		(const void *)(uintptr_t)capi.PyDict_SetItemString,
		(const void *)(uintptr_t)capi.PyErr_Format,
		(const void *)(uintptr_t)capi.PyObject_Str,
		(const void *)(uintptr_t)capi.PyDict_DelItemString,
		(const void *)(uintptr_t)capi.PyUnicode_DecodeFSDefault,
		(const void *)(uintptr_t)capi.PyList_SetItem,
	};
	unsigned int with = 0;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		with += sets_frame_pointer(functions[i]);
	return with >= ENOUGH;
}
#else
bool frame_pointers_kept(void)
{
	return true;
}
#endif

void frame_pointers_say(void)
{
	const char *pid = agent_setting("KAA_SAY_FRAME_POINTERS");

	if (!pid || strtol(pid, NULL, 10) != getpid() || frame_pointers_kept())
		return;
	fprintf(stderr,
		"kaa run: this Python has no frame pointers, so 'perf record -g' shows no Python functions; "
		"use 'perf record --call-graph dwarf,32768' with 'kaa run --perf-elf' (kaa run -q: do not say so)\n");
}
