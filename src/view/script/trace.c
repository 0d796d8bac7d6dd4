// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/trace.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "perfdata/record.h"

enum {
	/* What the child may take of memory beyond what this process has. */
	MEMORY_MAX = 512 << 20,
	/* Its CPU time, seconds: one more for each so many samples. They take microseconds. */
	SECONDS_MAX = 60,
	SAMPLES_A_SECOND = 64,
};

struct script_trace {
	pid_t pid;
	int socket;
	uint64_t samples;
	/* The user's own limit of CPU time. */
	rlim_t seconds_max;
	struct trace_events_options options;
};

/* What is asked of the child; the sample's bytes follow. */
struct request {
	uint64_t id;
	int32_t cpu;
	uint32_t size;
};

enum {
	/* The fields of the sample asked for, as text. */
	ANSWER_TEXT,
	/* A question: the name of the function at an address, 8 bytes. */
	ANSWER_FUNCTION,
	/* Bytes that an answer has at most. */
	ANSWER_MAX = 1 << 20,
	NAME_SIZE = 256,
};

struct answer {
	uint32_t kind;
	uint32_t size;
};

/* What this process says to ANSWER_FUNCTION; no name: there is none. */
struct function {
	uint64_t start;
	char name[NAME_SIZE];
};

static bool read_all(int fd, void *data, size_t size)
{
	size_t got;

	return !fd_read(fd, data, size, &got) && got == size;
}

