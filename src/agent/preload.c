// SPDX-License-Identifier: GPL-2.0-only
#include "agent/preload.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/types.h>
#include <unistd.h>

#include "agent/environment.h"
#include "agent/lookup.h"
#include "agent/program.h"
#include "agent/setting.h"
#include "agent/spawn.h"
#include "agent/start.h"
#include "agent/switches.h"
#include "agent/sys_api.h"
#include "base/python_command.h"

/* What came from the parent, and goes on to children. */
static struct hand_on handed;

/* --- preloaded --- */

/* struct _inittab */
struct builtin {
	const char *name;
	void *(*init)(void);
};

/* PyModuleDef_Slot, and the slots of Include/moduleobject.h. */
struct slot {
	int slot;
	void *value;
};

enum {
	SLOT_EXEC = 2,
	/* The same in modules built for 3.15 or later (slots_generated.h). */
	SLOT_EXEC_3_15 = 85,
	/* From 3.12 and 3.13 on; older ones do not know them. */
	SLOT_MULTIPLE_INTERPRETERS = 3,
	SLOT_GIL = 4,
};
#define PER_INTERPRETER_GIL_SUPPORTED ((void *)2)
#define GIL_NOT_USED ((void *)1)

/* PyModuleDef of a CPython with a GIL, from its PyObject_HEAD on. */
struct definition {
	ssize_t reference_count;
	void *type;
	void *init;
	ssize_t index;
	void *copy;
	const char *name;
	const char *doc;
	ssize_t size;
	void *methods;
	struct slot *slots;
	void *traverse;
	void *clear;
	void *free;
};

static void *(*original_io)(void);
static void *(*original_posix)(void);

static void *init_io(void)
{
	agent_python_started();
	return original_io();
}

static int (*original_posix_exec)(void *module);

static int exec_posix(void *module)
{
	int result;

	agent_python_started();
	result = original_posix_exec(module);
	agent_environ_made();
	return result;
}

static bool is_exec(int slot)
{
	return slot == SLOT_EXEC || slot == SLOT_EXEC_3_15;
}

/*
 * From 3.13 on a subinterpreter does not call the functions of the table, only
 * what the definitions that they returned to the main interpreter name.
 */
static void *started_in_each(void *result)
{
	static struct slot copy[16];
	struct definition *definition = result;
	size_t i = 0;

	if (!result || definition->type != agent_lookup("PyModuleDef_Type") ||
	    !definition->slots || original_posix_exec)
		return result;
	for (; i < sizeof(copy) / sizeof(copy[0]) - 1; i++) {
		copy[i] = definition->slots[i];
		if (!copy[i].slot)
			break;
		if (is_exec(copy[i].slot) && !original_posix_exec) {
			original_posix_exec = copy[i].value;
			copy[i].value = (void *)exec_posix;
		}
	}
	if (!definition->slots[i].slot && original_posix_exec)
		definition->slots = copy;
	return result;
}

/* Once: in later interpreters other threads may be using the environment. */
static void *init_posix(void)
{
	static bool hidden;

	agent_python_started();
	if (!hidden)
		agent_environment_hide(&handed);
	hidden = true;
	return started_in_each(original_posix());
}

static void replace(struct builtin *table, const char *name,
		    void *(*init)(void), void *(**original)(void))
{
	for (; table->name; table++) {
		if (!strcmp(table->name, name)) {
			*original = table->init;
			table->init = init;
			return;
		}
	}
}

/* Does it run Python's own main, with its command line? */
static bool is_python_command(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return false;
	path[n] = '\0';
	return python_is_name(agent_program_name(path));
}

__attribute__((constructor)) static void loaded(int argc, char **argv,
						char **envp)
{
	char real_path[PATH_MAX];
	const char *path = agent_lookup_own_path();
	struct builtin **table;

	agent_spawn_start(NULL);
	if (getauxval(AT_SECURE))
		return;
	if (*path != '/')
		path = realpath(path, real_path);
	if (!path || !agent_environment_take(path, &handed))
		return;
	agent_setting_use(&handed);
	agent_spawn_start(&handed);
	table = agent_lookup("PyImport_Inittab");
	if (!table || !*table || !agent_lookup("Py_GetVersion")) {
		agent_environment_hide(&handed);
		return;
	}
	/* Who embeds Python has a command line of its own. */
	agent_early(is_python_command() ? argc : 0, argv, envp);
	replace(*table, "_io", init_io, &original_io);
	replace(*table, "posix", init_posix, &original_posix);
}

/* --- the extension module --- */

static int execute(void *module)
{
	(void)module;
	agent_python_started();
	agent_environ_made();
	return 0;
}

static struct slot slots[] = {
	{ SLOT_EXEC, (void *)execute },
	{ SLOT_MULTIPLE_INTERPRETERS, PER_INTERPRETER_GIL_SUPPORTED },
	{ SLOT_GIL, GIL_NOT_USED },
	{ 0, NULL },
};

static struct definition definition = {
	.reference_count = 1,
	.name = "_kaa_agent",
	.doc = "Python functions for perf-map and jitdump readers.",
	.methods = sys_api_methods,
	.slots = slots,
};

/* Those that an older CPython does not know are cut off. */
static void choose_slots(const char *version)
{
	long minor = strncmp(version, "3.", 2) ? 0 : strtol(version + 2, NULL, 10);
	size_t count = minor >= 13 ? 3 : minor == 12 ? 2 : 1;

	slots[count] = (struct slot){ 0, NULL };
}

static void *no_module(const char *why)
{
	void (*set)(void *, const char *) = agent_lookup("PyErr_SetString");
	void **import_error = agent_lookup("PyExc_ImportError");

	if (set && import_error)
		set(*import_error, why);
	return NULL;
}

void *PyInit__kaa_agent(void)
{
	void *(*preloaded)(void) = agent_lookup("PyInit__kaa_agent");
	const char *(*version)(void) = agent_lookup("Py_GetVersion");
	void *(*define)(void *) = agent_lookup("PyModuleDef_Init");

	if (preloaded && preloaded != PyInit__kaa_agent)
		return preloaded();
	if (!version || !define)
		return no_module("there is no CPython that exports its C API");
	if (strstr(version(), "free-threading"))
		return no_module("the agent does not support free-threaded CPython");
	choose_slots(version());
	return define(&definition);
}
