// SPDX-License-Identifier: GPL-2.0-only
#include "inject/unwound.h"

#include <linux/perf_event.h>

#define DUMP (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static struct error *copy_event(struct unwound_chains *chains,
				const struct event *event)
{
	struct perf_event_attr attr = event->attr;
	struct event *copy;
	struct error *error;

	if ((attr.sample_type & DUMP) == DUMP) {
		attr.sample_type &= ~(uint64_t)DUMP;
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.sample_regs_user = 0;
		attr.sample_stack_user = 0;
		attr.exclude_callchain_user = 0;
	}
	error = events_add(&chains->events, &attr, event->name, &copy);
	vec_for_each(id, &event->ids) {
		if (error)
			return error;
		error = events_add_id(&chains->events, copy, *id);
	}
	return error;
}

struct error *unwound_init(struct unwound_chains *chains, const struct events *events,
			  struct names *names)
{
	vec_for_each(event, &events->list) {
		struct error *error = copy_event(chains, *event);

		if (error)
			return error;
	}
	return dwarf_init(&chains->dwarf, &names->images, &names->jits);
}

void unwound_deinit(struct unwound_chains *chains)
{
	dwarf_deinit(&chains->dwarf);
	events_deinit(&chains->events);
	vec_deinit(&chains->words);
}

static struct error *push(struct unwound_chains *chains, uint64_t word)
{
	return vec_push(&chains->words, word) ? NULL : error_no_memory();
}

/* The recorded part of the chain that stands before its user part. */
static struct error *copy_kernel_part(struct unwound_chains *chains,
				      const struct record_sample *sample)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < sample->callchain_count; i++) {
		if (sample->callchain[i] == (uint64_t)PERF_CONTEXT_USER)
			break;
		error = push(chains, sample->callchain[i]);
	}
	return error;
}

static struct error *unwind(struct unwound_chains *chains, const struct record *record,
			    struct process *process)
{
	bool complete = false;
	struct error *error = push(chains, (uint64_t)PERF_CONTEXT_USER);

	if (!error)
		error = dwarf_unwind(&chains->dwarf, record, process,
				     &chains->words, &complete);
	chains->unwound++;
	chains->incomplete += !complete;
	return error;
}

struct error *unwound_convert(struct unwound_chains *chains, const struct record *record,
			     struct process *process, struct record *ret)
{
	const struct event *event =
		chains->events.list.data[record->event->index];
	size_t room = record_callchain_room(event, record->sample.raw_size);
	struct error *error = NULL;

	*ret = *record;
	ret->event = event;
	if (event->attr.sample_type == record->event->attr.sample_type)
		return NULL;
	vec_clear(&chains->words);
	if (record->has & PERF_SAMPLE_CALLCHAIN)
		error = copy_kernel_part(chains, &record->sample);
	if (!error && dwarf_has_stack(record))
		error = unwind(chains, record, process);
	if (error)
		return error;
	ret->sample.callchain = chains->words.data;
	ret->sample.callchain_count =
		chains->words.count < room ? chains->words.count : room;
	ret->sample.stack_size = ret->sample.stack_dyn_size = 0;
	ret->sample.regs_user = (struct record_regs){};
	return NULL;
}
