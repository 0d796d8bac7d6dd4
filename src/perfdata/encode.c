// SPDX-License-Identifier: GPL-2.0-only
/* record_encode(): the way back from struct record to raw bytes. */
#include <inttypes.h>
#include <string.h>

#include "perfdata/record.h"

static void put_u16(struct strbuf *out, uint16_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_u32(struct strbuf *out, uint32_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_u64(struct strbuf *out, uint64_t value)
{
	strbuf_append(out, &value, sizeof(value));
}

static void put_words(struct strbuf *out, const uint64_t *words, uint64_t count)
{
	strbuf_append(out, words, 8 * count);
}

static void put_u32_pair(struct strbuf *out, uint32_t a, uint32_t b)
{
	put_u32(out, a);
	put_u32(out, b);
}

/* With its NUL, padded to 8 bytes. */
static void put_string(struct strbuf *out, const char *s, size_t len)
{
	strbuf_append(out, s, len);
	strbuf_fill(out, '\0', 8 - len % 8);
}

static void put_regs(struct strbuf *out, const struct record_regs *regs,
		     uint64_t mask)
{
	uint32_t want = (uint32_t)__builtin_popcountll(mask);

	if (!regs->abi || regs->count != want) {
		put_u64(out, 0);
		return;
	}
	put_u64(out, regs->abi);
	put_words(out, regs->values, want);
}

static void put_stack(struct strbuf *out, const struct record_sample *s)
{
	uint64_t padded = (s->stack_size + 7) & ~7ull;

	put_u64(out, padded);
	if (!padded)
		return;
	strbuf_append(out, s->stack_user, s->stack_size);
	strbuf_fill(out, '\0', padded - s->stack_size);
	put_u64(out, s->stack_dyn_size);
}

/* Size field and data together are a multiple of 8 bytes. */
static void put_raw(struct strbuf *out, const struct record_sample *s)
{
	uint32_t padded = ((s->raw_size + 4 + 7) & ~7u) - 4;

	put_u32(out, padded);
	strbuf_append(out, s->raw, s->raw_size);
	strbuf_fill(out, '\0', padded - s->raw_size);
}

static void put_sample_head(struct strbuf *out, uint64_t type,
			    const struct record *record)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(out, record->id);
	if (type & PERF_SAMPLE_IP)
		put_u64(out, record->sample.ip);
	if (type & PERF_SAMPLE_TID)
		put_u32_pair(out, record->pid, record->tid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(out, record->time);
	if (type & PERF_SAMPLE_ADDR)
		put_u64(out, record->sample.addr);
	if (type & PERF_SAMPLE_ID)
		put_u64(out, record->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(out, record->stream_id);
	if (type & PERF_SAMPLE_CPU)
		put_u32_pair(out, record->cpu, 0);
	if (type & PERF_SAMPLE_PERIOD)
		put_u64(out, record->sample.period);
}

static void put_sample_variable(struct strbuf *out,
				const struct perf_event_attr *attr,
				const struct record_sample *s)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		put_words(out, s->read_values, s->read_count);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put_u64(out, s->callchain_count);
		put_words(out, s->callchain, s->callchain_count);
	}
	if (type & PERF_SAMPLE_RAW)
		put_raw(out, s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		put_words(out, s->branches, s->branches_count);
	if (type & PERF_SAMPLE_REGS_USER)
		put_regs(out, &s->regs_user, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		put_stack(out, s);
}

static void put_sample_tail(struct strbuf *out,
			    const struct perf_event_attr *attr,
			    const struct record_sample *s)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		put_u64(out, s->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		put_u64(out, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		put_u64(out, s->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		put_regs(out, &s->regs_intr, attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		put_u64(out, s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		put_u64(out, s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_u64(out, s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_u64(out, s->code_page_size);
	if (type & PERF_SAMPLE_AUX)
		put_u64(out, 0);
}

static void put_sample(struct strbuf *out, const struct event *event,
		       const struct record *record)
{
	put_sample_head(out, event->attr.sample_type, record);
	put_sample_variable(out, &event->attr, &record->sample);
	put_sample_tail(out, &event->attr, &record->sample);
}

static void put_trailer(struct strbuf *out, const struct event *event,
			const struct record *record)
{
	uint64_t type = event->attr.sample_type;

	if (!event->attr.sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID)
		put_u32_pair(out, record->pid, record->tid);
	if (type & PERF_SAMPLE_TIME)
		put_u64(out, record->time);
	if (type & PERF_SAMPLE_ID)
		put_u64(out, record->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		put_u64(out, record->stream_id);
	if (type & PERF_SAMPLE_CPU)
		put_u32_pair(out, record->cpu, 0);
	if (type & PERF_SAMPLE_IDENTIFIER)
		put_u64(out, record->id);
}

/* What MMAP and MMAP2 begin with. */
static void put_mmap_head(struct strbuf *out, const struct record_mmap *m)
{
	put_u32_pair(out, m->pid, m->tid);
	put_u64(out, m->start);
	put_u64(out, m->len);
	put_u64(out, m->pgoff);
}

static void put_mmap(struct strbuf *out, const struct record_mmap *m)
{
	put_mmap_head(out, m);
	put_string(out, m->filename, m->filename_len);
}

static void put_mmap2(struct strbuf *out, const struct record_mmap *m)
{
	put_mmap_head(out, m);
	if (m->build_id_size) {
		put_u32(out, m->build_id_size);
		strbuf_append(out, m->build_id, RECORD_BUILD_ID_MAX);
	} else {
		put_u32_pair(out, m->maj, m->min);
		put_u64(out, m->ino);
		put_u64(out, m->ino_generation);
	}
	put_u32_pair(out, m->prot, m->flags);
	put_string(out, m->filename, m->filename_len);
}

static void put_task(struct strbuf *out, const struct record_task *t)
{
	put_u32_pair(out, t->pid, t->ppid);
	put_u32_pair(out, t->tid, t->ptid);
	put_u64(out, t->time);
}

static void put_throttle(struct strbuf *out, const struct record_throttle *t)
{
	put_u64(out, t->time);
	put_u64(out, t->id);
	put_u64(out, t->stream_id);
}

static void put_namespaces(struct strbuf *out,
			   const struct record_namespaces *n)
{
	put_u32_pair(out, n->pid, n->tid);
	put_u64(out, n->count);
	put_words(out, n->links, 2 * n->count);
}

static void put_ksymbol(struct strbuf *out, const struct record_ksymbol *k)
{
	put_u64(out, k->addr);
	put_u32(out, k->len);
	put_u16(out, k->ksym_type);
	put_u16(out, k->flags);
	put_string(out, k->name, k->name_len);
}

static void put_bpf_event(struct strbuf *out, const struct record_bpf_event *b)
{
	put_u16(out, b->event_type);
	put_u16(out, b->flags);
	put_u32(out, b->prog_id);
	strbuf_append(out, b->tag, sizeof(b->tag));
}

/* Appends the body; false if the type has no encoder. */
static bool put_body(struct strbuf *out, const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
		put_mmap(out, &record->mmap);
		return true;
	case PERF_RECORD_MMAP2:
		put_mmap2(out, &record->mmap);
		return true;
	case PERF_RECORD_COMM:
		put_u32_pair(out, record->comm.pid, record->comm.tid);
		put_string(out, record->comm.comm, record->comm.comm_len);
		return true;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		put_task(out, &record->task);
		return true;
	case PERF_RECORD_LOST:
		put_u64(out, record->lost.id);
		put_u64(out, record->lost.lost);
		return true;
	case PERF_RECORD_LOST_SAMPLES:
		put_u64(out, record->lost.lost);
		return true;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		put_throttle(out, &record->throttle);
		return true;
	case PERF_RECORD_READ:
		put_u32_pair(out, record->read.pid, record->read.tid);
		put_words(out, record->read.values, record->read.count);
		return true;
	case PERF_RECORD_NAMESPACES:
		put_namespaces(out, &record->namespaces);
		return true;
	case PERF_RECORD_KSYMBOL:
		put_ksymbol(out, &record->ksymbol);
		return true;
	case PERF_RECORD_BPF_EVENT:
		put_bpf_event(out, &record->bpf_event);
		return true;
	case PERF_RECORD_CGROUP:
		put_u64(out, record->cgroup.id);
		put_string(out, record->cgroup.path, record->cgroup.path_len);
		return true;
	case PERFDATA_RECORD_CALLCHAIN_DEFERRED:
		put_u64(out, record->deferred.cookie);
		put_u64(out, record->deferred.callchain_count);
		put_words(out, record->deferred.callchain,
			  record->deferred.callchain_count);
		return true;
	default:
		return false;
	}
}

/* The misc bits that say what the body holds. */
static uint16_t encoded_misc(const struct record *record)
{
	uint16_t misc = record->misc;

	if (record->type == PERF_RECORD_MMAP2) {
		misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		if (record->mmap.build_id_size)
			misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	}
	if (record->type == PERF_RECORD_COMM && record->comm.is_exec)
		misc |= PERF_RECORD_MISC_COMM_EXEC;
	return misc;
}

/* Bytes that the fields of foreign length take, without padding. */
static uint64_t variable_size(const struct record *record)
{
	const struct record_sample *s = &record->sample;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return 8 * (s->callchain_count < RECORD_MAX_SIZE ?
				    s->callchain_count :
				    RECORD_MAX_SIZE) +
		       s->raw_size +
		       (s->stack_size < RECORD_MAX_SIZE ? s->stack_size :
							  RECORD_MAX_SIZE) +
		       8ull * s->read_count + 8ull * s->branches_count;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record->mmap.filename_len;
	case PERF_RECORD_NAMESPACES:
		return record->namespaces.count;
	case PERFDATA_RECORD_CALLCHAIN_DEFERRED:
		return record->deferred.callchain_count;
	default:
		return 0;
	}
}

static struct error *too_large(const struct record *record)
{
	return error_create(ERROR_LIMIT,
			    "a record of type %" PRIu32
			    " is larger than perf.data allows",
			    record->type);
}

struct error *record_encode(const struct events *events,
			    const struct record *record, struct strbuf *out)
{
	struct perf_event_header header = { .type = record->type,
					    .misc = encoded_misc(record) };
	const struct event *event = record->event;
	size_t start = out->len;
	bool known = true;

	if (!event && events->list.count)
		event = events->list.data[0];
	if (!event)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "a record needs an event");
	if (variable_size(record) > RECORD_MAX_SIZE)
		return too_large(record);

	strbuf_append(out, &header, sizeof(header));
	if (record->type == PERF_RECORD_SAMPLE) {
		put_sample(out, event, record);
	} else {
		known = put_body(out, record);
		put_trailer(out, event, record);
	}
	if (out->failed)
		return error_no_memory();
	if (!known || out->len - start > RECORD_MAX_ALIGNED) {
		strbuf_truncate(out, start);
		return known ? too_large(record) :
			       error_create(ERROR_INVALID_ARGUMENT,
					    "no encoder for records of type %" PRIu32,
					    record->type);
	}
	header.size = (uint16_t)(out->len - start);
	memcpy(out->data + start, &header, sizeof(header));
	return NULL;
}

size_t record_period_place(const struct event *event)
{
	/* Source: perf_event_open(2), the order of fields in a sample. */
	uint64_t before = event->attr.sample_type &
			  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			   PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU);

	return sizeof(struct perf_event_header) +
	       sizeof(uint64_t) * (size_t)__builtin_popcountll(before);
}

size_t record_callchain_room(const struct event *event, size_t other)
{
	const struct perf_event_attr *attr = &event->attr;
	/* One word a field, two for a stack's sizes, raw's size and padding. */
	size_t used = sizeof(struct perf_event_header) +
		      8 * (size_t)__builtin_popcountll(attr->sample_type) + 24;

	if (attr->sample_type & PERF_SAMPLE_REGS_USER)
		used += 8 * (size_t)__builtin_popcountll(attr->sample_regs_user);
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		used += 8 * (size_t)__builtin_popcountll(attr->sample_regs_intr);
	if (other > RECORD_MAX_ALIGNED - used)
		return 0;
	return (RECORD_MAX_ALIGNED - used - other) / 8;
}
