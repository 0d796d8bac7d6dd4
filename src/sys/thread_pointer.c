// SPDX-License-Identifier: GPL-2.0-only
#include "sys/thread_pointer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/pthread_fields.h"
#include "sys/proc.h"

int thread_own_number(const char *root, pid_t tid)
{
	struct proc_status status;
	struct error *error = proc_status_read(root, tid, &status);
	int number = error ? -1 : status.nspid;

	error_destroy(error);
	return number;
}

uint64_t thread_pointer_find(struct remote_memory *memory, pid_t tid,
			     int number)
{
	uint64_t head = 0, pointer, self;
	size_t size;
	int32_t own;

	if (syscall(SYS_get_robust_list, tid, &head, &size) ||
	    head < PTHREAD_ROBUST_HEAD)
		return 0;
	pointer = head - PTHREAD_ROBUST_HEAD;
	if (!remote_memory_read_all(memory, pointer + PTHREAD_SELF, &self,
				    sizeof(self)) ||
	    !remote_memory_read_all(memory, pointer + PTHREAD_TID, &own,
				    sizeof(own)) ||
	    self != pointer || own != number)
		return 0;
	return pointer;
}
