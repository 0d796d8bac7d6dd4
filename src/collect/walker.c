// SPDX-License-Identifier: GPL-2.0-only
#include "collect/walker.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collect/waits.h"
#include "sys/capability.h"
#include "sys/own_program.h"
#include "sys/perf_event.h"
#include "sys/task_fd.h"
#include "walker.skel.h"

/* PROC_PID_INIT_INO, in include/linux/proc_ns.h since Linux 3.8. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

enum {
	NS_PER_S = 1000000000,
	/* OFF_CPU_WINDOW_NS in a second. */
	OFF_CPU_WINDOWS = 10,
};

struct walker {
	struct walker_bpf *skeleton;
	/* What runs when a thread is back on a CPU; NULL: waits are no matter. */
	const struct bpf_program *off_cpu;
	/* Its place in the skeleton. */
	struct bpf_link **off_cpu_link;
	/* Processes that were added. */
	uint64_t eras;
	/* An event of each tracepoint, never enabled, which holds the program. */
	VEC(int) tracepoints;
};

static int be_silent(enum libbpf_print_level level, const char *format,
		     va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static struct error *walker_refused(int errnum, const char *what)
{
	_cleanup_strbuf_ struct strbuf kaa = STRBUF_INIT;

	own_program_word(&kaa);
	if ((errnum == EPERM || errnum == EACCES) &&
	    capability_have(CAP_BPF) && capability_have(CAP_PERFMON))
		return error_create(ERROR_PERMISSION,
				    "the kernel, or this container, forbids kaa to %s",
				    what);
	if ((errnum == EPERM || errnum == EACCES) && !geteuid())
		return error_create(ERROR_PERMISSION,
				    "root has no CAP_BPF and CAP_PERFMON here, as in a container");
	if (errnum == EPERM || errnum == EACCES)
		return error_create(ERROR_PERMISSION,
				    "this user lacks CAP_BPF and CAP_PERFMON: run 'sudo %s record ...', or see 'kaa doctor --fix'",
				    kaa.data);
	if (errnum == ENOENT || errnum == ESRCH || errnum == EINVAL ||
	    errnum == EOPNOTSUPP)
		return error_create(ERROR_UNSUPPORTED,
				    "this kernel cannot %s (%s): Linux 5.17 or later with BTF (/sys/kernel/btf/vmlinux) is needed",
				    what, strerror(errnum));
	return error_os(errnum, NULL, "cannot %s", what);
}

/*
 * Which pid namespace is ours. Linux numbers processes anew in each
 * namespace; perf's records carry our numbers, so the walker has to use them
 * too.
 */
static int pid_level(struct walker_bpf *skeleton)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(
		bpf_program__fd(skeleton->progs.kaa_pid_level), &options);
}

static struct error *walker_open(struct walker_bpf **ret)
{
	struct walker_bpf *skeleton = walker_bpf__open();
	uint32_t cpus = (uint32_t)libbpf_num_possible_cpus();

	if (!skeleton)
		return walker_refused(errno, "open a BPF program");
	bpf_program__set_autoattach(skeleton->progs.kaa_sample, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_tracepoint, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_pid_level, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_exit, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_clock_tick, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_clock_switch, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_clock_new_task, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_clock_exec, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_off_cpu_switch, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_off_cpu_schedule, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_off_cpu_rseq, false);
	bpf_program__set_autoattach(skeleton->progs.kaa_off_cpu_signal, false);
	bpf_map__set_max_entries(skeleton->maps.output, cpus);
	bpf_map__set_max_entries(skeleton->maps.off_cpu_output, cpus);
	/* Linux before 6.16 puts 128 free entries of such a map by for each CPU. */
	bpf_map__set_max_entries(skeleton->maps.pages,
				 WALKER_SENT_PAGES + 512 * cpus);
	*ret = skeleton;
	return NULL;
}

