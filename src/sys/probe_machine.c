// SPDX-License-Identifier: GPL-2.0-only
#include "sys/probe_machine.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "sys/capability.h"
#include "sys/file.h"
#include "sys/perf_event.h"

static void read_settings(const char *root, struct machine *m)
{
	const struct {
		const char *name;
		struct setting *setting;
	} settings[] = {
		{ "perf_event_paranoid", &m->perf_event_paranoid },
		{ "perf_event_max_stack", &m->perf_event_max_stack },
		{ "perf_event_mlock_kb", &m->perf_event_mlock_kb },
		{ "perf_event_max_sample_rate",
		  &m->perf_event_max_sample_rate },
		{ "kptr_restrict", &m->kptr_restrict },
		{ "unprivileged_bpf_disabled", &m->unprivileged_bpf_disabled },
		{ "yama/ptrace_scope", &m->ptrace_scope },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		struct setting *setting = settings[i].setting;
		struct error *error = kernel_setting(root, settings[i].name,
						     &setting->value);

		setting->known = !error;
		error_destroy(error);
	}
}

static void read_kernel(struct machine *m)
{
	struct utsname name;

	if (uname(&name) != 0)
		return;
	snprintf(m->release, sizeof(m->release), "%s", name.release);
	snprintf(m->arch, sizeof(m->arch), "%s", name.machine);
	if (sscanf(name.release, "%u.%u", &m->kernel_major,
		   &m->kernel_minor) != 2)
		m->kernel_major = m->kernel_minor = 0;
}

static bool file_exists(const char *root, const char *path)
{
	struct stat st;
	char full[512];

	return snprintf(full, sizeof(full), "%s%s", root ? root : "", path) <
		       (int)sizeof(full) &&
	       stat(full, &st) == 0;
}

/* Opens the event and closes it; 0 or the errno. */
static int try_event(uint32_t type, uint64_t config, bool user_only, pid_t pid,
		     int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.disabled = 1,
		.exclude_kernel = user_only,
		.exclude_hv = user_only,
	};
	int fd = perf_event_open(&attr, pid, cpu, -1, 0);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

/* Loads `return 0` as a program for perf events; 0 or the errno. */
static int try_bpf(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uintptr_t)program,
		.insn_cnt = 2,
		.license = (uintptr_t) "GPL",
	};
	long fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void try_all(struct machine *m)
{
	const uint32_t software = PERF_TYPE_SOFTWARE;
	const uint64_t clock = PERF_COUNT_SW_CPU_CLOCK;

	m->try_user_event = try_event(software, clock, true, 0, -1);
	m->try_kernel_event = try_event(software, clock, false, 0, -1);
	m->try_cpu_event = try_event(software, clock, false, -1, 0);
	m->try_cycles = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				  true, 0, -1);
	m->try_bpf = try_bpf();
}

void machine_probe(const char *root, struct machine *ret)
{
	struct machine m = {
		.euid = geteuid(),
		.memlock = UINT64_MAX,
		.pmu = perf_has_hardware_pmu(root),
		.btf = file_exists(root, "/sys/kernel/btf/vmlinux"),
		.try_user_event = ENOSYS,
		.try_kernel_event = ENOSYS,
		.try_cpu_event = ENOSYS,
		.try_cycles = ENOSYS,
		.try_bpf = ENOSYS,
	};
	struct capabilities capabilities = {};
	struct rlimit limit;

	read_kernel(&m);
	read_settings(root, &m);
	if (capabilities_read(&capabilities) == 0)
		m.capabilities = capabilities.effective;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
	    limit.rlim_cur != RLIM_INFINITY)
		m.memlock = limit.rlim_cur;
	if (!root || !*root)
		try_all(&m);
	*ret = m;
}

bool machine_kernel_at_least(const struct machine *machine, unsigned int major,
			     unsigned int minor)
{
	return machine->kernel_major > major ||
	       (machine->kernel_major == major &&
		machine->kernel_minor >= minor);
}
