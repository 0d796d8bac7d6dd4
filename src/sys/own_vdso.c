// SPDX-License-Identifier: GPL-2.0-only
#include "sys/own_vdso.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "sys/proc.h"

enum { SIZE_MAX_BYTES = 1 << 20 };

/* The auxiliary vector does not say how large it is. */
struct error *own_vdso(struct bytes *ret)
{
	struct proc_maps maps = PROC_MAPS_INIT;
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct error *error = proc_maps_read(NULL, getpid(), &maps);
	const struct proc_map *map;

	if (error)
		return error;
	map = base ? proc_maps_find(&maps, base) : NULL;
	if (!map || map->start != base || map->end - base > SIZE_MAX_BYTES)
		error = error_at(ERROR_NOT_FOUND, "[vdso]", 0,
				 "this process has no vdso");
	else
		*ret = (struct bytes){ (const uint8_t *)base,
				       (size_t)(map->end - base) };
	proc_maps_deinit(&maps);
	return error;
}