/* Maps that no program uses are made all the same: as small as can be. */
static void shrink_maps(struct walker_bpf *skeleton)
{
	bpf_map__set_max_entries(skeleton->maps.seen, 1);
	bpf_map__set_max_entries(skeleton->maps.processes, 1);
	bpf_map__set_max_entries(skeleton->maps.threads, 1);
	bpf_map__set_max_entries(skeleton->maps.code_slots, 1);
	bpf_map__set_max_entries(skeleton->maps.pages, 1);
}

/* Nobody waits for the verifier for what is not used. */
static void leave_out_clocks(struct walker_bpf *skeleton)
{
	bpf_program__set_autoload(skeleton->progs.kaa_clock_tick, false);
	bpf_program__set_autoload(skeleton->progs.kaa_clock_switch, false);
	bpf_program__set_autoload(skeleton->progs.kaa_clock_new_task, false);
	bpf_program__set_autoload(skeleton->progs.kaa_clock_exec, false);
}

/* KAA_OFF_CPU=rseq takes what older kernels have, to try it on a newer one. */
static bool can_walk_in_schedule(void)
{
	const char *wanted = getenv("KAA_OFF_CPU");

	if (wanted && !strcmp(wanted, "rseq"))
		return false;
	return libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;
}

/* Of the two places where a thread is back the better that this kernel has. */
static void choose_waits(struct walker *walker, bool wanted)
{
	struct walker_bpf *s = walker->skeleton;
	bool at_schedule = wanted && can_walk_in_schedule();

	bpf_program__set_autoload(s->progs.kaa_off_cpu_switch, wanted);
	bpf_program__set_autoload(s->progs.kaa_off_cpu_schedule, at_schedule);
	bpf_program__set_autoload(s->progs.kaa_off_cpu_rseq,
				  wanted && !at_schedule);
	bpf_program__set_autoload(s->progs.kaa_off_cpu_signal,
				  wanted && !at_schedule);
	if (!wanted)
		return;
	/* kaa_off_cpu_switch does its work, too. */
	bpf_program__set_autoload(s->progs.kaa_clock_switch, false);
	walker->off_cpu = at_schedule ? s->progs.kaa_off_cpu_schedule :
					s->progs.kaa_off_cpu_rseq;
	walker->off_cpu_link = at_schedule ? &s->links.kaa_off_cpu_schedule :
					     &s->links.kaa_off_cpu_rseq;
}

/* Loads the one program that tells the namespace. */
static struct error *find_pid_level(struct walker_config *ret)
{
	struct walker_bpf *skeleton;
	struct error *error = walker_open(&skeleton);
	struct bpf_program *program;
	int err;

	if (error)
		return error;
	shrink_maps(skeleton);
	bpf_object__for_each_program(program, skeleton->obj)
		bpf_program__set_autoload(
			program, program == skeleton->progs.kaa_pid_level);
	err = walker_bpf__load(skeleton);
	if (!err)
		err = pid_level(skeleton);
	if (!err)
		*ret = skeleton->bss->own;
	walker_bpf__destroy(skeleton);
	return err ? walker_refused(-err, "load a BPF program") : NULL;
}

/* Most recorders are in the first one, which Linux gave this number for good. */
static bool in_first_pid_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID_NAMESPACE;
}

static struct error *walker_load(struct walker *walker,
				 struct walker_parts parts)
{
	struct walker_config config = { .pid_namespace = FIRST_PID_NAMESPACE };
	struct error *error =
		in_first_pid_namespace() ? NULL : find_pid_level(&config);
	int err;

	if (error)
		return error;
	error = walker_open(&walker->skeleton);
	if (error)
		return error;
	memcpy((void *)&walker->skeleton->rodata->config, &config,
	       sizeof(config));
	bpf_program__set_autoload(walker->skeleton->progs.kaa_pid_level, false);
	if (!parts.cpu_clocks)
		leave_out_clocks(walker->skeleton);
	choose_waits(walker, parts.off_cpu);
	bpf_program__set_autoload(walker->skeleton->progs.kaa_tracepoint,
				  parts.tracepoints);
	err = walker_bpf__load(walker->skeleton);
	if (err)
		return walker_refused(-err, "load a BPF program");
	err = walker_bpf__attach(walker->skeleton);
	if (err)
		return walker_refused(-err, "attach to scheduler tracepoints");
	return NULL;
}

