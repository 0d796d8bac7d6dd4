/* SPDX-License-Identifier: GPL-2.0-only */
/* The modes of python_probe. Each prints its answer. */
#ifndef KAA_TESTS_PROBE_H
#define KAA_TESTS_PROBE_H

#include "base/error.h"
#include "bpf/py_layout.h"
#include "python/detect.h"

struct error *probe_layout(const char *version);
struct error *probe_debug_offsets(const char *unused);
struct error *probe_detect(const char *path);
struct error *probe_lines(const char *unused);
struct error *probe_stacks(const char *pid);
struct error *probe_threads(const char *pid);
struct error *probe_moments(const char *pid);
struct error *probe_gil(const char *pid);

/* py_detect() with the FDEs of the file. */
struct error *probe_detect_file(struct elf_file *file, struct py_binary *ret);

#endif
