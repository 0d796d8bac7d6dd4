// SPDX-License-Identifier: GPL-2.0-only
#include "python/code_version.h"

#include <string.h>

#include "base/path_name.h"
#include "python/releases.h"

/* "python3.13", "python", "python3.14td" */
static bool is_own_program(const char *exe)
{
	const char *name = path_name(exe);

	if (strncmp(name, "python", 6))
		return false;
	name += 6;
	name += strspn(name, "0123456789.");
	name += strspn(name, "td");
	return !*name;
}

bool py_versions_need_exe(const struct py_layout *layout)
{
	return layout->code_version != PY_ABSENT &&
	       PY_MINOR(layout->version) != 12;
}

bool py_versions_tell(const struct py_layout *layout, const char *exe)
{
	if (layout->code_version == PY_ABSENT)
		return false;
	return !py_versions_need_exe(layout) || is_own_program(exe);
}
