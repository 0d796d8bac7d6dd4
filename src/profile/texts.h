/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts, each once: equal content gives an equal number, counted from 0.
 * Zero-initialise to start. Not thread-safe.
 */
#ifndef KAA_PROFILE_TEXTS_H
#define KAA_PROFILE_TEXTS_H

#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "profile/index.h"

struct texts {
	/* By number; owned. */
	VEC(char *) all;
	/* Private. */
	struct index index;
};

/* Copies the text if it is new. */
struct error *texts_intern(struct texts *texts, const char *text,
			   uint32_t *ret);
void texts_deinit(struct texts *texts);

#endif
