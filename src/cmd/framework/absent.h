/* SPDX-License-Identifier: GPL-2.0-only */
/* Commands that people look for and kaa does not have, with what does the job. */
#ifndef KAA_CMD_FRAMEWORK_ABSENT_H
#define KAA_CMD_FRAMEWORK_ABSENT_H

/* What to use instead of a command of that name; NULL: nobody looks for it. */
const char *absent_command(const char *name);

#endif
