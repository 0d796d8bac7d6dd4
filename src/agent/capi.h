/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the agent uses of CPython's C API, looked up by name in the process, and
 * where that CPython keeps what the eval hook reads.
 *
 * An object is a void pointer (the agent is built without Python's headers). All
 * functions but agent_capi_find() need the GIL.
 *
 * Sources: Doc/c-api and Include of CPython 3.6 to 3.15; offsets: python/releases.h.
 */
#ifndef KAA_AGENT_CAPI_H
#define KAA_AGENT_CAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "python/releases.h"

/* The 12 of 3.12. */
#define CAPI_MINOR PY_MINOR(capi.version)

/* PyMethodDef (Include/methodobject.h). */
struct capi_method {
	const char *name;
	void *(*function)(void *self, void *arg);
	int flags;
	const char *doc;
};
#define CAPI_METH_NOARGS 4
#define CAPI_METH_O 8

/* X(what it returns, name, arguments): every version has these. */
#define CAPI_FUNCTIONS(X)                                                     \
	X(const char *, Py_GetVersion, (void))                                \
	X(int, Py_IsInitialized, (void))                                      \
	X(void, Py_IncRef, (void *))                                          \
	X(void, Py_DecRef, (void *))                                          \
	X(void *, PyErr_Occurred, (void))                                     \
	X(void, PyErr_Clear, (void))                                          \
	X(void, PyErr_Fetch, (void **, void **, void **))                     \
	X(void, PyErr_Restore, (void *, void *, void *))                      \
	X(void, PyErr_SetString, (void *, const char *))                      \
	X(void *, PyErr_Format, (void *, const char *, ...))                  \
	X(void *, PyErr_NoMemory, (void))                                     \
	X(void *, PyErr_SetFromErrnoWithFilename, (void *, const char *))     \
	X(int, PyErr_GivenExceptionMatches, (void *, void *))                 \
	X(void, PyErr_NormalizeException, (void **, void **, void **))        \
	X(void *, PyObject_GetAttrString, (void *, const char *))             \
	X(void *, PyObject_Str, (void *))                                     \
	X(void *, PyObject_CallFunctionObjArgs, (void *, ...))                \
	X(void *, PyObject_Call, (void *, void *, void *))                    \
	X(void *, PyTuple_New, (ssize_t))                                     \
	X(void *, PyDict_New, (void))                                         \
	X(long, PyLong_AsLong, (void *))                                      \
	X(void *, PyBool_FromLong, (long))                                    \
	X(void *, PyUnicode_FromString, (const char *))                       \
	X(void *, PyUnicode_DecodeFSDefault, (const char *))                  \
	X(const char *, PyUnicode_AsUTF8, (void *))                           \
	X(const char *, PyUnicode_AsUTF8AndSize, (void *, ssize_t *))         \
	X(int, PyType_IsSubtype, (void *, void *))                            \
	X(ssize_t, PyUnicode_GetLength, (void *))                             \
	X(uint32_t, PyUnicode_ReadChar, (void *, ssize_t))                    \
	X(int, PyUnicode_CompareWithASCIIString, (void *, const char *))      \
	X(int, PyDict_SetItemString, (void *, const char *, void *))          \
	X(void *, PyDict_GetItemString, (void *, const char *))               \
	X(int, PyDict_DelItemString, (void *, const char *))                  \
	X(ssize_t, PyList_Size, (void *))                                     \
	X(void *, PyList_GetItem, (void *, ssize_t))                          \
	X(int, PyList_SetItem, (void *, ssize_t, void *))                     \
	X(void *, PyImport_ImportModule, (const char *))                      \
	X(void *, PySys_GetObject, (const char *))                            \
	X(int, PySys_SetObject, (const char *, void *))                       \
	X(void *, PySys_GetXOptions, (void))                                  \
	X(void *, PyThreadState_Get, (void))                                  \
	X(void *, PyCapsule_New, (void *, const char *, void (*)(void *)))    \
	X(void *, PyCapsule_GetPointer, (void *, const char *))               \
	X(void *, PyCFunction_NewEx, (struct capi_method *, void *, void *))  \
	X(void *, PyCFunction_GetFunction, (void *))                          \
	X(void *, PyCode_NewEmpty, (const char *, const char *, int))         \
	X(void *, _PyEval_EvalFrameDefault, (void *, void *, int))

/* Some versions lack these: NULL. */
#define CAPI_OPTIONAL_FUNCTIONS(X)                                            \
	/* 3.9 on */                                                          \
	X(void *, PyInterpreterState_Get, (void))                             \
	X(void *, _PyInterpreterState_GetEvalFrameFunc, (void *))             \
	X(void, _PyInterpreterState_SetEvalFrameFunc, (void *, void *))       \
	/* 3.8 on */                                                          \
	X(void *, PyInterpreterState_GetDict, (void *))                       \
	/* 3.7 on */                                                          \
	X(void *, PyInterpreterState_Main, (void))

/* Data that every version has; the address of the object or of the pointer. */
#define CAPI_DATA(X)                                                          \
	X(PyCode_Type)                                                        \
	X(PyUnicode_Type)                                                     \
	X(PyBytes_Type)                                                       \
	X(PyCFunction_Type)                                                   \
	X(PyExc_ValueError)                                                   \
	X(PyExc_TypeError)                                                    \
	X(PyExc_RuntimeError)                                                 \
	X(PyExc_RecursionError)                                               \
	X(PyExc_OSError)                                                      \
	X(_Py_NoneStruct)

struct capi {
	/* PY_VERSION_HEX, 0 before agent_capi_find(). */
	uint32_t version;
	/* Its own support for trampolines can be used, no more: no offsets. */
	bool free_threaded;
	/* Of these only object_type, frame_code and code_* are used. */
	struct py_layout layout;
	struct py_hook hook;
#define X(ret, name, arguments) ret(*name) arguments;
	CAPI_FUNCTIONS(X)
	CAPI_OPTIONAL_FUNCTIONS(X)
#undef X
#define X(name) void *name;
	CAPI_DATA(X)
#undef X
};

extern struct capi capi;

/*
 * Fills in capi; later calls do nothing. NULL, or why the agent cannot work
 * with this CPython (one line, no full stop). May be called without the GIL.
 */
const char *agent_capi_find(void);

/*
 * Holds the offsets against a code object made for that, once. NULL, or why
 * this build cannot be hooked.
 */
const char *agent_capi_check(void);

/* The calling thread's interpreter. */
void *agent_capi_interpreter(void);

/* The pointer that a structure has at an offset. */
static inline void *capi_pointer_at(const void *base, uint32_t offset)
{
	return *(void *const *)((const char *)base + offset);
}

/* What a symbol says of a function: co_qualname, or co_name before 3.11. */
static inline uint32_t capi_name_offset(const struct py_layout *layout)
{
	return layout->code_qualname != PY_ABSENT ? layout->code_qualname :
						    layout->code_name;
}

#endif
