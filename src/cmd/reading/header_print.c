// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/header_print.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "convert/header.h"
#include "view/text.h"

struct error *header_print(struct converter *converter)
{
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error = profile_create(NULL, &profile);

	if (!error)
		error = convert_header(converter_reader(converter), profile);
	if (error)
		return error;
	strbuf_puts(&text, "# ========\n");
	vec_for_each(line, &profile->headers) {
		strbuf_puts(&text, "# ");
		text_header(&text, profile, line);
		strbuf_putc(&text, '\n');
	}
	strbuf_puts(&text, "# ========\n#\n");
	error = strbuf_error(&text);
	if (!error)
		fputs(text.data, stdout);
	return error;
}
