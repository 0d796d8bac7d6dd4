// SPDX-License-Identifier: GPL-2.0-only
#include "sys/task_syscall.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "sys/file.h"

enum { TEXT_MAX = 1024 };

bool task_syscall_parse(const char *text, struct task_syscall *ret)
{
	struct task_syscall call = {};

	if (sscanf(text, "%" SCNd64, &call.number) != 1)
		return false;
	if (call.number >= 0 &&
	    sscanf(text, "%*d 0x%" SCNx64, &call.first) != 1)
		return false;
	/* Behind six arguments, if there is a call. */
	if (sscanf(text,
		   call.number >= 0 ?
			   "%*d %*s %*s %*s %*s %*s %*s 0x%" SCNx64 " 0x%" SCNx64 :
			   "%*d 0x%" SCNx64 " 0x%" SCNx64,
		   &call.stack_pointer, &call.instruction) != 2)
		call.stack_pointer = call.instruction = 0;
	*ret = call;
	return true;
}

bool task_syscall_read(const char *root, pid_t pid, pid_t tid,
		       struct task_syscall *ret)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];
	struct error *error;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid,
		 (int)tid);
	error = file_read(root, path, TEXT_MAX, &text);
	if (error) {
		error_destroy(error);
		return false;
	}
	return task_syscall_parse(text.data, ret);
}

bool task_syscall_is_in(const struct task_syscall *call,
			const struct user_regs_struct *registers)
{
	/* <linux/errno.h>, for the kernel alone: -ERESTARTSYS to -ERESTART_RESTARTBLOCK. */
	enum { RESTARTS_FIRST = 512, RESTARTS_LAST = 516, SYSCALL_BYTES = 2 };
	uint64_t error = 0 - (uint64_t)registers->rax;

	if (call->number < 0 || !call->stack_pointer ||
	    registers->rsp != call->stack_pointer)
		return false;
	if (registers->rip + SYSCALL_BYTES == call->instruction)
		return true;
	return registers->rip == call->instruction &&
	       error >= RESTARTS_FIRST && error <= RESTARTS_LAST;
}

#define NAME(call) { SYS_##call, #call }

static const struct {
	int64_t number;
	const char *name;
} names[] = {
	NAME(read),	    NAME(write),	NAME(poll),
	NAME(ppoll),	    NAME(select),	NAME(pselect6),
	NAME(epoll_wait),   NAME(epoll_pwait),	NAME(futex),
	NAME(nanosleep),    NAME(clock_nanosleep),
	NAME(accept),	    NAME(accept4),	NAME(connect),
	NAME(recvfrom),	    NAME(recvmsg),	NAME(recvmmsg),
	NAME(sendto),	    NAME(sendmsg),	NAME(sendmmsg),
	NAME(wait4),	    NAME(waitid),	NAME(pause),
	NAME(rt_sigtimedwait), NAME(rt_sigsuspend), NAME(flock),
	NAME(fcntl),	    NAME(fsync),	NAME(fdatasync),
	NAME(pread64),	    NAME(pwrite64),	NAME(readv),
	NAME(writev),	    NAME(open),		NAME(openat),
	NAME(close),	    NAME(semtimedop),	NAME(semop),
	NAME(msgrcv),	    NAME(io_getevents),	NAME(splice),
	NAME(sendfile),	    NAME(ioctl),	NAME(mq_timedreceive),
	NAME(restart_syscall), NAME(getdents64), NAME(newfstatat),
	NAME(munmap),	    NAME(mmap),		NAME(madvise),
	NAME(kill),	    NAME(tkill),	NAME(tgkill),
	NAME(exit),	    NAME(exit_group),	NAME(clone),
	NAME(fork),	    NAME(vfork),	NAME(execve),
	NAME(brk),	    NAME(mprotect),	NAME(mremap),
	NAME(lseek),	    NAME(stat),		NAME(fstat),
	NAME(lstat),	    NAME(access),	NAME(rename),
	NAME(unlink),	    NAME(mkdir),	NAME(ftruncate),
	NAME(preadv),	    NAME(pwritev),	NAME(statx),
	NAME(socket),	    NAME(bind),		NAME(listen),
	NAME(shutdown),	    NAME(getrandom),	NAME(sched_yield),
	NAME(gettid),	    NAME(getpid),	NAME(io_uring_enter),
	NAME(copy_file_range), NAME(sync),	NAME(msync),
};

void task_syscall_name(int64_t number, struct strbuf *out)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == number) {
			strbuf_puts(out, names[i].name);
			return;
		}
	}
	strbuf_printf(out, "system call %" PRId64, number);
}
