/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where glibc's struct pthread, which pthread_self() is the address of, keeps what
 * kaa reads (nptl/descr.h, x86-64).
 */
#ifndef KAA_BASE_GLIBC_THREAD_H
#define KAA_BASE_GLIBC_THREAD_H

enum {
	/* Its own address. */
	PTHREAD_SELF = 0x10,
	/* int: gettid(), as its pid namespace numbers it. */
	PTHREAD_TID = 0x2d0,
	/* The list of robust locks, of which the kernel knows where it is. */
	PTHREAD_ROBUST_HEAD = 0x2e0,
};

#endif
