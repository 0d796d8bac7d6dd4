// SPDX-License-Identifier: GPL-2.0-only
/* `kaa activate`: trampolines in a Python that is running. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cmd/framework/command.h"
#include "cmd/framework/manual.h"
#include "cmd/framework/message.h"
#include "cmd/run.h"
#include "python/look/remote_exec.h"
#include "sys/proc.h"

enum {
	DEFAULT_TIMEOUT_S = 10,
	POLL_MS = 10,
	ANSWER_MAX = 1024,
};

#define SCRIPT "activate.py"
#define ANSWER "answer"

struct activate_settings {
	uint64_t pid;
	const char *backend;
	bool off;
	uint64_t timeout;
};

/* --- options --- */

static struct error *parse_backend(void *settings, const struct option *option,
				   const char *arg, bool negated)
{
	struct activate_settings *s = settings;

	(void)arg;
	s->backend = negated			      ? NULL :
		     !strcmp(option->long_name, "perf") ? "perf" :
		     !strcmp(option->long_name, "perf-jit") ? "perf_jit" :
							      "perf_elf";
	return NULL;
}

static const struct option activate_options[] = {
	OPT_GROUP("Which process"),
	OPT_U64('p', "pid", struct activate_settings, pid, "<pid>",
		"activate in this process, a running CPython 3.14 or later"),
	OPT_U64(0, "timeout", struct activate_settings, timeout, "<s>",
		"wait up to <s> seconds for its answer (default: 10)"),
	OPT_GROUP("How functions are named"),
	OPT_CALL(0, "perf", parse_backend, NULL,
		 "write a perf map, /tmp/perf-<pid>.map (default)"),
	OPT_CALL(0, "perf-jit", parse_backend, NULL,
		 "write a jitdump, /tmp/jit-<pid>.dump"),
	OPT_CALL(0, "perf-elf", parse_backend, NULL,
		 "write an ELF image, which perf reads directly"),
	OPT_BOOL(0, "off", struct activate_settings, off,
		 "deactivate the trampolines"),
	OPT_END(),
};

static void activate_defaults(void *settings)
{
	struct activate_settings *s = settings;

	s->timeout = DEFAULT_TIMEOUT_S;
	s->backend = "perf";
}

/* --- the folder that both see --- */

/*
 * A folder of this process's in the other one's /tmp, that is reached by descriptors
 * alone: whoever owns that /tmp cannot turn a name into another file.
 */
struct exchange {
	char name[32];
	/* The other process's /tmp, the folder, the answer. */
	int tmp;
	int folder;
	int answer;
};

static void exchange_deinit(struct exchange *exchange)
{
	if (exchange->folder >= 0) {
		unlinkat(exchange->folder, SCRIPT, 0);
		unlinkat(exchange->folder, ANSWER, 0);
		unlinkat(exchange->tmp, exchange->name, AT_REMOVEDIR);
		close(exchange->folder);
	}
	if (exchange->answer >= 0)
		close(exchange->answer);
	if (exchange->tmp >= 0)
		close(exchange->tmp);
}

static struct error *open_tmp(pid_t pid, struct exchange *exchange)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/tmp", (int)pid);
	exchange->tmp = open(path, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (exchange->tmp >= 0)
		return NULL;
	return error_os(errno, path, "cannot be used to exchange files with the process");
}

static struct error *make_folder(struct exchange *exchange)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return error_os(errno, NULL, "cannot get random bytes");
	snprintf(exchange->name, sizeof(exchange->name), "kaa-%016llx",
		 (unsigned long long)number);
	if (mkdirat(exchange->tmp, exchange->name, 0700))
		return error_os(errno, "/tmp", "cannot create a directory in it");
	exchange->folder = openat(exchange->tmp, exchange->name,
				  O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (exchange->folder < 0)
		return error_os(errno, exchange->name, "cannot open the directory");
	/* Others may pass, not list or change. */
	if (fchmod(exchange->folder, 0711))
		return error_os(errno, exchange->name, "cannot set the mode");
	return NULL;
}