/* The other end may be gone: that is no reason to be killed. */
static bool write_all(int fd, const void *data, size_t size)
{
	const char *at = data;

	while (size) {
		ssize_t n = send(fd, at, size, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

/* --- The child ---------------------------------------------------------- */

struct child {
	int socket;
	struct function function;
};

static bool answer(const struct child *child, uint32_t kind, const void *data,
		   size_t size)
{
	const struct answer head = { kind, (uint32_t)size };

	return write_all(child->socket, &head, sizeof(head)) &&
	       write_all(child->socket, data, size);
}

static const char *ask_function(uint64_t *address, void *arg)
{
	struct child *child = arg;
	struct function *f = &child->function;

	if (!answer(child, ANSWER_FUNCTION, address, sizeof(*address)) ||
	    !read_all(child->socket, f, sizeof(*f)))
		_exit(1);
	*address = f->start;
	return *f->name ? f->name : NULL;
}

#define ALLOW(call)                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(call), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif

/* Sanitizers need more than a program does. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED false
#endif

/*
 * Memory, the socket, the end. Any other system call is the end, too, and so is
 * each by another table of numbers.
 */
static bool give_up_all(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_sendto),
		ALLOW(SYS_brk),
		ALLOW(SYS_mmap),
		ALLOW(SYS_munmap),
		ALLOW(SYS_mremap),
		ALLOW(SYS_madvise),
		ALLOW(SYS_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	if (SANITIZED)
		return true;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* A lower limit stays. */
static bool limit(int resource, rlim_t value)
{
	struct rlimit l;

	if (getrlimit(resource, &l))
		return false;
	if (value < l.rlim_cur)
		l.rlim_cur = value;
	return !setrlimit(resource, &l);
}

/* What fork() has left of this process counts, too. */
static bool limit_all(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;
	bool is_known = file && fscanf(file, "%lu", &pages) == 1;

	if (file)
		fclose(file);
	if (!limit(RLIMIT_CPU, SECONDS_MAX))
		return false;
	/* Without /proc its CPU time is all that is limited. */
	return SANITIZED || !is_known ||
	       limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) +
					MEMORY_MAX);
}

static bool serve_one(struct child *child, struct trace_events *events,
		      uint8_t *raw, struct strbuf *text)
{
	struct request request;
	struct error *error;

	if (!read_all(child->socket, &request, sizeof(request)) ||
	    request.size > RECORD_MAX_SIZE ||
	    !read_all(child->socket, raw, request.size))
		return false;
	strbuf_clear(text);
	error = trace_events_print(events, request.id, request.cpu, raw,
				   request.size, text);
	return !error && !text->failed &&
	       answer(child, ANSWER_TEXT, text->data, text->len);
}

static void run_child(int socket, const void *section, size_t size,
		      const struct trace_events_options *options)
{
	static uint8_t raw[RECORD_MAX_SIZE];
	struct child child = { .socket = socket };
	struct trace_events_options own = {
		.plugins = options->plugins,
		.function = options->function ? ask_function : NULL,
		.arg = &child,
	};
	struct strbuf text = STRBUF_INIT;
	struct trace_events *events;

	/* Plugins are files: they come first. */
	if (!limit_all() || trace_events_create(&own, &events) || !give_up_all() ||
	    trace_events_read(events, section, size))
		_exit(1);
	while (serve_one(&child, events, raw, &text))
		;
	_exit(0);
}

/* --- This process ------------------------------------------------------- */

static rlim_t seconds_max(void)
{
	struct rlimit l;

	return getrlimit(RLIMIT_CPU, &l) ? SECONDS_MAX : l.rlim_cur;
}

/* CPU time for the next samples. The child may not give itself more. */
static void give_time(struct script_trace *trace)
{
	struct rlimit l;
	rlim_t seconds = SECONDS_MAX + trace->samples / SAMPLES_A_SECOND;

	if (trace->samples++ % SAMPLES_A_SECOND ||
	    prlimit(trace->pid, RLIMIT_CPU, NULL, &l))
		return;
	l.rlim_cur = seconds < trace->seconds_max ? seconds : trace->seconds_max;
	prlimit(trace->pid, RLIMIT_CPU, &l, NULL);
}

static void start_child(struct script_trace *trace, int ends[2],
			const void *section, size_t size)
{
	trace->pid = fork();
	if (trace->pid)
		return;
	close(ends[0]);
	/* What the parent has in buffers is not the child's to write. */
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	run_child(ends[1], section, size, &trace->options);
}

struct error *script_trace_start(const void *section, size_t size,
				 const struct trace_events_options *options,
				 struct script_trace **ret)
{
	struct script_trace *trace = calloc(1, sizeof(*trace));
	int ends[2];

	if (!trace)
		return error_no_memory();
	trace->options = *options;
	trace->seconds_max = seconds_max();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		free(trace);
		return error_os(errno, "tracepoints", "cannot make a socket");
	}
	start_child(trace, ends, section, size);
	close(ends[1]);
	trace->socket = ends[0];
	if (trace->pid < 0) {
		script_trace_end(trace);
		return error_os(errno, "tracepoints", "cannot start a process");
	}
	*ret = trace;
	return NULL;
}

static bool tell_function(struct script_trace *trace)
{
	struct function f = {};
	const char *found;

	if (!read_all(trace->socket, &f.start, sizeof(f.start)))
		return false;
	found = trace->options.function(&f.start, trace->options.arg);
	if (found)
		strncpy(f.name, found, NAME_SIZE - 1);
	return write_all(trace->socket, &f, sizeof(f));
}

static bool take_text(struct script_trace *trace, uint32_t size,
		      struct strbuf *out)
{
	if (size > ANSWER_MAX || !strbuf_reserve(out, size) ||
	    !read_all(trace->socket, out->data + out->len, size))
		return false;
	out->len += size;
	out->data[out->len] = '\0';
	return true;
}

static bool take_answer(struct script_trace *trace, struct strbuf *out)
{
	struct answer head;

	while (read_all(trace->socket, &head, sizeof(head))) {
		if (head.kind == ANSWER_TEXT)
			return take_text(trace, head.size, out);
		if (head.kind != ANSWER_FUNCTION ||
		    head.size != sizeof(uint64_t) || !trace->options.function ||
		    !tell_function(trace))
			return false;
	}
	return false;
}

struct error *script_trace_print(struct script_trace *trace, uint64_t id,
				 int32_t cpu, const void *raw, size_t size,
				 struct strbuf *out)
{
	const struct request request = { id, cpu, (uint32_t)size };

	if (size > RECORD_MAX_SIZE)
		return NULL;
	give_time(trace);
	if (write_all(trace->socket, &request, sizeof(request)) &&
	    write_all(trace->socket, raw, size) && take_answer(trace, out))
		return NULL;
	return error_create(ERROR_FORMAT,
			    "the tracepoint formats in the recording are damaged, so the fields are not printed");
}

void script_trace_end(struct script_trace *trace)
{
	if (!trace)
		return;
	close(trace->socket);
	if (trace->pid > 0)
		while (waitpid(trace->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(trace);
}
