// SPDX-License-Identifier: GPL-2.0-only
#include "explore/no_python_listing.h"

#include <inttypes.h>
#include <string.h>

#include "view/own_name.h"
#include "view/spent_text.h"

/* More are counted. */
enum { ROWS_MAX = 30 };

const struct own_entry *no_python_find(const struct profile *profile,
				       const struct own_time *own,
				       const char *word)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	vec_for_each(entry, &own->functions) {
		strbuf_clear(&name);
		if (entry->is_python || !entry->own.samples)
			continue;
		own_name_function(profile, entry, &name);
		if (!strcmp(name.data, word))
			return entry;
	}
	return NULL;
}

static void put_share(struct listing *l, uint64_t period)
{
	uint64_t all = l->weights->events.data[0].own->all.period;

	strbuf_printf(&l->text, "%5.1f%%  ",
		      all ? 100.0 * (double)period / (double)all : 0.0);
}

void no_python_listing_put(struct listing *l, const struct own_entry *entry)
{
	const struct own_time *own = l->weights->events.data[0].own;
	uint64_t rest = 0;

	strbuf_puts(&l->text, l->text.len ? "\n" : "");
	own_name_function(l->profile, entry, &l->text);
	strbuf_puts(&l->text, "\n   own  spent in\n");
	for (uint32_t i = 0; i < entry->part_count; i++) {
		const struct own_part *part =
			&own->parts.data[entry->first_part + i];

		if (i >= ROWS_MAX) {
			rest += part->weight.period;
			continue;
		}
		put_share(l, part->weight.period);
		spent_text_part(l->profile, part->kind, part->subject, &l->text);
		strbuf_putc(&l->text, '\n');
	}
	if (!rest)
		return;
	put_share(l, rest);
	strbuf_printf(&l->text, "%" PRIu32 " others\n",
		      entry->part_count - ROWS_MAX);
}
