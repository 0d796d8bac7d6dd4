// SPDX-License-Identifier: GPL-2.0-only
#include "explore/source_proof.h"

#include <inttypes.h>
#include <string.h>

#include "base/content_hash.h"
#include "base/path_name.h"
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

/* "page.html"; of Python are "app.py", "app.pyx" and what has no dot. */
static bool is_template(const char *path)
{
	const char *dot = strrchr(path_name(path), '.');

	return dot && strncmp(dot, ".py", 3) != 0;
}

void source_tell_no_line(const char *path, const struct source *source,
			 uint64_t line, struct strbuf *out)
{
	strbuf_printf(out,
		      " has %zu line%s, but samples are on line %" PRIu64 ": %s\n",
		      source->starts.count, plural(source->starts.count), line,
		      is_template(path) ?
			      "it is a template, and the lines are those of Python code that was made from it" :
			      "it is not the file that ran");
}
