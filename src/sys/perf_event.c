// SPDX-License-Identifier: GPL-2.0-only
#include "sys/perf_event.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "sys/file.h"
#include "sys/proc.h"

#define PMU_FOLDER "/sys/bus/event_source/devices"

int open_files_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return -errno;
	if (limit.rlim_cur >= limit.rlim_max)
		return -EMFILE;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : -errno;
}

static int open_once(struct perf_event_attr *attr, pid_t pid, int cpu,
		     int group_fd, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);

	return fd < 0 ? -errno : (int)fd;
}

int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
		    int group_fd, unsigned long flags)
{
	int fd;

	attr->size = sizeof(*attr);
	flags |= PERF_FLAG_FD_CLOEXEC;
	fd = open_once(attr, pid, cpu, group_fd, flags);
	if (fd == -EMFILE && open_files_raise_limit() == 0)
		fd = open_once(attr, pid, cpu, group_fd, flags);
	return fd;
}

int perf_event_paranoid(const char *root)
{
	int64_t value = 2;

	error_destroy(kernel_setting(root, "perf_event_paranoid", &value));
	return (int)value;
}

bool perf_has_hardware_pmu(const char *root)
{
	/* x86, hybrid x86, and the prefixes that arm64 PMUs have. */
	static const char *const cores[] = { "cpu", "cpu_core", "cpu_atom" };
	static const char *const prefixes[] = { "armv8_", "armv9_", "apple_" };
	struct name_list names = {};
	bool found = false;

	error_destroy(dir_list(root, PMU_FOLDER, &names));
	vec_for_each(name, &names) {
		for (size_t i = 0; i < 3; i++)
			found |= strcmp(*name, cores[i]) == 0 ||
				 strncmp(*name, prefixes[i],
					 strlen(prefixes[i])) == 0;
	}
	name_list_deinit(&names);
	return found;
}

/* What the setting keeps from users without capabilities. */
static const char *paranoid_meaning(int paranoid)
{
	if (paranoid >= 3)
		return "no events";
	if (paranoid == 2)
		return "only :u events of their own processes, no whole CPUs and no tracepoints";
	if (paranoid == 1)
		return "only events of their own processes, no whole CPUs and no tracepoints";
	if (paranoid == 0)
		return "all but raw tracepoint data";
	return "everything";
}

static struct error *other_user_error(int errnum, const char *name, pid_t pid,
				      const char *root)
{
	_cleanup_strbuf_ struct strbuf owner = STRBUF_INIT;

	proc_put_owner(root, pid, &owner);
	return error_create(
		ERROR_PERMISSION,
		"event '%s' of process %d: %s: the process belongs to %s; run kaa under sudo",
		name, (int)pid, strerror(errnum), owner.data);
}

static struct error *permission_error(int errnum,
				      const struct perf_event_attr *attr,
				      const char *name, pid_t pid,
				      const char *root)
{
	int paranoid = perf_event_paranoid(root);

	/* Events of user space of own processes are always permitted then. */
	if (pid > 0 && attr->type != PERF_TYPE_TRACEPOINT &&
	    (paranoid < 2 || (paranoid == 2 && attr->exclude_kernel)))
		return other_user_error(errnum, name, pid, root);
	return error_create(
		ERROR_PERMISSION,
		"event '%s': %s: kernel.perf_event_paranoid is %d, which allows users %s; run kaa under sudo, run 'sudo sysctl kernel.perf_event_paranoid=%d', or give kaa CAP_PERFMON",
		name, strerror(errnum), paranoid,
		paranoid_meaning(paranoid), paranoid > 2 ? 2 : -1);
}

static struct error *unsupported_error(const struct perf_event_attr *attr,
				       const char *name, const char *root)
{
	if (perf_type_is_hardware(attr->type) && !perf_has_hardware_pmu(root))
		return error_create(
			ERROR_UNSUPPORTED,
			"event '%s' is not supported here: this machine has no hardware counters, as is common for virtual machines; '-e cpu-clock' works everywhere",
			name);
	if (attr->precise_ip)
		return error_create(
			ERROR_UNSUPPORTED,
			"event '%s' is not supported here with that precision; try it without ':p'",
			name);
	return error_create(ERROR_UNSUPPORTED,
			    "event '%s' is not supported here", name);
}

struct error *perf_event_error(int errnum, const struct perf_event_attr *attr,
			       const char *name, pid_t pid, int cpu,
			       const char *root)
{
	switch (errnum) {
	case EACCES:
	case EPERM:
		return permission_error(errnum, attr, name, pid, root);
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		return unsupported_error(attr, name, root);
	case EINVAL:
		if (attr->precise_ip)
			return unsupported_error(attr, name, root);
		break;
	case ESRCH:
		return error_create(ERROR_NOT_FOUND,
				    "no process or thread %d", (int)pid);
	case EMFILE:
		return error_os(
			errnum, NULL,
			"event '%s' needs one open file for each CPU and thread; raise 'ulimit -n'",
			name);
	case ENOSYS:
		return error_create(
			ERROR_UNSUPPORTED,
			"event '%s': this kernel or container has no perf_event_open",
			name);
	default:
		break;
	}
	if (cpu >= 0)
		return error_os(errnum, NULL, "event '%s' on CPU %d", name, cpu);
	return error_os(errnum, NULL, "event '%s'", name);
}