struct error *walker_create(struct walker_parts parts, struct walker **ret)
{
	struct walker *walker = calloc(1, sizeof(*walker));
	/* Kernels before 5.11 charge maps to this limit. */
	struct rlimit no_limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct error *error;

	if (!walker)
		return error_no_memory();
	setrlimit(RLIMIT_MEMLOCK, &no_limit);
	libbpf_set_print(be_silent);
	error = walker_load(walker, parts);
	if (error) {
		walker_destroy(walker);
		return error;
	}
	*ret = walker;
	return NULL;
}

void walker_destroy(struct walker *walker)
{
	if (!walker)
		return;
	walker_detach_tracepoints(walker);
	vec_deinit(&walker->tracepoints);
	walker_bpf__destroy(walker->skeleton);
	free(walker);
}

static struct error *set_output(const struct bpf_map *map, int cpu, int fd)
{
	uint32_t key = (uint32_t)cpu;

	if (bpf_map__update_elem(map, &key, sizeof(key), &fd, sizeof(fd),
				 BPF_ANY))
		return walker_refused(errno, "set the output of a BPF program");
	return NULL;
}

struct error *walker_set_output(struct walker *walker, int cpu, int fd)
{
	return set_output(walker->skeleton->maps.output, cpu, fd);
}

/*
 * Not by libbpf, which enables the event at once: it would sample long before
 * the walker knows of any process.
 */
static struct error *attach(const struct bpf_program *program, int fd)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(program)))
		return walker_refused(errno, "attach a BPF program");
	return NULL;
}

struct error *walker_attach(struct walker *walker, int fd)
{
	return attach(walker->skeleton->progs.kaa_sample, fd);
}

/*
 * To no event that samples: threads and children inherit those, and with them
 * the program; and the first of the heirs that ends takes the program from the
 * tracepoint, for all (Linux 6.18: perf_event_alloc() copies event->prog, and
 * perf_event_detach_bpf_prog() looks for that in the tracepoint's list).
 */
struct error *walker_attach_tracepoint(struct walker *walker, uint64_t id)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = id,
		.disabled = 1,
	};
	int fd = perf_event_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		return walker_refused(-fd, "open a tracepoint for a BPF program");
	if (!vec_push(&walker->tracepoints, fd)) {
		close(fd);
		return error_no_memory();
	}
	return attach(walker->skeleton->progs.kaa_tracepoint, fd);
}

static struct error *watch_scheduler(const struct bpf_program *program,
				     struct bpf_link **ret)
{
	struct bpf_link *link = bpf_program__attach(program);

	if (!link)
		return walker_refused(errno, "attach to a scheduler tracepoint");
	*ret = link;
	return NULL;
}

struct error *walker_watch_exits(struct walker *walker)
{
	return watch_scheduler(walker->skeleton->progs.kaa_exit,
			       &walker->skeleton->links.kaa_exit);
}

/* --- clocks of CPUs: docs/clock.md --- */

struct error *walker_attach_clock(struct walker *walker, int fd)
{
	return attach(walker->skeleton->progs.kaa_clock_tick, fd);
}

struct error *walker_follow(struct walker *walker)
{
	struct walker_bpf *s = walker->skeleton;
	int sample = bpf_program__fd(s->progs.kaa_sample);
	uint32_t key = 0;
	struct error *error = NULL;

