// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/header_print.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "convert/header.h"
#include "view/header_text.h"

struct error *header_print(struct converter *converter)
{
	_cleanup_metadata_ struct metadata metadata = {};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error =
		convert_header(converter_reader(converter), &metadata);

	if (error)
		return error;
	header_comment(&metadata, &text);
	error = strbuf_error(&text);
	if (!error)
		fputs(text.data, stdout);
	return error;
}
