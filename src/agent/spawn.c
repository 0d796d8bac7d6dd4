// SPDX-License-Identifier: GPL-2.0-only
#include "agent/spawn.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/lookup.h"

#define EXPORTED __attribute__((visibility("default")))
/* So that its stack is given back before the next step. */
#define STEP __attribute__((noinline))

static const struct hand_on *handed_on;

static struct {
	__typeof__(execve) *execve;
	__typeof__(execvpe) *execvpe;
	__typeof__(fexecve) *fexecve;
	__typeof__(posix_spawn) *posix_spawn;
	__typeof__(posix_spawnp) *posix_spawnp;
	__typeof__(system) *system;
} real;

/* Behind the agent if it is preloaded or linked, before it if it was opened later. */
static void *find(const char *name)
{
	void *function = agent_lookup_next(name);

	return function ? function : agent_lookup(name);
}

/* A library's constructor may run a program before the agent's did. */
static void resolve(void)
{
	if (real.execve)
		return;
	*(void **)&real.execvpe = find("execvpe");
	*(void **)&real.fexecve = find("fexecve");
	*(void **)&real.posix_spawn = find("posix_spawn");
	*(void **)&real.posix_spawnp = find("posix_spawnp");
	*(void **)&real.system = find("system");
	*(void **)&real.execve = find("execve");
}

void agent_spawn_start(const struct hand_on *hand_on)
{
	resolve();
	handed_on = hand_on;
}

/* --- which program --- */

static STEP bool takes_agent(int dirfd, const char *path)
{
	struct agent_program program;
	int errnum = errno;

	agent_program_identify(dirfd, path, &program);
	errno = errnum;
	return agent_program_takes_agent(&program);
}

static STEP bool found_takes_agent(const char *name)
{
	char path[PATH_MAX];
	int errnum = errno;
	bool found = agent_program_search(name, path, sizeof(path));

	errno = errnum;
	return found && takes_agent(AT_FDCWD, path);
}

/* --- exec --- */

static STEP int execve_with(const char *path, char *const argv[],
			    char *const envp[])
{
	struct hand_on_environment environment;
	int ret;

	hand_on_environment_init(&environment, handed_on, envp);
	ret = real.execve(path, argv, environment.list);
	hand_on_environment_deinit(&environment);
	return ret;
}

static int run_path(const char *path, char *const argv[], char *const envp[])
{
	resolve();
	if (handed_on && takes_agent(AT_FDCWD, path))
		return execve_with(path, argv, envp);
	return real.execve(path, argv, envp);
}

static STEP int execvpe_with(const char *file, char *const argv[],
			     char *const envp[])
{
	struct hand_on_environment environment;
	int ret;

	hand_on_environment_init(&environment, handed_on, envp);
	ret = real.execvpe(file, argv, environment.list);
	hand_on_environment_deinit(&environment);
	return ret;
}

static int run_name(const char *file, char *const argv[], char *const envp[])
{
	resolve();
	if (handed_on && found_takes_agent(file))
		return execvpe_with(file, argv, envp);
	return real.execvpe(file, argv, envp);
}

EXPORTED int execve(const char *path, char *const argv[], char *const envp[])
{
	return run_path(path, argv, envp);
}

EXPORTED int execv(const char *path, char *const argv[])
{
	return run_path(path, argv, environ);
}

EXPORTED int execvp(const char *file, char *const argv[])
{
	return run_name(file, argv, environ);
}

EXPORTED int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return run_name(file, argv, envp);
}

/* The words of a list that ends with NULL, arg being the first. */
static size_t count_words(const char *arg, va_list list)
{
	size_t count = 0;

	for (; arg; arg = va_arg(list, const char *))
		count++;
	return count;
}

static void take_words(char **words, const char *arg, va_list list)
{
	for (; arg; arg = va_arg(list, const char *))
		*words++ = (char *)arg;
	*words = NULL;
}

/* Declares `words` with the arguments; list stands behind the NULL. */
#define WORDS(words, arg, list)                                      \
	char **words;                                                \
	va_list list;                                                \
	va_start(list, arg);                                         \
	words = alloca((count_words(arg, list) + 1) * sizeof(char *)); \
	va_end(list);                                                \
	va_start(list, arg);                                         \
	take_words(words, arg, list)

EXPORTED int execl(const char *path, const char *arg, ...)
{
	WORDS(words, arg, list);
	va_end(list);
	return run_path(path, words, environ);
}

EXPORTED int execlp(const char *file, const char *arg, ...)
{
	WORDS(words, arg, list);
	va_end(list);
	return run_name(file, words, environ);
}

/* A va_list that a function was given is at no known place afterwards. */
EXPORTED int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	const char *word;

	WORDS(words, arg, list);
	va_end(list);
	va_start(list, arg);
	for (word = arg; word; word = va_arg(list, const char *))
		;
	envp = va_arg(list, char *const *);
	va_end(list);
	return run_path(path, words, envp);
}