	if (bpf_map__update_elem(s->maps.next_program, &key, sizeof(key),
				 &sample, sizeof(sample), BPF_ANY))
		error = walker_refused(errno, "chain BPF programs");
	if (!error)
		error = watch_scheduler(s->progs.kaa_clock_exec,
					&s->links.kaa_clock_exec);
	if (!error)
		error = watch_scheduler(s->progs.kaa_clock_new_task,
					&s->links.kaa_clock_new_task);
	if (!error)
		error = walker->off_cpu ?
				watch_scheduler(s->progs.kaa_off_cpu_switch,
						&s->links.kaa_off_cpu_switch) :
				watch_scheduler(s->progs.kaa_clock_switch,
						&s->links.kaa_clock_switch);
	if (!error && walker->off_cpu)
		error = watch_scheduler(walker->off_cpu, walker->off_cpu_link);
	if (!error && walker->off_cpu == s->progs.kaa_off_cpu_rseq)
		error = watch_scheduler(s->progs.kaa_off_cpu_signal,
					&s->links.kaa_off_cpu_signal);
	return error;
}

/* --- waits: docs/off-cpu.md --- */

struct error *walker_set_off_cpu_output(struct walker *walker, int cpu, int fd)
{
	return set_output(walker->skeleton->maps.off_cpu_output, cpu, fd);
}

