/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the code of a recording's functions is. */
#ifndef KAA_CMD_READING_RECORDED_CODE_H
#define KAA_CMD_READING_RECORDED_CODE_H

#include "convert/convert.h"
#include "explore/code.h"

/* Of what the converter has read; it must outlive them. */
struct code_places recorded_code(struct converter *converter);

#endif