static struct error *make_file(struct exchange *exchange, const char *name,
			       mode_t mode, int *ret)
{
	*ret = openat(exchange->folder, name,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (*ret < 0 || fchmod(*ret, mode))
		return error_os(errno, name, "cannot create the file");
	return NULL;
}

/* The process writes the answer, so the file is its user's. */
static struct error *make_answer(pid_t pid, struct exchange *exchange)
{
	struct proc_status status;
	struct error *error = proc_status_read("", pid, &status);

	if (error)
		return error;
	error = make_file(exchange, ANSWER, 0600, &exchange->answer);
	if (error)
		return error;
	if (status.euid != geteuid() &&
	    fchown(exchange->answer, status.euid, status.gid))
		return error_os(errno, ANSWER, "cannot change its owner to user %d",
				(int)status.euid);
	return NULL;
}

static struct error *exchange_init(struct exchange *exchange, pid_t pid)
{
	struct error *error = open_tmp(pid, exchange);

	if (error)
		return error;
	error = make_folder(exchange);
	if (error)
		return error;
	return make_answer(pid, exchange);
}

/* --- what is run there --- */

/* A Python string literal. */
static void put_literal(struct strbuf *out, const char *text)
{
	strbuf_putc(out, '"');
	for (; *text; text++)
		strbuf_printf(out, "\\x%02x", (unsigned char)*text);
	strbuf_putc(out, '"');
}

/* Loads the agent, unless it is there: CPython has no such backend. */
static struct error *put_agent(struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf agent = STRBUF_INIT;
	struct error *error = run_find_agent(&agent);

	if (error)
		return error;
	strbuf_puts(out, "    from importlib.util import module_from_spec, spec_from_file_location\n"
			 "    path = ");
	put_literal(out, agent.data);
	strbuf_puts(out, ".encode('latin-1').decode('utf-8', 'surrogateescape')\n"
			 "    spec = spec_from_file_location('kaa._kaa_agent', path)\n"
			 "    module = module_from_spec(spec)\n"
			 "    spec.loader.exec_module(module)\n"
			 "    for name in ('activate_stack_trampoline', 'deactivate_stack_trampoline',\n"
			 "                 'is_stack_trampoline_active'):\n"
			 "        setattr(sys, name, getattr(module, name))\n");
	return NULL;
}

static struct error *put_script(struct strbuf *out, const char *answer,
				const struct activate_settings *s)
{
	bool by_agent = !s->off && !strcmp(s->backend, "perf_elf");
	struct error *error;

	strbuf_puts(out, "def activate():\n    import sys\n");
	error = by_agent ? put_agent(out) : NULL;
	if (error)
		return error;
	if (s->off)
		strbuf_puts(out, "    sys.deactivate_stack_trampoline()\n");
	else
		strbuf_printf(out, "    sys.activate_stack_trampoline('%s')\n",
			      s->backend);
	strbuf_puts(out, "try:\n"
			 "    activate()\n"
			 "    said = 'done'\n"
			 "except BaseException as error:\n"
			 "    said = 'failed %s: %s' % (type(error).__name__, error)\n"
			 "with open(");
	put_literal(out, answer);
	strbuf_puts(out, ", 'wb') as stream:\n"
			 "    stream.write(said.encode('utf-8', 'backslashreplace')[:1000] + b'\\n')\n");
	return strbuf_error(out);
}

static struct error *write_script(struct exchange *exchange,
				  const struct strbuf *text)
{
	_cleanup_close_ int fd = -1;
	struct error *error = make_file(exchange, SCRIPT, 0644, &fd);

	if (error)
		return error;
	if (write(fd, text->data, text->len) != (ssize_t)text->len)
		return error_os(errno, SCRIPT, "cannot write");
	return NULL;
}

/* --- waiting --- */

/* True: the answer is complete, and in buf without its newline. */
static bool read_answer(int fd, char *buf, size_t size)
{
	ssize_t n = pread(fd, buf, size - 1, 0);

	if (n <= 0 || buf[n - 1] != '\n')
		return false;
	buf[n - 1] = '\0';
	return true;
}

static bool wait_for_answer(const struct exchange *exchange, pid_t pid,
			    uint64_t timeout_ms, char *buf, size_t size)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };

	for (uint64_t waited = 0; waited < timeout_ms; waited += POLL_MS) {
		if (read_answer(exchange->answer, buf, size))
			return true;
		if (kill(pid, 0) && errno == ESRCH)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The answer is the process's: nothing of it may reach the terminal raw. */
static void clean(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

static struct error *judge_answer(pid_t pid, char *answer)
{
	clean(answer);
	if (!strcmp(answer, "done"))
		return NULL;
	return error_create(ERROR_UNSUPPORTED, "process %d: %s", (int)pid,
			    strncmp(answer, "failed ", 7) ? answer : answer + 7);
}

static struct error *not_answered(struct remote_exec *remote,
				  const struct exchange *exchange,
				  uint64_t timeout)
{
	pid_t pid = remote->memory.pid;
	char answer[ANSWER_MAX];
	struct error *error;

	if (kill(pid, 0) && errno == ESRCH)
		return error_create(ERROR_NOT_FOUND, "process %d has ended",
				    (int)pid);
	error = remote_exec_take_back(remote);
	if (error)
		return error;
	/* It may have begun at the last moment. */
	if (wait_for_answer(exchange, pid, 100, answer, sizeof(answer)))
		return judge_answer(pid, answer);
	return error_create(
		ERROR_UNSUPPORTED,
		"process %d ran no Python code in its main thread for %llu s, so nothing was changed; try again, or wait longer with --timeout",
		(int)pid, (unsigned long long)timeout);
}

static struct error *talk(struct remote_exec *remote,
			  struct exchange *exchange,
			  const struct activate_settings *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	pid_t pid = remote->memory.pid;
	char path[64], answer[ANSWER_MAX];
	struct error *error;

	snprintf(path, sizeof(path), "/tmp/%s/" ANSWER, exchange->name);
	error = put_script(&text, path, s);
	if (error)
		return error;
	error = write_script(exchange, &text);
	if (error)
		return error;
	snprintf(path, sizeof(path), "/tmp/%s/" SCRIPT, exchange->name);
	error = remote_exec_ask(remote, path);
	if (error)
		return error;
	if (wait_for_answer(exchange, pid, s->timeout * 1000, answer,
			    sizeof(answer)))
		return judge_answer(pid, answer);
	return not_answered(remote, exchange, s->timeout);
}

static struct error *run(void *settings, const struct arguments *args,
			 int *exit_code)
{
	const struct activate_settings *s = settings;
	_cleanup_(remote_exec_deinit) struct remote_exec remote = {
		.memory.mem_fd = -1
	};
	_cleanup_(exchange_deinit) struct exchange exchange = {
		.tmp = -1, .folder = -1, .answer = -1
	};
	struct error *error;

	(void)exit_code;
	if (args->count)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "unexpected argument '%s'; name the process with -p",
				    args->values[0]);
	if (!s->pid || s->pid > INT_MAX || !s->backend || !s->timeout ||
	    s->timeout > INT_MAX / 1000)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "name a running process with -p PID");
	if (kill((pid_t)s->pid, 0) && errno == ESRCH)
		return error_create(ERROR_NOT_FOUND, "no process has pid %d",
				    (int)s->pid);
	error = remote_exec_open((pid_t)s->pid, &remote);
	if (error)
		return error;
	error = exchange_init(&exchange, (pid_t)s->pid);
	return error ? error : talk(&remote, &exchange, s);
}

