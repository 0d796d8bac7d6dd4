// SPDX-License-Identifier: GPL-2.0-only
#include "explore/source_proof.h"

#include <string.h>

static const struct metadata_source *find(const struct metadata *metadata,
					  const char *path)
{
	vec_for_each(source, &metadata->sources)
		if (!strcmp(source->path, path))
			return source;
	return NULL;
}

enum source_proof source_prove(const struct source_recordings *recordings,
			       const char *path, const struct source *source)
{
	enum source_proof proof = SOURCE_UNPROVEN;

	for (uint32_t i = recordings->first; i < recordings->end; i++) {
		const struct metadata_source *known = find(
			&recordings->profile->recordings.data[i].metadata, path);

		if (!known)
			continue;
		if (known->size != source->text.len ||
		    memcmp(&known->hash, &source->hash, sizeof(known->hash)) != 0)
			return SOURCE_OTHER;
		proof = SOURCE_SAME;
	}
	return proof;
}
