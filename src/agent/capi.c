// SPDX-License-Identifier: GPL-2.0-only
#include "agent/capi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/lookup.h"
#include "python/layout.h"

struct capi capi;

struct name {
	const char *name;
	size_t offset;
	bool optional;
};

static const struct name names[] = {
#define X(ret, name, arguments) { #name, offsetof(struct capi, name), false },
	CAPI_FUNCTIONS(X)
#undef X
#define X(ret, name, arguments) { #name, offsetof(struct capi, name), true },
	CAPI_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(name) { #name, offsetof(struct capi, name), false },
	CAPI_DATA(X)
#undef X
};

static bool look_up(struct capi *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *address = agent_lookup(names[i].name);

		if (!address && !names[i].optional)
			return false;
		*(void **)((char *)ret + names[i].offset) = address;
	}
	return true;
}

/* "3.12.1 (main, ..." or "3.15.0b2+ ..."; 0 if it is no such thing. */
static uint32_t parse_version(const char *text)
{
	static const char levels[] = "abc";
	unsigned long numbers[3] = {};
	unsigned int level = 0xf;
	char *end = (char *)text;

	for (size_t i = 0; i < 3; i++) {
		numbers[i] = strtoul(text, &end, 10);
		if (end == text || numbers[i] > 255)
			return 0;
		text = end + (*end == '.');
	}
	if (*end == 'a' || *end == 'b')
		level = 0xau + (unsigned int)(strchr(levels, *end) - levels);
	else if (!strncmp(end, "rc", 2))
		level = 0xc;
	return (uint32_t)(numbers[0] << 24 | numbers[1] << 16 |
			  numbers[2] << 8 | level << 4);
}

/* From 3.13 on as the interpreter itself says; its build is checked there, too. */
static bool find_layout(const struct py_release *release, struct capi *ret)
{
	const void *runtime = agent_lookup("_PyRuntime");
	struct error *error = NULL;

	ret->hook = release->hook;
	if (!(release->uses & PY_FOR_WALKER))
		ret->layout = release->layout;
	else if (release->series < PY_SERIES_DEBUG_OFFSETS)
		error = py_layout_find(ret->version, &ret->layout);
	else
		error = py_layout_from_debug_offsets(
			(struct bytes){ runtime,
					runtime ? PY_DEBUG_OFFSETS_MAX : 0 },
			0, &ret->layout);
	error_destroy(error);
	return !error;
}

static const char *unsupported(void)
{
	static char text[64];
	struct py_release_span span = py_releases_for(PY_FOR_AGENT);

	snprintf(text, sizeof(text),
		 "the agent supports only CPython 3.%u to 3.%u", span.first,
		 span.last);
	return text;
}

static const char *find(void)
{
	const struct py_release *release;
	const char *(*version)(void);
	struct capi found = {};

	*(void **)&version = agent_lookup("Py_GetVersion");
	if (!version)
		return "there is no CPython in this process";
	found.version = parse_version(version());
	release = py_release_for(found.version, PY_FOR_AGENT);
	if (!release)
		return unsupported();
	if (!look_up(&found))
		return "this CPython does not export the functions that the agent needs";
	if (PY_MINOR(found.version) >= 9 &&
	    (!found._PyInterpreterState_SetEvalFrameFunc ||
	     !found._PyInterpreterState_GetEvalFrameFunc ||
	     !found.PyInterpreterState_Get))
		return "this CPython does not export its eval hook";
	found.free_threaded = strstr(version(), "free-threading");
	if (!found.free_threaded && !find_layout(release, &found))
		return "this build of CPython has unknown structures";
	capi = found;
	return NULL;
}

const char *agent_capi_find(void)
{
	return capi.version ? NULL : find();
}

/* Whether the object at the offset is the one that the attribute is. */
static bool same_object(void *code, uint32_t offset, const char *attribute)
{
	void *value;

	if (offset == PY_ABSENT)
		return true;
	value = capi.PyObject_GetAttrString(code, attribute);
	if (!value) {
		capi.PyErr_Clear();
		return false;
	}
	capi.Py_DecRef(value);
	return *(void **)((char *)code + offset) == value;
}

enum { CHECK_LINE = 12345 };

static bool offsets_fit(void *code)
{
	const struct py_layout *layout = &capi.layout;
	const char *thread = capi.PyThreadState_Get();
	const char *base = code;

	return *(void **)(base + layout->object_type) == capi.PyCode_Type &&
	       *(const int *)(base + layout->code_first_line) == CHECK_LINE &&
	       same_object(code, layout->code_filename, "co_filename") &&
	       same_object(code, layout->code_name, "co_name") &&
	       same_object(code, layout->code_qualname, "co_qualname") &&
	       same_object(code, layout->code_bytes, "co_code") &&
	       *(void **)(thread + capi.hook.thread_interp) ==
		       agent_capi_interpreter();
}

const char *agent_capi_check(void)
{
	static bool checked, fits;
	void *code;

	if (capi.free_threaded)
		return "the agent does not support free-threaded CPython";
	if (checked)
		goto out;
	code = capi.PyCode_NewEmpty("kaa", "check", CHECK_LINE);
	if (!code) {
		capi.PyErr_Clear();
		return "there is no memory for a code object";
	}
	fits = offsets_fit(code);
	checked = true;
	capi.Py_DecRef(code);
out:
	return fits ? NULL : "this build of CPython has an unknown layout of code objects";
}

void *agent_capi_interpreter(void)
{
	if (capi.PyInterpreterState_Get)
		return capi.PyInterpreterState_Get();
	return *(void **)((char *)capi.PyThreadState_Get() +
			  capi.hook.thread_interp);
}
