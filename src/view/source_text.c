// SPDX-License-Identifier: GPL-2.0-only
#include "view/source_text.h"

#include <inttypes.h>
#include <string.h>

#include "view/text.h"

static void put_file(const struct profile *profile,
		     const struct profile_frame *frame,
		     const struct report_options *options, struct strbuf *out)
{
	const char *file = profile_string(profile, frame->file, "??");
	const char *slash = strrchr(file, '/');

	if (slash && slash[1] && !options->full_source_path)
		file = slash + 1;
	text_append(out, file, strlen(file));
}

/* "x.py:12" */
static void put_line(const struct profile *profile,
		     const struct profile_frame *frame,
		     const struct report_options *options, struct strbuf *out)
{
	put_file(profile, frame, options, out);
	strbuf_printf(out, ":%u", frame->line);
}

static void put_dso(const struct profile *profile,
		    const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile_dso *dso = profile_dso(profile, frame->dso);

	text_string(out, profile, dso ? dso->short_name : PROFILE_NONE,
		    "[unknown]");
}

/* The offset in the function or, without one, the address in the file. */
static void put_offset(const struct profile *profile,
		       const struct profile_frame *frame, bool hit,
		       const struct report_options *options,
		       struct strbuf *out)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);
	uint64_t address = hit || !options->quirks.lines_of_hits ?
				   frame->rel :
				   frame->address;

	if (frame->dso == PROFILE_NONE) {
		strbuf_puts(out, "??:0");
	} else if (symbol) {
		text_string(out, profile, symbol->name, "[unknown]");
		strbuf_printf(out, "+%" PRIu64, address - symbol->start);
	} else {
		put_dso(profile, frame, out);
		strbuf_printf(out, "[%" PRIx64 "]", address);
	}
}

/* As the function, in its file. */
static void put_unknown(const struct profile *profile,
			const struct profile_frame *frame, struct strbuf *out)
{
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	put_dso(profile, frame, out);
	strbuf_putc(out, '[');
	if (symbol)
		text_string(out, profile, symbol->name, "[unknown]");
	else
		strbuf_printf(out, "%" PRIx64, frame->rel);
	strbuf_putc(out, ']');
}

/* shown: even where callers' places in the source are not. */
static bool is_known(const struct profile_frame *frame, bool shown,
		     const struct report_options *options)
{
	if (!frame || (options->quirks.lines_of_hits && !shown))
		return false;
	/* Also a function without lines in a file that has some, as ??:0. */
	return options->quirks.unknown_lines ? frame->file != PROFILE_NONE :
					       frame->line;
}

static void put_srcline(const struct profile *profile,
			const struct profile_frame *frame, bool hit,
			const struct report_options *options,
			struct strbuf *out)
{
	if (is_known(frame, hit || options->inlines, options)) {
		put_line(profile, frame, options, out);
	} else if (!frame) {
		strbuf_puts(out, "??:0");
	} else if (options->quirks.offsets_as_lines) {
		put_offset(profile, frame, hit, options, out);
	} else {
		put_unknown(profile, frame, out);
	}
}

void source_step_text(const struct profile *profile,
		      const struct profile_frame *frame, const void *arg,
		      struct strbuf *out)
{
	const struct report_options *options = arg;
	const struct profile_symbol *symbol =
		profile_symbol(profile, frame->symbol);

	if (options->callgraph.key == CHAIN_KEY_FUNCTION ||
	    (options->quirks.steps_with_offsets && frame->dso == PROFILE_NONE))
		return;
	if (frame->line) {
		put_line(profile, frame, options, out);
	} else if (!options->quirks.steps_with_offsets) {
		return;
	} else if (frame->file != PROFILE_NONE) {
		/* Of a file that has lines: ??:0, or a.c:0. */
		put_line(profile, frame, options, out);
	} else if (options->callgraph.key == CHAIN_KEY_SRCLINE) {
		strbuf_puts(out, "??:0");
	} else if (symbol) {
		strbuf_printf(out, "+%" PRIu64, frame->rel - symbol->start);
	}
}

/* In brackets, for what is no source; many have their own. */
static void put_file_of_code(const struct profile *profile,
			     const struct profile_frame *frame,
			     struct strbuf *out)
{
	const struct profile_dso *dso =
		frame ? profile_dso(profile, frame->dso) : NULL;
	const char *name = dso ? profile_string(profile, dso->short_name, "")
			       : "[unknown]";

	if (*name != '[')
		strbuf_putc(out, '[');
	text_append(out, name, strlen(name));
	if (*name != '[')
		strbuf_putc(out, ']');
}

static void put_srcfile(const struct profile *profile,
			const struct profile_frame *frame, bool hit,
			const struct report_options *options,
			struct strbuf *out)
{
	if (is_known(frame, hit, options))
		put_file(profile, frame, options, out);
	else if (!options->quirks.offsets_as_lines)
		put_file_of_code(profile, frame, out);
}

void source_text(const struct profile *profile,
		 const struct profile_frame *frame, enum source_kind kind,
		 bool hit, const void *arg, struct strbuf *out)
{
	if (kind == SOURCE_LINE)
		put_srcline(profile, frame, hit, arg, out);
	else
		put_srcfile(profile, frame, hit, arg, out);
}
