// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program with CPython in it: runs its argument as Python code, twice, in two
 * runtimes one after the other. Without Python's headers: any version.
 */
#include <stdio.h>

void Py_Initialize(void);
void Py_Finalize(void);
int PyRun_SimpleString(const char *code);

int main(int argc, char **argv)
{
	int failed = argc != 2;

	for (int i = 0; i < 2 && !failed; i++) {
		Py_Initialize();
		failed = PyRun_SimpleString(argv[1]);
		Py_Finalize();
	}
	return failed ? 1 : 0;
}