static STEP int fexecve_with(int fd, char *const argv[], char *const envp[])
{
	struct hand_on_environment environment;
	int ret;

	hand_on_environment_init(&environment, handed_on, envp);
	ret = real.fexecve(fd, argv, environment.list);
	hand_on_environment_deinit(&environment);
	return ret;
}

EXPORTED int fexecve(int fd, char *const argv[], char *const envp[])
{
	resolve();
	if (handed_on && envp && takes_agent(fd, ""))
		return fexecve_with(fd, argv, envp);
	return real.fexecve(fd, argv, envp);
}

/* The C library has it only from glibc 2.34 on. */
static int real_execveat(int dirfd, const char *path, char *const argv[],
			 char *const envp[], int flags)
{
	return (int)syscall(SYS_execveat, dirfd, path, argv, envp, flags);
}

static STEP int execveat_with(int dirfd, const char *path, char *const argv[],
			      char *const envp[], int flags)
{
	struct hand_on_environment environment;
	int ret;

	hand_on_environment_init(&environment, handed_on, envp);
	ret = real_execveat(dirfd, path, argv, environment.list, flags);
	hand_on_environment_deinit(&environment);
	return ret;
}

EXPORTED int execveat(int dirfd, const char *path, char *const argv[],
		      char *const envp[], int flags)
{
	if (handed_on && takes_agent(dirfd, path))
		return execveat_with(dirfd, path, argv, envp, flags);
	return real_execveat(dirfd, path, argv, envp, flags);
}

/* --- posix_spawn --- */

typedef __typeof__(posix_spawn) spawn_fn;

static STEP int spawn_with(spawn_fn *spawn, pid_t *pid, const char *file,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const argv[],
			   char *const envp[])
{
	struct hand_on_environment environment;
	int ret;

	hand_on_environment_init(&environment, handed_on, envp);
	ret = spawn(pid, file, actions, attr, argv, environment.list);
	hand_on_environment_deinit(&environment);
	return ret;
}

EXPORTED int posix_spawn(pid_t *pid, const char *path,
			 const posix_spawn_file_actions_t *actions,
			 const posix_spawnattr_t *attr, char *const argv[],
			 char *const envp[])
{
	resolve();
	if (handed_on && takes_agent(AT_FDCWD, path))
		return spawn_with(real.posix_spawn, pid, path, actions, attr,
				  argv, envp);
	return real.posix_spawn(pid, path, actions, attr, argv, envp);
}

EXPORTED int posix_spawnp(pid_t *pid, const char *file,
			  const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attr, char *const argv[],
			  char *const envp[])
{
	resolve();
	if (handed_on && found_takes_agent(file))
		return spawn_with(real.posix_spawnp, pid, file, actions, attr,
				  argv, envp);
	return real.posix_spawnp(pid, file, actions, attr, argv, envp);
}

/* --- system --- */

/*
 * The C library's runs its shell by a posix_spawn of its own, that nothing can
 * stand in front of. This is system() as POSIX describes it.
 */
static struct {
	pthread_mutex_t lock;
	/* Calls that run at the moment: the first ignores, the last restores. */
	unsigned int calls;
	struct sigaction interrupt;
	struct sigaction quit;
} systems = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void ignore_signals(sigset_t *mask, sigset_t *defaults)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigset_t block;

	pthread_mutex_lock(&systems.lock);
	if (!systems.calls++) {
		sigaction(SIGINT, &ignore, &systems.interrupt);
		sigaction(SIGQUIT, &ignore, &systems.quit);
	}
	sigemptyset(defaults);
	if (systems.interrupt.sa_handler != SIG_IGN)
		sigaddset(defaults, SIGINT);
	if (systems.quit.sa_handler != SIG_IGN)
		sigaddset(defaults, SIGQUIT);
	pthread_mutex_unlock(&systems.lock);
	sigemptyset(&block);
	sigaddset(&block, SIGCHLD);
	/* pthread_sigmask() is in another library before glibc 2.32. */
	sigprocmask(SIG_BLOCK, &block, mask);
}

static void restore_signals(const sigset_t *mask)
{
	pthread_mutex_lock(&systems.lock);
	if (!--systems.calls) {
		sigaction(SIGINT, &systems.interrupt, NULL);
		sigaction(SIGQUIT, &systems.quit, NULL);
	}
	pthread_mutex_unlock(&systems.lock);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static int run_shell(const char *command, const sigset_t *mask,
		     const sigset_t *defaults)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawnattr_t attr;
	int status, errnum;
	pid_t pid, waited;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setsigdefault(&attr, defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	errnum = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (errnum) {
		errno = errnum;
		return 127 << 8;
	}
	do {
		waited = waitpid(pid, &status, 0);
	} while (waited < 0 && errno == EINTR);
	return waited < 0 ? -1 : status;
}

EXPORTED int system(const char *command)
{
	sigset_t mask, defaults;
	int status, cancel;

	resolve();
	if (!handed_on || !command)
		return real.system(command);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	ignore_signals(&mask, &defaults);
	status = run_shell(command, &mask, &defaults);
	restore_signals(&mask);
	pthread_setcancelstate(cancel, NULL);
	return status;
}
