// SPDX-License-Identifier: GPL-2.0-only
#include "explore/source_proof.h"

#include <inttypes.h>
#include <string.h>

#include "base/content_hash.h"
#include "base/plural.h"

enum source_proof source_prove(const struct source_recordings *recordings,
			       const char *path, const struct source *source)
{
	enum source_proof proof = SOURCE_UNPROVEN;
	struct content_hash hash;

	for (uint32_t i = recordings->first; i < recordings->end; i++) {
		const struct metadata_source *known = metadata_find_source(
			&recordings->profile->recordings.data[i].metadata, path);

		if (!known)
			continue;
		if (proof == SOURCE_UNPROVEN)
			hash = content_hash_of(source->text.data,
					       source->text.len);
		if (known->size != source->text.len ||
		    memcmp(&known->hash, &hash, sizeof(hash)) != 0)
			return SOURCE_OTHER;
		proof = SOURCE_SAME;
	}
	return proof;
}

bool source_may_be_another(enum source_proof proof, const struct source *source,
			   int64_t recorded)
{
	return proof == SOURCE_OTHER ||
	       (proof == SOURCE_UNPROVEN && recorded &&
		source->modified > recorded);
}

void source_tell_no_line(const struct source *source, uint64_t line,
			 struct strbuf *out)
{
	strbuf_printf(out,
		      " has %zu line%s, but samples are on line %" PRIu64 ": it is not the file that ran\n",
		      source->starts.count, plural(source->starts.count), line);
}
