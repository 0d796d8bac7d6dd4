/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop: waits for rings and signals, and does a round after each wait,
 * until the command or all recorded threads have ended, or a signal says stop.
 * See recorder_internal.h for errors and threads.
 */
#ifndef KAA_COLLECT_RECORDER_LOOP_H
#define KAA_COLLECT_RECORDER_LOOP_H

#include "base/error.h"

struct recorder;

/* Makes the epoll instance, and what is kept for each ring. */
struct error *recorder_watch_rings(struct recorder *recorder);

/*
 * Blocks the signals of recorder_run(), which come by the loop from now on.
 * After recorder_watch_rings().
 */
struct error *recorder_open_signals(struct recorder *recorder);

/* Enables the events, or says when, and lets the command go. */
struct error *recorder_start(struct recorder *recorder);

/* Rounds until the recording is over; a last one is left to the caller. */
struct error *recorder_loop(struct recorder *recorder);

/*
 * The recording is over, but a command that is recorded may go on: waits for
 * it. It still gets kaa's signals.
 */
void recorder_wait_for_command(struct recorder *recorder);

#endif
