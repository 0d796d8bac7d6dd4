/* SPDX-License-Identifier: GPL-2.0-only */
/* Who serves a page: never root. */
#ifndef KAA_CMD_VIEW_USER_H
#define KAA_CMD_VIEW_USER_H

#include "base/error.h"

/* Under sudo: becomes the user who typed it, for good, before anything is read. */
struct error *view_user_become(void);
/* Where it is still root, since nobody stands behind it: becomes nobody, for good. */
struct error *view_user_leave_root(void);

#endif
