// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/places.h"

#include <string.h>

/*
 * An address in the DSO: what is no file has none of its own. BPF programs, which
 * stand in the kernel without brackets, begin at 0.
 */
static uint64_t own_address(const struct convert_frame *f, uint64_t own)
{
	if (f->dso && f->dso->kind == DSO_NAMED)
		return f->address;
	if (f->dso && f->dso->kind == DSO_KERNEL && f->dso->path[0] != '[')
		return convert_frame_offset(f);
	return own;
}

static struct script_frame describe(const struct script_printer *p,
				    const struct convert_frame *f, bool marker)
{
	return (struct script_frame){
		.address = f->address,
		.name = f->name,
		.offset = convert_frame_offset(f),
		.dso = f->dso ? f->dso->path : NULL,
		.dso_name = f->dso ? f->dso->name : NULL,
		/* In the image, but of no line: as addr2line has it. */
		.file = marker ? "??" : f->file,
		.line = f->line,
		.rel = own_address(f, f->rel),
		.file_offset = own_address(f, f->file_offset),
		.is_file = f->dso && f->dso->kind != DSO_KERNEL &&
			   strncmp(f->dso->path, "/tmp/perf-", 10) != 0,
		.is_inlined = f->is_inlined,
		.full_path = p->full_path,
	};
}

/* As the kernel records it, seldom, if it has no room to collect one. */
static bool is_empty_chain(const struct record *record)
{
	return (record->has & PERF_SAMPLE_CALLCHAIN) &&
	       !(record->has & PERF_SAMPLE_STACK_USER) &&
	       !record->sample.callchain_count;
}

static void put_chain(struct script_printer *p,
		      const struct convert_sample *sample, uint64_t fields,
		      struct strbuf *out)
{
	const struct convert_stack *stack = sample->stack;

	strbuf_putc(out, '\n');
	if (p->damaged_chains_dropped &&
	    (sample->flags & PROFILE_SAMPLE_DAMAGED))
		return;
	if (p->empty_chains_kept && is_empty_chain(sample->record))
		return;
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct convert_frame *f = stack->steps[i].frame;
		struct script_frame frame = describe(
			p, f, f->kind == PROFILE_FRAME_MARKER);

		script_put_chain(out, fields, &frame, 1);
		if (script_filter_stops(&p->filter, f))
			break;
	}
}

/*
 * The function that holds the code at an address; its line is that of the
 * innermost one.
 */
static struct error *find_place(struct script_printer *p, uint64_t address,
				uint16_t cpumode, struct script_frame *ret)
{
	const struct convert_frame *f, *real;
	struct convert_frame *found;
	struct error *error =
		converter_frame(p->converter, address, cpumode, &found);

	if (error)
		return error;
	f = found;
	real = f->real ? f->real : f;
	*ret = describe(p, real, f->kind == PROFILE_FRAME_MARKER);
	ret->file = f->kind == PROFILE_FRAME_MARKER ? "??" : f->file;
	ret->line = f->line;
	return NULL;
}

struct error *script_print_place(struct script_printer *p,
				 const struct convert_sample *sample,
				 uint64_t fields, struct strbuf *out)
{
	struct script_frame frame;
	struct error *error;

	if (!(fields & SCRIPT_IP))
		return NULL;
	if (script_has_chain(p, sample->event)) {
		put_chain(p, sample, fields, out);
		return NULL;
	}
	error = find_place(p, sample->ip, record_cpumode(sample->record),
			   &frame);
	if (error)
		return error;
	strbuf_putc(out, ' ');
	script_put_place(out, fields, &frame);
	return NULL;
}

struct error *script_print_address(struct script_printer *p,
				   const struct convert_sample *sample,
				   uint64_t fields, struct strbuf *out)
{
	uint64_t address = sample->record->sample.addr;
	struct script_frame frame;
	struct error *error;

	script_put_hex(out, address, 16);
	if (sample->event->meaning.data != EVENT_DATA_ADDRESS)
		return NULL;
	error = find_place(p, address,
			   address >> 63 ? PERF_RECORD_MISC_KERNEL :
					   PERF_RECORD_MISC_USER,
			   &frame);
	if (!error)
		script_put_symbol(out, fields, &frame);
	return error;
}
