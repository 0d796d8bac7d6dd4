// SPDX-License-Identifier: GPL-2.0-only
#include "tui/tui.h"

#include "tui/report_view.h"
#include "tui/screen.h"
#include "tui/view.h"

bool tui_possible(void)
{
	return screen_possible();
}

struct error *tui_report(const struct tui_input *input, int *signal)
{
	struct ui ui;
	struct error *error;

	error = screen_open();
	if (error)
		return error;
	ui_init(&ui, input);
	error = report_view(&ui);
	*signal = screen_signal();
	screen_close();
	ui_deinit(&ui);
	return error;
}
