// SPDX-License-Identifier: GPL-2.0-only
#include "inject/sampled.h"

#include <string.h>

void sampled_deinit(struct sampled *sampled)
{
	vec_for_each(entry, &sampled->dumps)
		free(entry->wanted);
	vec_deinit(&sampled->dumps);
}

struct error *sampled_add(struct sampled *sampled, struct jit_dump *dump)
{
	struct sampled_dump entry = { .dump = dump };

	entry.wanted = calloc(dump->codes.count + 1, sizeof(*entry.wanted));
	if (!entry.wanted || !vec_push(&sampled->dumps, entry)) {
		free(entry.wanted);
		return error_no_memory();
	}
	return NULL;
}

static bool *wanted_of(const struct sampled *sampled,
		       const struct jit_dump *dump)
{
	vec_for_each(entry, &sampled->dumps)
		if (entry->dump == dump)
			return entry->wanted;
	return NULL;
}

const bool *sampled_of(const struct sampled *sampled,
		       const struct jit_dump *dump)
{
	return wanted_of(sampled, dump);
}

static void mark(struct sampled *sampled, struct jits *jits, uint32_t pid,
		 uint64_t address, uint64_t time)
{
	uint64_t from, to;
	struct jit_dump *dump = NULL;
	struct jit_code *code =
		jits_find(jits, pid, address, time, &dump, &from, &to);
	bool *wanted = code ? wanted_of(sampled, dump) : NULL;

	if (wanted)
		wanted[code - dump->codes.data] = true;
}

/* A return address may stand behind the last byte. */
static void see(struct sampled *sampled, struct jits *jits,
		const struct record *sample, uint64_t address)
{
	mark(sampled, jits, sample->pid, address, sample->time);
	mark(sampled, jits, sample->pid, address - 1, sample->time);
}

static void see_words(struct sampled *sampled, struct jits *jits,
		      const struct record *sample, const void *words,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)words + i * sizeof(word),
		       sizeof(word));
		see(sampled, jits, sample, word);
	}
}

void sampled_see(struct sampled *sampled, struct jits *jits,
		 const struct record *sample)
{
	const struct record_sample *s = &sample->sample;

	if (!jits_has(jits, sample->pid))
		return;
	see(sampled, jits, sample, s->ip);
	see(sampled, jits, sample, s->addr);
	see_words(sampled, jits, sample, s->callchain, s->callchain_count);
	see_words(sampled, jits, sample, s->branches, s->branches_count);
	see_words(sampled, jits, sample, s->regs_user.values,
		  s->regs_user.count);
	see_words(sampled, jits, sample, s->stack_user,
		  s->stack_dyn_size / sizeof(uint64_t));
}
