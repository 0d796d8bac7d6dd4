// SPDX-License-Identifier: GPL-2.0-only
#include "export/unique.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/texts.h"
#include "view/printable.h"

void export_put_printable(struct strbuf *out, const char *text)
{
	size_t left = strlen(text), n;
	const char *s;

	while (left) {
		size_t taken = printable_character(text, left, &s, &n);

		strbuf_append(out, s, n);
		text += taken;
		left -= taken;
	}
}

/* What is taken: a file and a name in it. */
struct export_unique {
	struct texts keys;
	/* Of each key how many numbers behind it, from 2 on, are taken. */
	VEC(uint32_t) taken;
	struct strbuf text;
};

/*
 * Whether nobody has this name in that file; from then on somebody has. *key: its
 * number, unless it failed.
 */
static bool is_free(struct export_unique *u, const char *file,
		    const char *name, uint32_t *key, bool *failed)
{
	size_t before = u->keys.all.count;
	struct error *error;

	strbuf_clear(&u->text);
	export_put_printable(&u->text, file);
	strbuf_printf(&u->text, "\n%s", name);
	error = texts_intern(&u->keys, u->text.data, key);
	*failed = error || u->text.failed;
	error_destroy(error);
	return *failed || u->keys.all.count > before;
}

/* Puts a number behind the name, which is taken: its key. False when memory runs out. */
static bool number_name(struct export_unique *u, const char *file, uint32_t key,
			struct strbuf *out)
{
	uint32_t *taken = vec_slot(&u->taken, key), other;
	size_t length = out->len;
	bool failed = !taken, found = false;

	for (; !failed && !found; ++*taken) {
		strbuf_truncate(out, length);
		strbuf_printf(out, " (%" PRIu32 ")", *taken + 2);
		found = is_free(u, file, out->data, &other, &failed);
	}
	return !failed;
}

/* To out. False when memory runs out. */
static bool name_function(struct export_unique *u,
			  const struct export_stacks *stacks,
			  const struct export_function *function,
			  struct strbuf *out)
{
	const char *file = export_function_file(stacks, function);
	uint32_t key, other;
	bool failed;
	size_t length;

	strbuf_clear(out);
	export_put_printable(out, export_function_name(stacks, function));
	/* Behind a number in callgrind's format nothing would be no name. */
	if (!out->len)
		strbuf_puts(out, "???");
	length = out->len;
	if (is_free(u, file, out->data, &key, &failed))
		return !failed && !out->failed;
	if (function->line) {
		strbuf_printf(out, " (line %" PRIu32 ")", function->line);
		if (is_free(u, file, out->data, &other, &failed))
			return !failed && !out->failed;
		strbuf_truncate(out, length);
	}
	return number_name(u, file, key, out) && !out->failed;
}

struct error *export_names_create(const struct export_stacks *stacks,
				  struct export_names *ret)
{
	struct export_unique u = { .text = STRBUF_INIT };
	struct strbuf name = STRBUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < stacks->functions.count; i++) {
		char *copy = NULL;

		ok = name_function(&u, stacks, &stacks->functions.data[i],
				   &name);
		if (ok)
			copy = strdup(name.data);
		ok = copy && vec_push(ret, copy);
		if (!ok)
			free(copy);
	}
	texts_deinit(&u.keys);
	vec_deinit(&u.taken);
	strbuf_deinit(&u.text);
	strbuf_deinit(&name);
	return ok ? NULL : error_no_memory();
}

void export_names_deinit(struct export_names *names)
{
	vec_for_each(name, names)
		free(*name);
	vec_deinit(names);
}
