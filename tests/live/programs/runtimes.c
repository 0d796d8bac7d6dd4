// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs Python code in one runtime after the other, as often as the first argument
 * says: the second one, with `number` counted up. Without Python's headers: any version.
 */
#include <stdio.h>
#include <stdlib.h>

void Py_Initialize(void);
void Py_Finalize(void);
int PyRun_SimpleString(const char *code);

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;
	char head[64];

	for (int i = 1; i <= count; i++) {
		Py_Initialize();
		snprintf(head, sizeof(head), "number = %d", i);
		if (PyRun_SimpleString(head) || PyRun_SimpleString(argv[2]))
			return 1;
		Py_Finalize();
	}
	return count ? 0 : 1;
}
