/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a C library's struct pthread, which pthread_self() is the address of, keeps
 * what kaa reads, on x86-64: glibc's (nptl/descr.h), and musl's (pthread_impl.h).
 */
#ifndef KAA_BASE_PTHREAD_FIELDS_H
#define KAA_BASE_PTHREAD_FIELDS_H

enum {
	/* Its own address. */
	PTHREAD_SELF = 0x10,
	/* int: gettid(), as its pid namespace numbers it. */
	PTHREAD_TID = 0x2d0,
	/* The list of robust locks, of which the kernel knows where it is. */
	PTHREAD_ROBUST_HEAD = 0x2e0,

	/* The same in musl; the kernel knows of no list until there is such a lock. */
	MUSL_PTHREAD_SELF = 0,
	/* From 1.2.0 on. */
	MUSL_PTHREAD_TID = 0x30,
	/* Before there was a second canary. */
	MUSL_PTHREAD_TID_1_1 = 0x38,
};

#endif
