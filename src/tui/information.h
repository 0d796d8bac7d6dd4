/* SPDX-License-Identifier: GPL-2.0-only */
/* How the recording was made, and what it lacks, on the screen. */
#ifndef KAA_TUI_INFORMATION_H
#define KAA_TUI_INFORMATION_H

#include "base/error.h"
#include "base/strbuf.h"
#include "tui/view.h"

/* What the recording lacks, in lines; nothing if it lacks nothing. */
struct error *information_notes(const struct tui_input *input,
				struct strbuf *out);
/* Shows that, and the recording. */
struct error *information_view(struct ui *ui, const struct strbuf *notes);

#endif
