// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/missing.h"

#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "cmd/framework/message.h"

static void report_stacks(const struct convert_stats *stats)
{
	message_note_count(stats->truncated, "stacks are truncated");
	message_note_count(stats->not_aligned,
		   "stacks have Python frames whose place among the native frames is not known");
	message_note_count(stats->unreadable,
		   "stacks lack Python frames that could not be read");
	message_note_count(stats->unwound_incomplete,
		   "raw stacks could not be unwound to their end");
	message_note_count(stats->unresolved, "frames have no name");
}

static void put_count(struct strbuf *out, uint64_t count, const char *text)
{
	if (count)
		strbuf_printf(out, "%" PRIu64 " %s\n", count, text);
}

static void put_jitdumps(struct converter *converter, uint64_t missing,
			 struct strbuf *out)
{
	if (!missing)
		return;
	strbuf_printf(out, "%" PRIu64 " jitdump%s could not be used: ", missing,
		      missing > 1 ? "s" : "");
	error_format(converter_jit_failure(converter), out);
	strbuf_putc(out, '\n');
}

void missing_damage_text(struct converter *converter, struct strbuf *out)
{
	const struct perfdata_stats *file =
		perfdata_reader_stats(converter_reader(converter));
	struct convert_stats stats = converter_stats(converter);

	if (file->unfinished)
		strbuf_puts(out,
			    "the recorder did not end normally, so the end of the recording is missing\n");
	put_count(out, stats.broken_chains,
		  stats.broken_chains > 1 ? "callchains are damaged" :
					    "callchain is damaged");
	put_count(out, stats.broken_stream,
		  "damaged records of Python code were left out");
	put_count(out, stats.dropped_tasks,
		  "inconsistent records of processes were left out");
	put_jitdumps(converter, stats.missing_jitdumps, out);
}

void missing_report_damage(struct converter *converter)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *line;

	missing_damage_text(converter, &text);
	for (line = text.data; *line;) {
		size_t n = strcspn(line, "\n");

		message_warn("%.*s", (int)n, line);
		line += n + (line[n] == '\n');
	}
}

void missing_report(struct converter *converter, bool all)
{
	const struct perfdata_stats *file =
		perfdata_reader_stats(converter_reader(converter));
	struct convert_stats stats = converter_stats(converter);

	missing_report_damage(converter);
	message_warn_count(file->truncated_bytes,
		   "bytes at the end of the file are not a complete record");
	message_warn_count(file->lost, "records were lost while recording");
	message_warn_count(file->lost_samples, "samples were lost while recording");
	message_warn_count(file->broken_records, "damaged records were left out");
	if (all)
		report_stacks(&stats);
}
