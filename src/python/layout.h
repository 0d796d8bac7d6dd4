/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct py_layout (bpf/py_layout.h) of an interpreter: where its release of
 * CPython keeps what a walk over its frames reads.
 *
 * Up to 3.12 that is what the table of releases says (python/releases.h). From
 * 3.13 on the target says itself where things are, in the struct
 * _Py_DebugOffsets that _PyRuntime begins with; what that does not list comes
 * from the table. Any layout can be checked against the live process before it
 * is used.
 *
 * Only x86-64 builds. Thread-safe.
 */
#ifndef KAA_PYTHON_LAYOUT_H
#define KAA_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "bpf/py_layout.h"
#include "python/releases.h"

/* From here on _PyRuntime begins with a struct _Py_DebugOffsets. */
#define PY_SERIES_DEBUG_OFFSETS 0x030d0000u

/* At least as many bytes as any known _Py_DebugOffsets. */
#define PY_DEBUG_OFFSETS_MAX 1024

/*
 * The row of a release before 3.13, by PY_VERSION_HEX. ERROR_UNSUPPORTED for
 * releases that the walker does not support (the message says which it does),
 * alpha and beta releases included, whose structures differed.
 * ERROR_INVALID_ARGUMENT from 3.13 on.
 */
struct error *py_layout_find(uint32_t version, struct py_layout *ret);

/*
 * The row of a release from 3.13 on. bytes is what stands at _PyRuntime, up to
 * PY_DEBUG_OFFSETS_MAX bytes (fewer at the end of a mapping are fine as long
 * as the offsets are there); the version is that of the bytes. If version is
 * not 0 the two must be equal.
 *
 * ERROR_NOT_FOUND if the bytes are all zero (not yet initialised: a process
 * that is just starting); ERROR_UNSUPPORTED for versions not known here, and for
 * free-threaded builds of versions of which these are not; ERROR_FORMAT if the
 * numbers make no sense.
 */
struct error *py_layout_from_debug_offsets(struct bytes bytes,
					   uint32_t version,
					   struct py_layout *ret);

/* Memory of the target. */
struct py_memory {
	/* Reads exactly size bytes; false if that cannot be. */
	bool (*read)(void *arg, uint64_t address, void *buf, size_t size);
	void *arg;
	/*
	 * Of words of 8 bytes, as many as can be read, from the first on; returns
	 * how many. NULL: each is read by itself.
	 */
	size_t (*read_words)(void *arg, const uint64_t *addresses, size_t count,
			     uint64_t *words);
};

/* What py_layout_validate() saw, for messages. */
struct py_layout_seen {
	unsigned int interpreters;
	unsigned int threads;
	/* Thread states whose thread_id is the address of a live thread. */
	unsigned int live_threads;
	/* Frames with a code object, over all threads. */
	unsigned int frames;
};

/*
 * Checks a row against a live process: runtime is the address of _PyRuntime,
 * code_type that of PyCode_Type. The type's name, the lists of interpreters
 * and thread states, the thread ids, the innermost frames, and the strings and
 * the line table of their code objects have to be what the row says.
 *
 * The process runs on meanwhile. What can be torn is tried again some times,
 * without waiting.
 *
 * ERROR_NOT_FOUND: no interpreter or thread yet, try later. ERROR_FAULT:
 * memory cannot be read. ERROR_FORMAT: this row does not fit this process; it
 * must not be used. ret may be NULL.
 */
struct error *py_layout_validate(const struct py_layout *layout,
				 const struct py_memory *memory,
				 uint64_t runtime, uint64_t code_type,
				 struct py_layout_seen *ret);

#endif