void walker_begin_off_cpu(struct walker *walker, uint64_t rate)
{
	struct walker_setting *setting = &walker->skeleton->bss->setting;

	setting->off_cpu_period = NS_PER_S / rate;
	setting->off_cpu_most = (uint32_t)(rate / OFF_CPU_WINDOWS) + 1;
	setting->off_cpu_from = (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

uint64_t walker_off_cpu_now(struct walker *walker, pid_t tid, uint64_t *since)
{
	uint64_t now = (uint64_t)clock_ns(CLOCK_MONOTONIC);
	uint64_t from = walker->skeleton->bss->setting.off_cpu_from;
	struct walker_task task = {};
	int fd = task_fd_open(tid), err;

	*since = 0;
	if (fd < 0)
		return 0;
	err = bpf_map__lookup_elem(walker->skeleton->maps.recorded, &fd,
				   sizeof(fd), &task, sizeof(task), 0);
	close(fd);
	if (err)
		return 0;
	*since = task.off_since;
	return waits_length(task.off_since, from, now);
}

struct error *walker_follow_thread(struct walker *walker, pid_t tid,
				   bool on_exec)
{
	const uint64_t begun = walker->skeleton->bss->setting.off_cpu_from;
	/* Where it sleeps since before waits are recorded, its own begins there, too. */
	const struct walker_task task = {
		.state = on_exec ? WALKER_ON_EXEC : WALKER_RECORDED,
		.off_since = begun ? (uint64_t)clock_ns(CLOCK_MONOTONIC) : 1,
		.run_delay = UINT64_MAX,
	};
	int fd = task_fd_open(tid), err;

	if (fd == -ESRCH)
		return NULL;
	if (fd < 0)
		return walker_refused(-fd, "name a thread to a BPF program");
	err = bpf_map__update_elem(walker->skeleton->maps.recorded, &fd,
				   sizeof(fd), &task, sizeof(task), BPF_NOEXIST);
	close(fd);
	/* It is followed already, or has ended since. */
	if (!err || err == -EEXIST || err == -ESRCH || err == -ENOENT)
		return NULL;
	return walker_refused(-err, "note a thread");
}

void walker_unfollow(struct walker *walker)
{
	struct walker_bpf *s = walker->skeleton;

	bpf_link__destroy(s->links.kaa_clock_exec);
	bpf_link__destroy(s->links.kaa_clock_new_task);
	bpf_link__destroy(s->links.kaa_clock_switch);
	bpf_link__destroy(s->links.kaa_off_cpu_switch);
	bpf_link__destroy(s->links.kaa_off_cpu_schedule);
	bpf_link__destroy(s->links.kaa_off_cpu_rseq);
	bpf_link__destroy(s->links.kaa_off_cpu_signal);
	s->links.kaa_clock_exec = s->links.kaa_clock_new_task =
		s->links.kaa_clock_switch = s->links.kaa_off_cpu_switch =
			s->links.kaa_off_cpu_schedule =
				s->links.kaa_off_cpu_rseq =
					s->links.kaa_off_cpu_signal = NULL;
}

/* The values of all CPUs of a map with one element; NULL: it cannot be read. */
static void *read_cpus(const struct bpf_map *map, size_t size, int *cpus)
{
	uint32_t key = 0;
	void *values;

	*cpus = libbpf_num_possible_cpus();
	values = *cpus > 0 ? calloc((size_t)*cpus, size) : NULL;
	if (values && bpf_map__lookup_elem(map, &key, sizeof(key), values,
					   (size_t)*cpus * size, 0)) {
		free(values);
		return NULL;
	}
	return values;
}

void walker_clocks(struct walker *walker, const int *cpus, size_t count,
		   struct walker_clock *ret)
{
	int all;
	_cleanup_free_ struct walker_clock *values = read_cpus(
		walker->skeleton->maps.clocks, sizeof(*values), &all);

	*ret = (struct walker_clock){};
	for (int i = 0; values && i < all; i++)
		ret->missed += values[i].missed;
	for (size_t i = 0; values && i < count; i++)
		if (cpus[i] >= 0 && cpus[i] < all)
			ret->counted += values[cpus[i]].counted;
}

void walker_detach_tracepoints(struct walker *walker)
{
	vec_for_each(fd, &walker->tracepoints)
		close(*fd);
	vec_clear(&walker->tracepoints);
}

struct error *walker_add_process(struct walker *walker, uint32_t pid,
				 const struct walker_process *process)
{
	struct walker_process added = *process;

	added.birth = 0;
	added.era = ++walker->eras;
	if (bpf_map__update_elem(walker->skeleton->maps.processes, &pid,
				 sizeof(pid), &added, sizeof(added), BPF_ANY))
		return errno == E2BIG ?
			       error_create(ERROR_LIMIT,
					    "there are already %d Python processes, so the Python frames of this one are missing",
					    WALKER_MAX_PROCESSES) :
			       walker_refused(errno, "describe a process");
	return NULL;
}

void walker_tell_switches(struct walker *walker, uint32_t pid,
			  const struct walker_switches *switches)
{
	struct bpf_map *map = walker->skeleton->maps.processes;
	struct walker_process process;

	if (bpf_map__lookup_elem(map, &pid, sizeof(pid), &process,
				 sizeof(process), 0))
		return;
	process.switches = *switches;
	/* Unless it has called exec, or ended, since. */
	bpf_map__update_elem(map, &pid, sizeof(pid), &process, sizeof(process),
			     BPF_EXIST);
}

void walker_remove_process(struct walker *walker, uint32_t pid)
{
	bpf_map__delete_elem(walker->skeleton->maps.processes, &pid,
			     sizeof(pid), 0);
}

void walker_read_stacks(struct walker *walker, uint32_t stack_size,
			size_t ring_size)
{
	struct walker_setting *setting = &walker->skeleton->bss->setting;

	setting->stack_size = stack_size;
	setting->new_pages =
		(uint32_t)(ring_size / 8 / sizeof(struct walker_bytes)) + 1;
}

void walker_next_epoch(struct walker *walker)
{
	walker->skeleton->bss->setting.epoch++;
}

void walker_counters(struct walker *walker, struct walker_counters *ret)
{
	int cpus;
	_cleanup_free_ struct walker_counters *values = read_cpus(
		walker->skeleton->maps.counters, sizeof(*values), &cpus);

	*ret = (struct walker_counters){};
	for (int i = 0; values && i < cpus; i++) {
		ret->samples += values[i].samples;
		ret->stacks += values[i].stacks;
		ret->no_thread += values[i].no_thread;
		ret->lost += values[i].lost;
	}
}
