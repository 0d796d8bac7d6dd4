// SPDX-License-Identifier: GPL-2.0-only
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "sys/event_source.h"
#include "sys/file.h"
#include "sys/tracefs.h"

/* One lookup of system:name. */
struct lookup {
	const char *root;
	/* The events folder. */
	const char *folder;
	const char *system;
	const char *name;
	struct event_list *list;
};

static struct error *add_event(const struct lookup *l, const char *system,
			       const char *name)
{
	struct event_choice event = {
		.type = PERF_TYPE_TRACEPOINT,
		.group_leader = -1,
		.default_period = 1,
	};
	char path[512];
	int64_t id;
	struct error *error;

	if (snprintf(path, sizeof(path), "%s/%s/%s/id", l->folder, system,
		     name) >= (int)sizeof(path))
		return error_create(ERROR_LIMIT, "tracepoint name too long");
	error = file_read_i64(l->root, path, &id);
	if (error)
		return error;
	event.config = (uint64_t)id;
	if (asprintf(&event.name, "%s:%s", system, name) < 0)
		return error_no_memory();
	if (!vec_push(l->list, event)) {
		free(event.name);
		return error_no_memory();
	}
	return NULL;
}

/* All of one system that match; nearest may be offered what does not. */
static struct error *add_system(const struct lookup *l, const char *system,
				struct nearest *nearest,
				struct name_list *names)
{
	size_t first = names->count;
	char path[512];
	struct error *error;

	if (snprintf(path, sizeof(path), "%s/%s", l->folder, system) >=
	    (int)sizeof(path))
		return NULL;
	error = dir_list(l->root, path, names);
	/* `enable` and its like are files, not systems. */
	if (error) {
		error_destroy(error);
		return NULL;
	}
	for (size_t i = first; i < names->count; i++) {
		const char *name = names->data[i];

		nearest_add(nearest, name);
		if (strcmp(name, "enable") == 0 ||
		    strcmp(name, "filter") == 0 ||
		    fnmatch(l->name, name, 0) != 0)
			continue;
		error = add_event(l, system, name);
		if (error)
			return error;
	}
	return NULL;
}

static struct error *none_found(const struct lookup *l,
				const struct nearest *systems,
				const struct nearest *names, bool have_system)
{
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;

	nearest_format(have_system ? names : systems, &near);
	return error_create(ERROR_NOT_FOUND,
			    have_system ?
				    "no tracepoint '%s:%s'%s" :
				    "no tracepoint '%s:%s': no such subsystem%s",
			    l->system, l->name, near.data);
}

static struct error *add_matching(const struct lookup *l,
				  const struct name_list *systems)
{
	struct nearest near_systems = { .word = l->system };
	struct nearest near_names = { .word = l->name };
	struct name_list names = {};
	size_t before = l->list->count;
	struct error *error = NULL;
	bool have_system = false;

	for (size_t i = 0; i < systems->count && !error; i++) {
		const char *system = systems->data[i];

		nearest_add(&near_systems, system);
		if (fnmatch(l->system, system, 0) != 0)
			continue;
		have_system = true;
		error = add_system(l, system, &near_names, &names);
	}
	if (!error && l->list->count == before)
		error = none_found(l, &near_systems, &near_names, have_system);
	name_list_deinit(&names);
	return error;
}

struct error *events_by_tracepoint(const char *root, const char *system,
				   const char *name, struct event_list *list)
{
	struct lookup l = { root, NULL, system, name, list };
	struct name_list systems = {};
	struct error *error;

	if (strchr(system, '/') || strchr(name, '/'))
		return error_create(ERROR_NOT_FOUND, "no tracepoint '%s:%s'",
				    system, name);
	error = tracefs_find(root, &l.folder, &systems);
	if (!error)
		error = add_matching(&l, &systems);
	name_list_deinit(&systems);
	return error;
}
