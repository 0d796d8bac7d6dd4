// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test program: reads a perf.data and prints what the reader made of it, one
 * "key value" a line; with -r, a line for each record before that.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "perfdata/reader.h"

static int fail(struct error *err)
{
	struct strbuf text = STRBUF_INIT;

	error_format(err, &text);
	fprintf(stderr, "%s\n", text.data);
	strbuf_deinit(&text);
	error_destroy(err);
	return 1;
}

static void print_record(const struct record *r)
{
	printf("record %" PRIu32 " misc %u size %u time %" PRIu64
	       " pid %" PRIu32 " tid %" PRIu32 " cpu %" PRIu32,
	       r->type, r->misc, r->size, r->time, r->pid, r->tid, r->cpu);
	if (r->type == PERF_RECORD_SAMPLE)
		printf(" event %s ip %" PRIx64 " period %" PRIu64
		       " chain %" PRIu64 " regs %" PRIu32 " stack %" PRIu64,
		       r->event->name, r->sample.ip, r->sample.period,
		       r->sample.callchain_count, r->sample.regs_user.count,
		       r->sample.stack_dyn_size);
	else if (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2)
		printf(" start %" PRIx64 " len %" PRIx64 " pgoff %" PRIx64
		       " build_id %u exec %d file %s",
		       r->mmap.start, r->mmap.len, r->mmap.pgoff,
		       r->mmap.build_id_size, r->mmap.is_exec,
		       r->mmap.filename);
	else if (r->type == PERF_RECORD_COMM)
		printf(" comm %s exec %d", r->comm.comm, r->comm.is_exec);
	printf("\n");
}

static void print_string(const char *key, const char *value)
{
	if (value)
		printf("%s %s\n", key, value);
}

static void print_features(const struct features *f)
{
	print_string("hostname", f->hostname);
	print_string("osrelease", f->osrelease);
	print_string("version", f->version);
	print_string("arch", f->arch);
	print_string("cpudesc", f->cpudesc);
	print_string("cpuid", f->cpuid);
	printf("cpus %" PRIu32 " %" PRIu32 "\n", f->cpus_online,
	       f->cpus_available);
	printf("total_mem %" PRIu64 "\n", f->total_mem_kb);
	printf("sample_time %" PRIu64 " %" PRIu64 "\n", f->first_sample_time,
	       f->last_sample_time);
	printf("build_ids %zu\n", f->build_ids.count);
	printf("clockid %" PRIu32 " resolution %" PRIu64 "\n", f->clockid,
	       f->clockid_resolution);
	printf("cmdline");
	for (size_t i = 0; i < f->cmdline.count; i++)
		printf(" %s", f->cmdline.data[i]);
	printf("\n");
}

static void print_events(const struct perfdata_reader *reader)
{
	const struct events *events = perfdata_reader_events(reader);

	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *e = events->list.data[i];

		printf("event %s type %" PRIu32 " ids %zu lost %" PRIu64 "\n",
		       e->name, (uint32_t)e->attr.type, e->ids.count,
		       perfdata_reader_lost_of(reader, e));
	}
}

static void print_stats(const struct perfdata_stats *s)
{
	for (int i = 0; i < PERFDATA_TYPE_MAX; i++)
		if (s->records[i])
			printf("type %d %" PRIu64 "\n", i, s->records[i]);
	printf("lost %" PRIu64 "\nlost_samples %" PRIu64 "\n", s->lost,
	       s->lost_samples);
	printf("broken %" PRIu64 "\nout_of_order %" PRIu64 "\n",
	       s->broken_records, s->out_of_order);
	printf("truncated %" PRIu64 "\nmissing %" PRIu64 "\n",
	       s->truncated_bytes, s->missing_bytes);
	printf("broken_features %" PRIu64 "\nunfinished %d\n",
	       s->broken_features, s->unfinished);
}

int main(int argc, char **argv)
{
	_cleanup_perfdata_reader_ struct perfdata_reader *reader = NULL;
	bool records = argc > 2 && strcmp(argv[1], "-r") == 0;
	const struct record *record;
	uint64_t count = 0;
	struct error *err;

	if (argc < 2)
		return 2;
	err = perfdata_reader_open(argv[argc - 1], &reader);
	if (err)
		return fail(err);
	while (!(err = perfdata_reader_next(reader, &record)) && record) {
		count++;
		if (records)
			print_record(record);
	}
	if (err)
		return fail(err);
	printf("records %" PRIu64 "\n", count);
	print_events(reader);
	print_features(perfdata_reader_features(reader));
	print_stats(perfdata_reader_stats(reader));
	return 0;
}
