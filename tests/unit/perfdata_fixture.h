/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory for one perf.data: the tests of a group use it one after the other. */
#ifndef KAA_TESTS_UNIT_PERFDATA_FIXTURE_H
#define KAA_TESTS_UNIT_PERFDATA_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "assert_ok.h"

static char directory[] = "/tmp/kaa-test-perfdata-XXXXXX";
static char file_path[64];

static inline int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(file_path, sizeof(file_path), "%s/perf.data", directory);
	return 0;
}

static inline int remove_directory(void **state)
{
	char old[80];

	(void)state;
	snprintf(old, sizeof(old), "%s.old", file_path);
	unlink(old);
	unlink(file_path);
	return rmdir(directory);
}

#endif
