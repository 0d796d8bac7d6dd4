// SPDX-License-Identifier: GPL-2.0-only
/* A file of any bytes as perf.data, and what its RAW payloads say. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "perfdata/kaa_stream.h"
#include "perfdata/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_code(const struct kaa_code *code)
{
	uint32_t *lines = calloc(code->slots, sizeof(*lines));

	if (lines)
		error_destroy(kaa_code_lines(code, lines));
	free(lines);
}

static void read_payload(const struct record_sample *sample)
{
	/* A copy of just this size shows a read past its end. */
	uint8_t *copy = malloc(sample->raw_size ? sample->raw_size : 1);
	struct kaa_counter counter;
	struct kaa_payload payload;
	struct error *err;

	if (!copy)
		return;
	memcpy(copy, sample->raw, sample->raw_size);
	err = kaa_stream_decode(copy, sample->raw_size, &payload);
	if (!err && payload.type == KAA_CODE)
		read_code(&payload.code);
	while (!err && payload.type == KAA_SUMMARY &&
	       kaa_summary_next(&payload.summary, &counter))
		;
	error_destroy(err);
	free(copy);
}

/* The sum of all that a record points at, so that it is read. */
static uint64_t touch(const struct record *r)
{
	uint64_t sum = 0;

	if (r->type == PERF_RECORD_SAMPLE) {
		for (uint64_t i = 0; i < r->sample.callchain_count; i++)
			sum += r->sample.callchain[i];
		for (uint64_t i = 0; i < r->sample.stack_size; i++)
			sum += r->sample.stack_user[i];
		for (uint32_t i = 0; i < r->sample.regs_user.count; i++)
			sum += r->sample.regs_user.values[i];
		if (r->sample.raw)
			read_payload(&r->sample);
	}
	if (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2)
		sum += strlen(r->mmap.filename);
	if (r->type == PERF_RECORD_COMM)
		sum += strlen(r->comm.comm);
	return sum;
}

static void encode_again(const struct perfdata_reader *reader,
			 const struct record *record)
{
	struct strbuf out = STRBUF_INIT;

	if (record->event)
		error_destroy(record_encode(perfdata_reader_events(reader),
					    record, &out));
	strbuf_deinit(&out);
}

/* Keeps the reads of touch() from being optimised away. */
static volatile uint64_t seen;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	const struct record *record;
	struct error *err;
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	err = perfdata_reader_open_fd(fd, "input", &reader);
	if (err) {
		error_destroy(err);
		return 0;
	}
	while (!(err = perfdata_reader_next(reader, &record)) && record) {
		seen += touch(record);
		encode_again(reader, record);
	}
	error_destroy(err);
	perfdata_reader_destroy(reader);
	return 0;
}
