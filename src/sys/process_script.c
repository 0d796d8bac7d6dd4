// SPDX-License-Identifier: GPL-2.0-only
#include "sys/process_script.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/python_command.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "sys/file.h"

struct words VEC_BODY(const char *);

static void free_words(struct words *words)
{
	vec_deinit(words);
}

struct error *process_script(const char *root, pid_t pid, char **ret)
{
	enum { BYTES_MAX = 65536 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(free_words) struct words words = {};
	const char *script;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	error = file_read(root, path, BYTES_MAX, &text);
	/* It has ended, or they are of no use. */
	error_destroy(error);
	for (size_t i = 0; i < text.len; i += strlen(text.data + i) + 1)
		if (!vec_push(&words, text.data + i))
			return error_no_memory();
	script = python_script(words.data, words.count);
	*ret = script ? strdup(script) : NULL;
	return script && !*ret ? error_no_memory() : NULL;
}
