// SPDX-License-Identifier: GPL-2.0-only
#include "view/own_name.h"

#include <inttypes.h>
#include <string.h>

#include "base/path_name.h"
#include "profile/symbol_word.h"
#include "view/fit.h"
#include "view/printable.h"

/* Columns of a place that tell one file from another. */
enum { PLACE_MIN = 14 };

void own_name_function(const struct profile *profile,
		       const struct own_entry *entry, struct strbuf *out)
{
	const char *name = profile_string(profile, entry->name, "");
	struct python_symbol python;

	if (!entry->is_python)
		strbuf_puts(out, entry->is_library ? "[not in your files]" :
						     OWN_NAME_NO_PYTHON);
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

/* Columns: of the file all if a third of the room is enough, and no folder. */
static size_t least_of_place(const char *place, size_t wide, size_t room)
{
	const char *file = path_name(place);
	size_t least = strlen("...") + printable_width(file, strlen(file));

	if (least > room / 3)
		least = room / 3;
	if (least < PLACE_MIN)
		least = PLACE_MIN;
	return wide < least ? wide : least;
}

/* "...s/manager.py (BaseManager...manager_method)" */
static void fit_place_and_function(struct strbuf *out, const char *place,
				   const struct strbuf *function, size_t width)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	size_t room = width - strlen(" ()");
	size_t wide = printable_width(place, strlen(place)), used;

	fit_name(&name, function->data, room - least_of_place(place, wide, room));
	strbuf_trim_end(&name);
	used = printable_width(name.data, name.len);
	if (wide > room - used)
		wide = room - used;
	fit_end(out, place, wide);
	strbuf_printf(out, " (%s)", name.data);
	strbuf_fill(out, ' ', room - used - wide);
}

void own_name_fit_line(const struct profile *profile,
		       const struct place_names *names,
		       const struct own_entry *entry, size_t width,
		       struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (entry->name == PROFILE_NONE || entry->line || width < 2 * PLACE_MIN) {
		own_name_line(profile, names, entry, &text);
		fit_end(out, text.data, width);
		return;
	}
	own_name_function(profile, entry, &text);
	fit_place_and_function(out, place_name(names, entry->file), &text, width);
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
