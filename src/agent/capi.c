// SPDX-License-Identifier: GPL-2.0-only
#include "agent/capi.h"

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

/* 3.6 and 3.7 have no row in python/layout.h. */
static const struct capi_offsets offsets_3_6 = {
	.thread_interp = 16,
	.frame_code = 32,
	.code_filename = 96,
	.code_name = 104,
	.code_qualname = PY_ABSENT,
	.code_bytes = 40,
	.code_first_line = 36,
	.interp_eval_frame = 112,
};

static bool row_of(uint32_t version, struct py_layout *ret)
{
	/* What _Py_DebugOffsets begins with is checked there too. */
	const void *runtime = agent_lookup("_PyRuntime");
	struct error *error;

	if (PY_SERIES(version) < PY_SERIES_DEBUG_OFFSETS)
		error = py_layout_find(version, ret);
	else
		error = py_layout_from_debug_offsets(
			(struct bytes){ runtime,
					runtime ? PY_DEBUG_OFFSETS_MAX : 0 },
			0, ret);
	if (!error)
		return true;
	error_destroy(error);
	return false;
}

static bool find_offsets(uint32_t version, struct capi_offsets *ret)
{
	struct py_layout row;

	*ret = offsets_3_6;
	if (PY_MINOR(version) == 7)
		ret->interp_eval_frame = 464;
	if (PY_SERIES(version) < PY_SERIES_MIN)
		return true;
	if (!row_of(version, &row))
		return false;
	*ret = (struct capi_offsets){
		.thread_interp = 16,
		.frame_code = row.frame_code,
		.code_filename = row.code_filename,
		.code_name = row.code_name,
		.code_qualname = row.code_qualname,
		.code_bytes = row.code_bytes,
		.code_first_line = row.code_first_line,
		.interp_eval_frame = 568,
	};
	return true;
}

static const char *find(void)
{
	const char *(*version)(void);
	struct capi found = {};

	*(void **)&version = agent_lookup("Py_GetVersion");
	if (!version)
		return "there is no CPython in this process";
	found.version = parse_version(version());
	if (found.version >> 24 != 3 ||
	    PY_MINOR(found.version) < CAPI_FIRST_MINOR ||
	    PY_MINOR(found.version) > CAPI_LAST_MINOR)
		return "the agent supports only CPython 3.6 to 3.15";
	if (!look_up(&found))
		return "this CPython does not export the functions that the agent needs";
	if (PY_MINOR(found.version) >= 9 &&
	    (!found._PyInterpreterState_SetEvalFrameFunc ||
	     !found._PyInterpreterState_GetEvalFrameFunc ||
	     !found.PyInterpreterState_Get))
		return "this CPython does not export its eval hook";
	found.free_threaded = strstr(version(), "free-threading");
	if (!found.free_threaded &&
	    !find_offsets(found.version, &found.offsets))
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
	const struct capi_offsets *offsets = &capi.offsets;
	const char *thread = capi.PyThreadState_Get();
	const char *base = code;

	return *(void **)(base + 8) == capi.PyCode_Type &&
	       *(const int *)(base + offsets->code_first_line) == CHECK_LINE &&
	       same_object(code, offsets->code_filename, "co_filename") &&
	       same_object(code, offsets->code_name, "co_name") &&
	       same_object(code, offsets->code_qualname, "co_qualname") &&
	       same_object(code, offsets->code_bytes, "co_code") &&
	       *(void **)(thread + offsets->thread_interp) ==
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
			  capi.offsets.thread_interp);
}
