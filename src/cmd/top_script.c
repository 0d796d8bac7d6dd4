// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/python_command.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/sampler_options.h"
#include "sys/file.h"

struct words VEC_BODY(const char *);

static void free_words(struct words *words)
{
	vec_deinit(words);
}

static struct error *take_script(const char *const *words, size_t count,
				 char **ret)
{
	const char *script = python_script(words, count);

	*ret = script ? strdup(script) : NULL;
	return script && !*ret ? error_no_memory() : NULL;
}

/* Its command line, which anybody may read. */
static struct error *take_script_of(pid_t pid, char **ret)
{
	enum { BYTES_MAX = 65536 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_(free_words) struct words words = {};
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	error = file_read("", path, BYTES_MAX, &text);
	/* It has ended, or they are of no use. */
	error_destroy(error);
	for (size_t i = 0; i < text.len; i += strlen(text.data + i) + 1)
		if (!vec_push(&words, text.data + i))
			return error_no_memory();
	return take_script(words.data, words.count, ret);
}

struct error *top_script_find(const char *const *words, size_t count,
			      const struct pid_vec *processes, char **ret)
{
	*ret = NULL;
	if (words)
		return take_script(words, count, ret);
	return processes->count == 1 ?
		       take_script_of((pid_t)processes->data[0], ret) :
		       NULL;
}
