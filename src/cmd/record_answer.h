/* SPDX-License-Identifier: GPL-2.0-only */
/* What `kaa record` ends with: where the time went, in a few lines. */
#ifndef KAA_CMD_RECORD_ANSWER_H
#define KAA_CMD_RECORD_ANSWER_H

/*
 * Prints the hottest functions and lines of a recording that has just been
 * written, and what to type next, to standard error. The recording is there
 * already: what fails here is a warning, and Ctrl-C ends the process. Without
 * Python frames in samples of CPU time nothing is printed; of a recording that
 * takes long to read, only what to type next.
 */
void record_answer(const char *path);

#endif
