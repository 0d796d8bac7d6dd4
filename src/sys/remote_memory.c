// SPDX-License-Identifier: GPL-2.0-only
#include "sys/remote_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "sys/file.h"
#include "sys/proc.h"

enum {
	/*
	 * process_vm_readv may stop at an element of the remote vector, never
	 * inside one: one element a page gives exact partial reads.
	 */
	PAGE = 4096,
	PAGES_A_CALL = 64,
};

void remote_memory_deinit(struct remote_memory *memory)
{
	if (memory->mem_fd >= 0)
		close(memory->mem_fd);
	memory->mem_fd = -1;
}

/* Splits up to n bytes at address at page borders; returns the elements. */
static size_t split_pages(uint64_t address, size_t n,
			  struct iovec pages[PAGES_A_CALL], size_t *total)
{
	size_t count = 0;

	*total = 0;
	while (n > 0 && count < PAGES_A_CALL) {
		size_t piece = PAGE - address % PAGE;

		if (piece > n)
			piece = n;
		pages[count++] = (struct iovec){
			.iov_base = (void *)(uintptr_t)address,
			.iov_len = piece,
		};
		address += piece;
		n -= piece;
		*total += piece;
	}
	return count;
}

static ssize_t read_vm(pid_t pid, uint64_t address, void *buf, size_t n)
{
	struct iovec pages[PAGES_A_CALL];
	size_t done = 0;

	while (done < n) {
		size_t wanted;
		size_t count = split_pages(address + done, n - done, pages,
					   &wanted);
		struct iovec local = { (char *)buf + done, wanted };
		ssize_t r = process_vm_readv(pid, &local, 1, pages, count, 0);

		if (r < 0)
			return done ? (ssize_t)done : -errno;
		done += (size_t)r;
		if ((size_t)r < wanted)
			break;
	}
	return (ssize_t)done;
}

static int open_mem(struct remote_memory *memory)
{
	char path[32];

	if (memory->mem_fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)memory->pid);
	memory->mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	return memory->mem_fd < 0 ? -errno : 0;
}

static ssize_t read_mem(struct remote_memory *memory, uint64_t address,
			void *buf, size_t n)
{
	size_t done = 0;
	int r = open_mem(memory);

	if (r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		return r == -EACCES ? -EPERM : r;
	while (done < n) {
		ssize_t got = pread(memory->mem_fd, (char *)buf + done,
				    n - done, (off_t)(address + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && done == 0)
			return errno == EIO ? -EFAULT : -errno;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	/* The memory of a process that is gone reads as empty. */
	return done ? (ssize_t)done : -ESRCH;
}

ssize_t remote_memory_read(struct remote_memory *memory, uint64_t address,
			   void *buf, size_t n)
{
	ssize_t r;

	if (n == 0)
		return 0;
	/* User addresses only, and no wrap-around. */
	if (address > INT64_MAX || n > (uint64_t)INT64_MAX - address)
		return -EFAULT;
	if (memory->mem_fd >= 0)
		return read_mem(memory, address, buf, n);
	r = read_vm(memory->pid, address, buf, n);
	/* Some containers filter the system call but not the file. */
	if (r == -ENOSYS || r == -EPERM)
		return read_mem(memory, address, buf, n);
	return r;
}

size_t remote_memory_read_words(const struct remote_memory *memory,
				const uint64_t *addresses, size_t n,
				uint64_t *words)
{
	struct iovec elements[REMOTE_MEMORY_WORDS_MAX];
	struct iovec local = { words, n * sizeof(*words) };
	ssize_t r;

	if (memory->mem_fd >= 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		elements[i] = (struct iovec){
			.iov_base = (void *)(uintptr_t)addresses[i],
			.iov_len = sizeof(*words),
		};
	r = process_vm_readv(memory->pid, &local, 1, elements, n, 0);
	return r < 0 ? 0 : (size_t)r / sizeof(*words);
}

struct error *remote_memory_not_for_root(pid_t pid)
{
	return error_create(
		ERROR_PERMISSION,
		"not even root may read the memory of process %d here: root in a container has fewer rights, and a filter or security module may forbid it",
		(int)pid);
}

static bool is_of_other(pid_t pid)
{
	struct proc_status status;
	struct error *error = proc_status_read("", pid, &status);
	bool other = !error && (status.uid != geteuid() || status.euid != geteuid());

	error_destroy(error);
	return other;
}

static struct error *why_not(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf owner = STRBUF_INIT;
	int64_t scope = 0;

	if (is_of_other(pid)) {
		proc_put_owner("", pid, &owner);
		return error_create(
			ERROR_PERMISSION,
			"kaa may not read the memory of process %d, which belongs to %s: run kaa under sudo or with CAP_SYS_PTRACE",
			(int)pid, owner.data);
	}
	error_destroy(kernel_setting("", "yama/ptrace_scope", &scope));
	return error_create(ERROR_PERMISSION,
			    "kaa may not read the memory of process %d: run kaa under sudo or with CAP_SYS_PTRACE%s",
			    (int)pid,
			    scope > 0 ? "; for your own processes 'sudo sysctl kernel.yama.ptrace_scope=0' is enough" :
					"");
}

struct error *remote_memory_read_exact(struct remote_memory *memory,
				       uint64_t address, void *buf, size_t n)
{
	ssize_t r = remote_memory_read(memory, address, buf, n);

	if (r >= 0 && (size_t)r == n)
		return NULL;
	if (r == -ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d is gone",
				    (int)memory->pid);
	if (r == -EPERM && !geteuid())
		return remote_memory_not_for_root(memory->pid);
	if (r == -EPERM)
		return why_not(memory->pid);
	if (r >= 0 || r == -EFAULT)
		return error_create(
			ERROR_FAULT,
			"memory of process %d at 0x%" PRIx64 " is not readable",
			(int)memory->pid, address + (r > 0 ? (uint64_t)r : 0));
	return error_os((int)-r, NULL, "memory of process %d",
			(int)memory->pid);
}
