// SPDX-License-Identifier: GPL-2.0-only
#include "convert/dwarf.h"

#include <string.h>
#include <sys/mman.h>

#include "base/mapping_name.h"

struct error *dwarf_init(struct dwarf *dwarf, struct images *images,
			 struct jits *jits)
{
	dwarf->images = images;
	dwarf->jits = jits;
	dwarf->frames = malloc(DWARF_MAX_FRAMES * sizeof(*dwarf->frames));
	if (!dwarf->frames)
		return error_no_memory();
	return unwinder_create(&dwarf->unwinder);
}

void dwarf_deinit(struct dwarf *dwarf)
{
	unwinder_destroy(dwarf->unwinder);
	free(dwarf->frames);
}

bool dwarf_has_stack(const struct record *record)
{
	const struct record_sample *s = &record->sample;
	const uint64_t want = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (record->has & want) == want &&
	       s->regs_user.abi == PERF_SAMPLE_REGS_ABI_64 &&
	       s->regs_user.count && s->stack_dyn_size;
}

static struct process_map *exec_map(struct dwarf *dwarf, uint64_t address)
{
	struct process_map *map =
		process_map_at(dwarf->process, address, dwarf->time);

	return map && (map->prot & PROT_EXEC) ? map : NULL;
}

static bool find_map(void *arg, uint64_t address, struct unwind_map *ret)
{
	struct dwarf *dwarf = arg;
	struct process_map *map;

	if (jits_unwind_map(dwarf->jits, process_pid(dwarf->process), address,
			    dwarf->time, ret))
		return true;
	map = exec_map(dwarf, address);
	return map && images_unwind_map(dwarf->images, map,
					process_pid(dwarf->process), ret);
}

/* Anonymous code is not in the recording; that of trampolines is known. */
static bool read_trampoline(struct dwarf *dwarf, const struct process_map *map,
			    uint64_t address, void *buf, size_t size)
{
	struct place place = { .process = dwarf->process,
			       .pid = process_pid(dwarf->process),
			       .time = dwarf->time };

	return dwarf->names && !mapping_has_file(map->file->path) &&
	       names_trampoline_code(dwarf->names, &place, address, buf, size);
}

static bool read_memory(void *arg, uint64_t address, void *buf, size_t size)
{
	struct dwarf *dwarf = arg;
	uint64_t in_stack = address - dwarf->stack.start;
	struct process_map *map;

	if (in_stack < dwarf->sample->stack_dyn_size &&
	    size <= dwarf->sample->stack_dyn_size - in_stack) {
		memcpy(buf, dwarf->sample->stack_user + in_stack, size);
		return true;
	}
	if (jits_read(dwarf->jits, process_pid(dwarf->process), address,
		      dwarf->time, buf, size))
		return true;
	map = exec_map(dwarf, address);
	if (!map)
		return false;
	if (images_read(dwarf->images, map, process_pid(dwarf->process),
			address, buf, size))
		return true;
	return read_trampoline(dwarf, map, address, buf, size);
}

/* The number of what code the addresses of the process stand for. */
static uint64_t space_of(struct dwarf *dwarf)
{
	uint32_t pid = process_pid(dwarf->process);
	uint64_t space = process_generation(dwarf->process, dwarf->time);

	if (!space)
		space = (1ull << 63) + ++dwarf->last_space;
	if (jits_has(dwarf->jits, pid))
		space = hash_combine(space, jits_generation(dwarf->jits, pid,
							    dwarf->time));
	return space;
}

static enum unwind_end walk(struct dwarf *dwarf, const struct unwind_regs *regs,
			    size_t *count)
{
	const struct unwind_target target = { .find_map = find_map,
					      .read = read_memory,
					      .arg = dwarf,
					      .space = space_of(dwarf) };

	return unwind_stack(dwarf->unwinder, &target, regs, &dwarf->stack,
			    dwarf->frames, NULL, DWARF_MAX_FRAMES, count);
}

struct error *dwarf_unwind(struct dwarf *dwarf, const struct record *record,
			   struct process *process, address_vec *addresses,
			   bool *complete)
{
	const struct record_sample *sample = &record->sample;
	struct unwind_regs regs = {};
	enum unwind_end end;
	size_t count = 0;

	unwind_regs_from_perf(sample->regs_user.mask, sample->regs_user.values,
			      &regs);
	if (!unwind_reg_known(&regs, UNWIND_RSP) ||
	    !unwind_reg_known(&regs, UNWIND_RIP)) {
		*complete = false;
		return NULL;
	}
	dwarf->process = process;
	dwarf->time = record->time;
	dwarf->sample = sample;
	dwarf->stack = (struct unwind_stack){
		.start = regs.value[UNWIND_RSP],
		.bytes = { sample->stack_user, sample->stack_dyn_size },
	};
	end = walk(dwarf, &regs, &count);
	if (!vec_reserve(addresses, count))
		return error_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct unwind_frame *frame = &dwarf->frames[i];
		bool caller = frame->flags & UNWIND_FRAME_CALLER;

		addresses->data[addresses->count++] = frame->ip - caller;
	}
	*complete = end == UNWIND_COMPLETE;
	return NULL;
}