const struct command command_activate = {
	.name = "activate",
	.summary = "give the Python functions of a running process names in perf",
	.usage =
		(const char *const[]){
			"[<options>] -p <pid>",
			"-p <pid> --off",
			NULL,
		},
	.description =
		"Asks a running CPython 3.14 or later to give its functions names for perf, samply and other profilers, as 'kaa run' does from the start. "
		"The process does so itself when its main thread next runs Python code. "
		"It is not stopped. "
		"A function that is running at that moment gets its name at its next call.\n"
		"\n"
		"kaa needs the right to trace the process. "
		"Root has it. "
		"The user of the process has it where kernel.yama.ptrace_scope is 0. "
		"A process that was started with PYTHON_DISABLE_REMOTE_DEBUG or -X disable-remote-debug refuses.",
	.options = activate_options,
	.examples =
		(const char *const[]){
			"sudo kaa activate -p 1234",
			"sudo kaa activate -p 1234 --perf-jit",
			"sudo kaa activate -p 1234 --off\tdeactivate the trampolines",
			NULL,
		},
	.files = (const char *const[]){ "/tmp/perf-<pid>.map\tA perf map: the addresses of Python functions (--perf).",
		"/tmp/jit-<pid>.dump\tA jitdump (--perf-jit).", NULL },
	.settings_size = sizeof(struct activate_settings),
	.set_defaults = activate_defaults,
	.run = run,
};
