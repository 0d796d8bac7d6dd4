// SPDX-License-Identifier: GPL-2.0-only
#include "base/content_hash.h"

#include <string.h>

/* Without the library, which who uses other parts of base does not need. */
#define XXH_INLINE_ALL
#include <xxhash.h>

struct content_hash content_hash_of(const void *data, size_t size)
{
	XXH128_canonical_t canonical;
	struct content_hash hash;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(data, size));
	memcpy(hash.bytes, canonical.digest, sizeof(hash.bytes));
	return hash;
}
