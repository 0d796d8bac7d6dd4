/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is in a file, as 16 bytes: XXH3 of 128 bits, as `xxh128sum` prints it. Files that
 * differ by chance have different ones. It is no proof against who makes two files with
 * the same one on purpose.
 */
#ifndef KAA_BASE_CONTENT_HASH_H
#define KAA_BASE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CONTENT_HASH_SIZE 16

struct content_hash {
	uint8_t bytes[CONTENT_HASH_SIZE];
};

struct content_hash content_hash_of(const void *data, size_t size);

#endif
