// SPDX-License-Identifier: GPL-2.0-only
#include "export/format.h"

#define ROW(name, traits, without, help) \
	{ #name, traits, without, export_##name },
const struct export_row export_formats[] = { EXPORT_FORMATS(ROW) {} };
#undef ROW
