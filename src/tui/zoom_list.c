// SPDX-License-Identifier: GPL-2.0-only
#include "tui/zoom_list.h"

#include "view/text.h"

static void format_choices(const struct profile *profile,
			   const zoom_choice_vec *choices, struct strbuf *out)
{
	uint64_t total = 0;

	vec_for_each(choice, choices)
		total += choice->period;
	vec_for_each(choice, choices) {
		_cleanup_strbuf_ struct strbuf percent = STRBUF_INIT;

		text_percent(&percent, choice->period, total);
		strbuf_printf(out, "%8s  ", percent.data);
		if (choice->zoom.kind != ZOOM_COMM)
			strbuf_printf(out, "%8d  ", choice->zoom.id);
		text_string(out, profile, choice->comm, "");
		strbuf_putc(out, '\n');
	}
}

static const char *name_of(enum zoom_kind kind)
{
	return kind == ZOOM_THREAD  ? "thread" :
	       kind == ZOOM_PROCESS ? "process" :
				      "command";
}

static struct error *choose_among(struct ui *ui, enum zoom_kind kind,
				  const zoom_choice_vec *choices,
				  size_t *chosen)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct error *error;

	format_choices(ui->input->profile, choices, &text);
	strbuf_printf(&title, "Zoom into which %s?", name_of(kind));
	error = strbuf_error(&text);
	if (!error)
		error = strbuf_error(&title);
	return error ? error : view_text(ui, title.data, text.data, chosen);
}

struct error *zoom_list(struct ui *ui, uint32_t event, const uint8_t *keep,
			enum zoom_kind kind, struct zoom *ret, bool *chosen)
{
	zoom_choice_vec choices = {};
	size_t at = SIZE_MAX;
	struct error *error =
		zoom_choices(ui->input->profile, event, keep, kind, &choices);

	if (!error && choices.count < 2)
		ui_say(ui, "all samples belong to one %s", name_of(kind));
	else if (!error)
		error = choose_among(ui, kind, &choices, &at);
	*chosen = !error && at < choices.count;
	if (*chosen)
		*ret = choices.data[at].zoom;
	vec_deinit(&choices);
	return error;
}
