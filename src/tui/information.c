// SPDX-License-Identifier: GPL-2.0-only
#include "tui/information.h"

#include <string.h>

#include "tui/screen.h"
#include "view/fit.h"
#include "view/header_text.h"
#include "view/report_notes.h"
#include "view/text.h"

/* The notes of the text report, without its comment signs. */
struct error *information_notes(const struct tui_input *input,
				struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *line;
	struct error *error = report_first_note(input->profile,
						input->is_filtered, &text);

	if (!error)
		error = report_notes(input->profile, &text);
	if (error)
		return error;
	for (line = text.data; *line;) {
		size_t n = strcspn(line, "\n");

		if (n > 2) {
			strbuf_append(out, line + 2, n - 2);
			strbuf_putc(out, '\n');
		}
		line += n + (line[n] == '\n');
	}
	if (input->damage)
		strbuf_puts(out, input->damage);
	return strbuf_error(out);
}

static struct error *fit_screen(struct strbuf *text)
{
	_cleanup_strbuf_ struct strbuf lines = STRBUF_INIT;
	size_t rows, columns;

	screen_size(&rows, &columns);
	fit_lines(&lines, text->data, columns);
	strbuf_clear(text);
	strbuf_append(text, lines.data, lines.len);
	return strbuf_error(lines.failed ? &lines : text);
}

struct error *information_view(struct ui *ui, const struct strbuf *notes)
{
	const struct tui_input *input = ui->input;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *error;

	strbuf_puts(&text, "Notes\n\n");
	strbuf_puts(&text, notes->len ? notes->data : "There are no notes.\n");
	strbuf_puts(&text, "\nThe recording\n\n");
	strbuf_puts(&text, "file : ");
	text_append(&text, input->path, strlen(input->path));
	strbuf_putc(&text, '\n');
	vec_for_each(recording, &input->profile->recordings)
		header_text(&recording->metadata, "", &text);
	error = strbuf_error(&text);
	if (!error)
		error = fit_screen(&text);
	return error ? error : view_text(ui, "The recording", text.data, NULL);
}
