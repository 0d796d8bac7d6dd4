// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/completion/completion.h"

#include <string.h>

static const struct {
	const char *name;
	void (*format)(struct strbuf *out);
} shells[] = {
#define ROW(name) { #name, completion_format_##name },
	COMPLETION_SHELLS(ROW)
#undef ROW
};

struct error *completion_format(const char *shell, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf known = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (!strcmp(shells[i].name, shell)) {
			shells[i].format(out);
			return NULL;
		}
		strbuf_printf(&known, "%s%s", i ? ", " : "", shells[i].name);
	}
	return error_create(ERROR_INVALID_ARGUMENT,
			    "there is no completion script for '%s', only for %s",
			    shell, known.data);
}

void completion_words(struct strbuf *out)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		strbuf_printf(out, "%s ", shells[i].name);
}
