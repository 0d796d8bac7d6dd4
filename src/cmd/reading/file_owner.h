/* SPDX-License-Identifier: GPL-2.0-only */
/* Whose file a recording is. */
#ifndef KAA_CMD_READING_FILE_OWNER_H
#define KAA_CMD_READING_FILE_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * It is the user who runs kaa, or who typed sudo: whoever types it for `record` may
 * type it for `report`, too.
 */
bool file_owner_is_user(uid_t owner);

#endif
