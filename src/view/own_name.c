// SPDX-License-Identifier: GPL-2.0-only
#include "view/own_name.h"

#include <inttypes.h>

#include "profile/symbol_word.h"

void own_name_function(const struct profile *profile,
		       const struct own_entry *entry, struct strbuf *out)
{
	const char *name = profile_string(profile, entry->name, "");
	struct python_symbol python;

	if (!entry->is_python)
		strbuf_puts(out, "[no Python code]");
	else if (entry->name == PROFILE_NONE)
		strbuf_puts(out, "[unknown Python code]");
	else if (python_symbol_parse(name, &python))
		strbuf_append(out, python.qualname, python.qualname_length);
	else
		strbuf_puts(out, name);
}

void own_name_place(const struct place_names *names,
		    const struct own_entry *entry, struct strbuf *out)
{
	if (entry->name == PROFILE_NONE)
		return;
	strbuf_puts(out, place_name(names, entry->file));
	if (entry->line)
		strbuf_printf(out, ":%" PRIu32, entry->line);
}

void own_name_line(const struct profile *profile,
		   const struct place_names *names,
		   const struct own_entry *entry, struct strbuf *out)
{
	if (entry->name == PROFILE_NONE) {
		own_name_function(profile, entry, out);
		return;
	}
	own_name_place(names, entry, out);
	if (entry->line)
		return;
	strbuf_puts(out, " (");
	own_name_function(profile, entry, out);
	strbuf_putc(out, ')');
}

void own_name_file(const struct profile *profile,
		   const struct place_names *names,
		   const struct own_entry *entry, struct strbuf *out)
{
	if (!entry->is_python)
		own_name_function(profile, entry, out);
	else if (entry->file == PROFILE_NONE)
		strbuf_puts(out, "[unknown file]");
	else
		strbuf_puts(out, place_name(names, entry->file));
}
