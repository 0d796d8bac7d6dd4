// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that embeds Python and speaks to kaa's C API. Without Python's headers:
 * what it needs of them is declared here.
 */
#include <kaa/trampoline.h>

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern void Py_InitializeEx(int signals);
extern int Py_FinalizeEx(void);
extern int PyImport_AppendInittab(const char *name, void *(*init)(void));
extern void *PyImport_AddModule(const char *name);
extern int PyRun_SimpleString(const char *code);
extern void *PyObject_GetAttrString(void *object, const char *name);
extern void *PyInit__kaa_agent(void);

static const char script[] =
	"import sys\n"
	"if not hasattr(sys, 'activate_stack_trampoline'):\n"
	"    import _kaa_agent\n"
	"sys.activate_stack_trampoline('perf')\n"
	"def never_called(): pass\n"
	"def called(): pass\n"
	"called()\n";

static int check(int failed, const char *what)
{
	if (failed)
		fprintf(stderr, "failed: %s\n", what);
	return failed;
}

static int in_child(const char *parents_map)
{
	return check(kaa_copy_perf_map_file(parents_map), "copy") ||
	       check(kaa_write_perf_map_entry((void *)0x3000, 3, "child"),
		     "write in the child");
}

static int fork_child(void)
{
	char path[64];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	pid = fork();
	if (!pid)
		_exit(in_child(path));
	printf("%d\n", (int)pid);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	void *function, *code;

	if (check(kaa_perf_map_state_init(), "init") ||
	    check(kaa_write_perf_map_entry((void *)0x1000, 16, "before"), "write"))
		return 1;
	PyImport_AppendInittab("_kaa_agent", PyInit__kaa_agent);
	Py_InitializeEx(0);
	if (check(PyRun_SimpleString(script), "script"))
		return 1;
	function = PyObject_GetAttrString(PyImport_AddModule("__main__"),
					  "never_called");
	code = function ? PyObject_GetAttrString(function, "__code__") : NULL;
	if (check(!code, "code") ||
	    check(kaa_perf_trampoline_compile_code(code), "compile") ||
	    check(kaa_perf_trampoline_set_persist_after_fork(1) != 1, "persist") ||
	    check(kaa_perf_trampoline_set_persist_after_fork(0) != 0, "persist"))
		return 1;
	kaa_perf_map_state_fini();
	if (check(kaa_write_perf_map_entry((void *)0x2000, 32, "after"), "write") ||
	    check(fork_child(), "fork"))
		return 1;
	return check(Py_FinalizeEx(), "finalize");
}
