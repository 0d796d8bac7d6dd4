// SPDX-License-Identifier: GPL-2.0-only
#include "perfdata/record.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"

/* Bits of branch_sample_type that older headers lack. */
#define BRANCH_HW_INDEX (1ull << 17)
#define BRANCH_COUNTERS (1ull << 19)

const char *perfdata_type_name(uint32_t type)
{
	static const char *const names[PERFDATA_TYPE_MAX] = {
		[PERF_RECORD_MMAP] = "MMAP",
		[PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM",
		[PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE",
		[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK",
		[PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE",
		[PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
		[PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES",
		[PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
		[PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[PERFDATA_FINISHED_ROUND] = "FINISHED_ROUND",
		[PERFDATA_ID_INDEX] = "ID_INDEX",
		[PERFDATA_THREAD_MAP] = "THREAD_MAP",
		[PERFDATA_CPU_MAP] = "CPU_MAP",
		[PERFDATA_EVENT_UPDATE] = "EVENT_UPDATE",
		[PERFDATA_TIME_CONV] = "TIME_CONV",
		[PERFDATA_COMPRESSED] = "COMPRESSED",
		[PERFDATA_FINISHED_INIT] = "FINISHED_INIT",
		[PERFDATA_COMPRESSED2] = "COMPRESSED2",
	};

	return type < PERFDATA_TYPE_MAX ? names[type] : NULL;
}

static void take_u32_pair(struct reader *r, uint32_t *a, uint32_t *b)
{
	reader_u32(r, a);
	reader_u32(r, b);
}

/* The next count words, borrowed; fails if they are not there or not aligned. */
static const uint64_t *take_words(struct reader *r, uint64_t count)
{
	if (count > reader_left(r) / 8 || (uintptr_t)r->pos % 8) {
		r->failed = true;
		return NULL;
	}
	return (const uint64_t *)(const void *)reader_bytes(r, 8 * count);
}

/* A string that fills the rest of the record, with its padding. */
static const char *take_string(struct reader *r, uint32_t *len)
{
	size_t n = 0;
	const char *s = reader_cstr(r, &n);

	*len = (uint32_t)n;
	return s;
}

static void take_regs(struct reader *r, uint64_t mask, struct record_regs *ret)
{
	reader_u64(r, &ret->abi);
	ret->mask = mask;
	if (!ret->abi)
		return;
	ret->count = (uint32_t)__builtin_popcountll(mask);
	ret->values = take_words(r, ret->count);
}

static void take_stack(struct reader *r, struct record_sample *sample)
{
	reader_u64(r, &sample->stack_size);
	if (!sample->stack_size)
		return;
	if (sample->stack_size > reader_left(r)) {
		r->failed = true;
		return;
	}
	sample->stack_user = reader_bytes(r, sample->stack_size);
	reader_u64(r, &sample->stack_dyn_size);
	if (sample->stack_dyn_size > sample->stack_size)
		r->failed = true;
}

/* Words that one counter takes in a READ value. */
static uint32_t read_words(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

static uint32_t read_time_words(uint64_t format)
{
	return !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
}

static void take_read(struct reader *r, uint64_t format, const uint64_t **values,
		      uint32_t *count)
{
	uint64_t n = read_time_words(format) + read_words(format);
	struct reader peek = *r;
	uint64_t members;

	if (format & PERF_FORMAT_GROUP) {
		reader_u64(&peek, &members);
		if (members > reader_left(&peek) / 8) {
			r->failed = true;
			return;
		}
		n = 1 + read_time_words(format) + members * read_words(format);
	}
	*values = take_words(r, n);
	*count = *values ? (uint32_t)n : 0;
}

static void take_branches(struct reader *r, uint64_t type,
			  struct record_sample *sample)
{
	struct reader peek = *r;
	uint64_t count;
	uint64_t n;

	reader_u64(&peek, &count);
	if (count > reader_left(&peek) / 24) {
		r->failed = true;
		return;
	}
	n = 1 + !!(type & BRANCH_HW_INDEX) +
	    count * (3 + !!(type & BRANCH_COUNTERS));
	sample->branches = take_words(r, n);
	sample->branches_count = sample->branches ? (uint32_t)n : 0;
}

static void take_raw(struct reader *r, struct record_sample *sample)
{
	reader_u32(r, &sample->raw_size);
	sample->raw = reader_bytes(r, sample->raw_size);
}

static void take_callchain(struct reader *r, const uint64_t **chain,
			   uint64_t *count)
{
	reader_u64(r, count);
	*chain = take_words(r, *count);
}

/* The fields of fixed size that stand first. */
static void take_sample_head(struct reader *r, uint64_t type,
			     struct record *ret)
{
	uint32_t reserved;

	if (type & PERF_SAMPLE_IDENTIFIER)
		reader_u64(r, &ret->id);
	if (type & PERF_SAMPLE_IP)
		reader_u64(r, &ret->sample.ip);
	if (type & PERF_SAMPLE_TID)
		take_u32_pair(r, &ret->pid, &ret->tid);
	if (type & PERF_SAMPLE_TIME)
		reader_u64(r, &ret->time);
	if (type & PERF_SAMPLE_ADDR)
		reader_u64(r, &ret->sample.addr);
	if (type & PERF_SAMPLE_ID)
		reader_u64(r, &ret->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		reader_u64(r, &ret->stream_id);
	if (type & PERF_SAMPLE_CPU)
		take_u32_pair(r, &ret->cpu, &reserved);
	if (type & PERF_SAMPLE_PERIOD)
		reader_u64(r, &ret->sample.period);
}

static void take_sample_variable(struct reader *r,
				 const struct perf_event_attr *attr,
				 struct record_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		take_read(r, attr->read_format, &sample->read_values,
			  &sample->read_count);
	if (type & PERF_SAMPLE_CALLCHAIN)
		take_callchain(r, &sample->callchain,
			       &sample->callchain_count);
	if (type & PERF_SAMPLE_RAW)
		take_raw(r, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(r, attr->branch_sample_type, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		take_regs(r, attr->sample_regs_user, &sample->regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(r, sample);
}

static void take_sample_tail(struct reader *r,
			     const struct perf_event_attr *attr,
			     struct record_sample *sample)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		reader_u64(r, &sample->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		reader_u64(r, &sample->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		reader_u64(r, &sample->transaction);
	if (type & PERF_SAMPLE_REGS_INTR)
		take_regs(r, attr->sample_regs_intr, &sample->regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		reader_u64(r, &sample->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		reader_u64(r, &sample->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		reader_u64(r, &sample->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		reader_u64(r, &sample->code_page_size);
}

static void take_sample(struct reader *r, struct record *ret)
{
	const struct perf_event_attr *attr = &ret->event->attr;

	ret->has = attr->sample_type;
	ret->sample.period = attr->sample_period;
	take_sample_head(r, attr->sample_type, ret);
	take_sample_variable(r, attr, &ret->sample);
	if (attr->sample_type >> 14)
		take_sample_tail(r, attr, &ret->sample);
}

static void take_trailer(struct reader *r, struct record *ret)
{
	uint64_t type = ret->event->attr.sample_type;
	uint32_t reserved;

	ret->has = type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
			   PERF_SAMPLE_IDENTIFIER);
	if (type & PERF_SAMPLE_TID)
		take_u32_pair(r, &ret->pid, &ret->tid);
	if (type & PERF_SAMPLE_TIME)
		reader_u64(r, &ret->time);
	if (type & PERF_SAMPLE_ID)
		reader_u64(r, &ret->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		reader_u64(r, &ret->stream_id);
	if (type & PERF_SAMPLE_CPU)
		take_u32_pair(r, &ret->cpu, &reserved);
	if (type & PERF_SAMPLE_IDENTIFIER)
		reader_u64(r, &ret->id);
}

/* What MMAP and MMAP2 begin with. */
static void take_mmap_head(struct reader *r, struct record_mmap *m)
{
	take_u32_pair(r, &m->pid, &m->tid);
	reader_u64(r, &m->start);
	reader_u64(r, &m->len);
	reader_u64(r, &m->pgoff);
}

static void take_mmap(struct reader *r, struct record *ret)
{
	struct record_mmap *m = &ret->mmap;

	take_mmap_head(r, m);
	m->is_exec = !(ret->misc & PERF_RECORD_MISC_MMAP_DATA);
	m->filename = take_string(r, &m->filename_len);
}

/*
 * Of a kernel that writes one mapping for several recorders, the flag of one
 * that wants build-ids stays in the records of those that do not (Linux 5.12 to
 * 6.18 at least, perf_event_mmap_output()); the body is an inode's there.
 */
static bool has_build_id(struct reader body)
{
	uint8_t size = 0;
	static const uint8_t reserved[3];
	const uint8_t *bytes;

	reader_u8(&body, &size);
	bytes = reader_bytes(&body, sizeof(reserved));
	if (!bytes || memcmp(bytes, reserved, sizeof(reserved)) ||
	    !size || size > RECORD_BUILD_ID_MAX)
		return false;
	bytes = reader_bytes(&body, RECORD_BUILD_ID_MAX);
	for (size_t i = size; bytes && i < RECORD_BUILD_ID_MAX; i++)
		if (bytes[i])
			return false;
	return bytes;
}

static void take_mmap2_build_id(struct reader *r, struct record_mmap *m)
{
	reader_u8(r, &m->build_id_size);
	reader_skip(r, 3);
	memcpy(m->build_id, reader_bytes(r, RECORD_BUILD_ID_MAX),
	       m->build_id_size);
}

static void take_mmap2(struct reader *r, struct record *ret)
{
	struct record_mmap *m = &ret->mmap;

	take_mmap_head(r, m);
	if (!has_build_id(*r))
		ret->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (ret->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		take_mmap2_build_id(r, m);
	} else {
		take_u32_pair(r, &m->maj, &m->min);
		reader_u64(r, &m->ino);
		reader_u64(r, &m->ino_generation);
	}
	take_u32_pair(r, &m->prot, &m->flags);
	m->is_exec = m->prot & PROT_EXEC;
	m->filename = take_string(r, &m->filename_len);
}

static void take_comm(struct reader *r, struct record *ret)
{
	struct record_comm *c = &ret->comm;

	take_u32_pair(r, &c->pid, &c->tid);
	c->comm = take_string(r, &c->comm_len);
	c->is_exec = ret->misc & PERF_RECORD_MISC_COMM_EXEC;
}

static void take_task(struct reader *r, struct record *ret)
{
	take_u32_pair(r, &ret->task.pid, &ret->task.ppid);
	take_u32_pair(r, &ret->task.tid, &ret->task.ptid);
	reader_u64(r, &ret->task.time);
}

static void take_lost(struct reader *r, struct record *ret)
{
	reader_u64(r, &ret->lost.id);
	reader_u64(r, &ret->lost.lost);
}

static void take_lost_samples(struct reader *r, struct record *ret)
{
	reader_u64(r, &ret->lost.lost);
}

static void take_throttle(struct reader *r, struct record *ret)
{
	reader_u64(r, &ret->throttle.time);
	reader_u64(r, &ret->throttle.id);
	reader_u64(r, &ret->throttle.stream_id);
}

static void take_read_record(struct reader *r, struct record *ret)
{
	take_u32_pair(r, &ret->read.pid, &ret->read.tid);
	take_read(r, ret->event->attr.read_format, &ret->read.values,
		  &ret->read.count);
}

static void take_namespaces(struct reader *r, struct record *ret)
{
	struct record_namespaces *n = &ret->namespaces;

	take_u32_pair(r, &n->pid, &n->tid);
	reader_u64(r, &n->count);
	if (n->count > reader_left(r) / 16) {
		r->failed = true;
		return;
	}
	n->links = take_words(r, 2 * n->count);
}

static void take_ksymbol(struct reader *r, struct record *ret)
{
	struct record_ksymbol *k = &ret->ksymbol;

	reader_u64(r, &k->addr);
	reader_u32(r, &k->len);
	reader_u16(r, &k->ksym_type);
	reader_u16(r, &k->flags);
	k->name = take_string(r, &k->name_len);
}

static void take_bpf_event(struct reader *r, struct record *ret)
{
	struct record_bpf_event *b = &ret->bpf_event;
	const uint8_t *tag;

	reader_u16(r, &b->event_type);
	reader_u16(r, &b->flags);
	reader_u32(r, &b->prog_id);
	tag = reader_bytes(r, sizeof(b->tag));
	if (tag)
		memcpy(b->tag, tag, sizeof(b->tag));
}

static void take_cgroup(struct reader *r, struct record *ret)
{
	reader_u64(r, &ret->cgroup.id);
	ret->cgroup.path = take_string(r, &ret->cgroup.path_len);
}

static void take_text_poke(struct reader *r, struct record *ret)
{
	struct record_text_poke *t = &ret->text_poke;

	reader_u64(r, &t->addr);
	reader_u16(r, &t->old_len);
	reader_u16(r, &t->new_len);
	t->old_bytes = reader_bytes(r, t->old_len);
	t->new_bytes = reader_bytes(r, t->new_len);
}

static void take_switch_cpu_wide(struct reader *r, struct record *ret)
{
	take_u32_pair(r, &ret->context_switch.next_prev_pid,
		      &ret->context_switch.next_prev_tid);
}

static void take_deferred(struct reader *r, struct record *ret)
{
	reader_u64(r, &ret->deferred.cookie);
	take_callchain(r, &ret->deferred.callchain,
		       &ret->deferred.callchain_count);
}

typedef void (*take_fn)(struct reader *r, struct record *ret);

/* Bodies of the kernel's types; what is NULL has header and trailer only. */
static const take_fn take_body[] = {
	[PERF_RECORD_MMAP] = take_mmap,
	[PERF_RECORD_LOST] = take_lost,
	[PERF_RECORD_COMM] = take_comm,
	[PERF_RECORD_EXIT] = take_task,
	[PERF_RECORD_THROTTLE] = take_throttle,
	[PERF_RECORD_UNTHROTTLE] = take_throttle,
	[PERF_RECORD_FORK] = take_task,
	[PERF_RECORD_READ] = take_read_record,
	[PERF_RECORD_MMAP2] = take_mmap2,
	[PERF_RECORD_LOST_SAMPLES] = take_lost_samples,
	[PERF_RECORD_SWITCH_CPU_WIDE] = take_switch_cpu_wide,
	[PERF_RECORD_NAMESPACES] = take_namespaces,
	[PERF_RECORD_KSYMBOL] = take_ksymbol,
	[PERF_RECORD_BPF_EVENT] = take_bpf_event,
	[PERF_RECORD_CGROUP] = take_cgroup,
	[PERF_RECORD_TEXT_POKE] = take_text_poke,
	[PERFDATA_RECORD_CALLCHAIN_DEFERRED] = take_deferred,
};

/* Splits body and trailer of a record that is no sample, and takes both. */
static void take_other(struct reader *r, struct record *ret)
{
	size_t trailer = ret->event->trailer_size;
	size_t size = events_record_end(ret->event, ret->raw, ret->size) -
		      sizeof(*ret->raw);
	struct reader body;

	if (size < trailer) {
		r->failed = true;
		return;
	}
	body = reader_sub(r, size - trailer);
	if (ret->type < sizeof(take_body) / sizeof(take_body[0]) &&
	    take_body[ret->type])
		take_body[ret->type](&body, ret);
	if (trailer)
		take_trailer(r, ret);
	r->failed |= body.failed;
}

static struct error *decode_kernel(const struct events *events,
				   struct reader *r, struct record *ret)
{
	ret->event = events_of_record(events, ret->raw, ret->size);
	if (!ret->event)
		return error_create(ERROR_NOT_FOUND,
				    "a record of type %" PRIu32
				    " belongs to no known event",
				    ret->type);
	if (ret->type == PERF_RECORD_SAMPLE)
		take_sample(r, ret);
	else
		take_other(r, ret);
	if (r->failed)
		return error_create(ERROR_TRUNCATED,
				    "a record of type %" PRIu32
				    " and %u bytes is malformed",
				    ret->type, ret->size);
	return NULL;
}

struct error *record_decode(const struct events *events, const void *bytes,
			    size_t size, struct record *ret)
{
	const struct perf_event_header *header = bytes;
	struct record record = { .raw = header };
	struct reader r = reader_init(bytes, size);
	struct error *err;

	if (size < sizeof(*header) || header->size != size)
		return error_create(ERROR_TRUNCATED,
				    "a record is cut short at %zu bytes", size);
	reader_skip(&r, sizeof(*header));
	record.type = header->type;
	record.misc = header->misc;
	record.size = (uint16_t)size;
	if (record.type < PERFDATA_USER_TYPE_START) {
		err = decode_kernel(events, &r, &record);
		if (err)
			return err;
	}
	*ret = record;
	return NULL;
}

bool record_read_lost(const struct event *event, const uint64_t *values,
		      uint32_t count, uint64_t *lost)
{
	uint64_t format = event->attr.read_format;
	uint64_t step = read_words(format);
	uint64_t sum = 0;
	uint64_t at = step + read_time_words(format) - 1;

	if (!(format & PERF_FORMAT_LOST))
		return false;
	if (format & PERF_FORMAT_GROUP)
		at += 1;
	if (at >= count)
		return false;
	for (; at < count; at += step)
		sum += values[at];
	*lost = sum;
	return true;
}
