// SPDX-License-Identifier: GPL-2.0-only
#include "agent/switches.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/capi.h"
#include "agent/lookup.h"
#include "agent/setting.h"

bool switches_always(void)
{
	const char *value = agent_setting("KAA_TRAMPOLINE");

	return value && !strcmp(value, "always");
}

const char *switches_agent_backend(void)
{
	return agent_setting("KAA_TRAMPOLINE_BACKEND");
}

/*
 * CPython reads these before the agent can say anything, sets a hook of its own
 * and ends the process if there is one already. So it is shown something else.
 */
#define HELD "kaa_held_"

enum { HELD_MAX = 16 };

/* A string that argv or environ pointed at, and what it points at instead. */
struct held {
	char *original;
	char *instead;
	/* Index in argv; -1: of the environment. */
	int index;
};

static struct held held[HELD_MAX];
static size_t held_count;

/* --- reading --- */

static bool has_xoption(const char *name)
{
	void *options = capi.PySys_GetXOptions();

	return options && capi.PyDict_GetItemString(options, name);
}

/* As CPython reads an integer from the environment. */
static bool is_nonzero(const char *text)
{
	char *end;
	long value;

	if (!text || !*text)
		return false;
	errno = 0;
	value = strtol(text, &end, 10);
	return !*end && !errno && value && value >= INT_MIN && value <= INT_MAX;
}

static bool environment_ignored(void)
{
	void *flags = capi.PySys_GetObject("flags");
	void *flag = flags ? capi.PyObject_GetAttrString(
				     flags, "ignore_environment") :
			     NULL;
	long value = flag ? capi.PyLong_AsLong(flag) : 0;

	capi.Py_DecRef(flag);
	capi.PyErr_Clear();
	return value != 0;
}

static bool asked_for(const char *xoption, const char *variable)
{
	return has_xoption(xoption) ||
	       (is_nonzero(getenv(variable)) && !environment_ignored());
}

bool switches_jit(void)
{
	const char *value = getenv("PYTHON_JIT");

	return value && *value && *value != '0' && !environment_ignored();
}

void switches_read(struct switches *ret)
{
	const char *own = switches_agent_backend();

	*ret = (struct switches){};
	if (asked_for("perf_jit", "PYTHON_PERF_JIT_SUPPORT"))
		ret->backend = "perf_jit";
	else if (asked_for("perf", "PYTHONPERFSUPPORT"))
		ret->backend = "perf";
	ret->by_cpython = ret->backend && !held_count;
	ret->by_agent = own && *own;
	if (ret->by_agent)
		ret->backend = own;
	capi.PyErr_Clear();
}

/* --- taking away --- */

/* "perf" becomes "kaa_held_perf": a -X option that means nothing. */
static void hold(char **place, size_t prefix, int index)
{
	char *original = *place;
	size_t size = strlen(original) + sizeof(HELD);
	char *instead;

	if (held_count == HELD_MAX)
		return;
	instead = malloc(size);
	if (!instead)
		return;
	memcpy(instead, original, prefix);
	memcpy(instead + prefix, HELD, sizeof(HELD) - 1);
	strcpy(instead + prefix + sizeof(HELD) - 1, original + prefix);
	held[held_count++] = (struct held){ original, instead, index };
	*place = instead;
}

/* "name" or "name=..." */
static bool is_named(const char *text, const char *name)
{
	size_t size = strlen(name);

	return !strncmp(text, name, size) &&
	       (!text[size] || text[size] == '=');
}

static bool is_perf_option(const char *value)
{
	return is_named(value, "perf") || is_named(value, "perf_jit");
}

/* Letters that take a value: the rest of the word or the next one. */
static bool takes_value(char option)
{
	return option && strchr("cmWX", option);
}

/*
 * One word of options, "-BXperf": the letter that takes a value, or 0, and the
 * offset of the value in the word.
 */
static char value_option(const char *word, size_t *offset)
{
	size_t i = 1;

	while (word[i] && !takes_value(word[i]))
		i++;
	*offset = i + 1;
	return word[i];
}

/* Python/getopt.c: options end at -c, -m, "-", "--" or the first plain word. */
static void hold_arguments(int argc, char **argv)
{
	for (int i = 1; i < argc && argv[i]; i++) {
		size_t offset = 0;
		char option;

		if (!strcmp(argv[i], "--check-hash-based-pycs")) {
			i++;
			continue;
		}
		if (argv[i][0] != '-' || !argv[i][1] || argv[i][1] == '-')
			return;
		option = value_option(argv[i], &offset);
		if (option == 'c' || option == 'm')
			return;
		if (!option)
			continue;
		if (!argv[i][offset]) {
			offset = 0;
			i++;
		}
		if (option == 'X' && i < argc && argv[i] &&
		    is_perf_option(argv[i] + offset))
			hold(&argv[i], offset, i);
	}
}

static void hold_environment(char **envp)
{
	for (; *envp; envp++)
		if (is_named(*envp, "PYTHONPERFSUPPORT") ||
		    is_named(*envp, "PYTHON_PERF_JIT_SUPPORT"))
			hold(envp, 0, -1);
}

static bool has_switches(void)
{
	const uint32_t *version = agent_lookup("Py_Version");

	return version && *version >= 0x030c0000;
}

void agent_early(int argc, char **argv, char **envp)
{
	const char *own = switches_agent_backend();

	(void)envp;
	if ((!switches_always() && !(own && *own)) || !has_switches())
		return;
	hold_arguments(argc, argv);
	if (environ)
		hold_environment(environ);
}

/* --- giving back --- */

static void restore_variable(const struct held *each)
{
	for (char **place = environ; place && *place; place++)
		if (*place == each->instead)
			*place = each->original;
}

/* "kaa_held_perf=0" in sys._xoptions is "perf" with "0" again. */
static void restore_xoption(const char *held_name, const char *name)
{
	void *options = capi.PySys_GetXOptions();
	void *value = options ? capi.PyDict_GetItemString(options, held_name) :
				NULL;

	if (!value)
		return;
	capi.PyDict_SetItemString(options, name, value);
	capi.PyDict_DelItemString(options, held_name);
}

/* sys.orig_argv, 3.10 on. */
static void restore_argument(const struct held *each)
{
	void *words = capi.PySys_GetObject("orig_argv");
	void *word = words ? capi.PyUnicode_DecodeFSDefault(each->original) :
			     NULL;

	if (!word)
		return;
	if (each->index < capi.PyList_Size(words))
		capi.PyList_SetItem(words, each->index, word);
	else
		capi.Py_DecRef(word);
}

void switches_restore(void)
{
	for (size_t i = 0; i < held_count; i++) {
		if (held[i].index < 0)
			restore_variable(&held[i]);
		else
			restore_argument(&held[i]);
	}
	if (held_count) {
		restore_xoption(HELD "perf", "perf");
		restore_xoption(HELD "perf_jit", "perf_jit");
	}
	capi.PyErr_Clear();
}
