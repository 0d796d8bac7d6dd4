// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "cmd/doctor.h"
#include "cmd/doctor_fact.h"
#include "collect/python_source.h"
#include "sys/capability.h"

static bool have(const struct machine *m, int cap)
{
	return m->capabilities &
	       (CAPABILITY_BIT(cap) | CAPABILITY_BIT(CAP_SYS_ADMIN));
}

static void tell_user(const struct doctor *doctor)
{
	static const int caps[] = { CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN,
				    CAP_SYS_PTRACE, CAP_SYSLOG };
	const struct machine *m = &doctor->machine;
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++) {
		if (m->capabilities & CAPABILITY_BIT(caps[i]))
			strbuf_printf(&names, " %s", capability_name(caps[i]));
	}
	if (doctor->invoker.present)
		doctor_fact(MARK_OK,
			    "user: root through sudo, called by %s; programs run as %s",
			    doctor->invoker.user, doctor->invoker.user);
	else
		doctor_fact(MARK_NOTE, "user: uid %u", m->euid);
	doctor_fact(have(m, CAP_PERFMON) && have(m, CAP_BPF) ? MARK_OK :
							       MARK_NO,
		    "capabilities:%s", names.len ? names.data : " none");
}

/* What the setting means for this process. */
static const char *paranoid_text(const struct machine *m)
{
	int64_t value = m->perf_event_paranoid.value;

	if (have(m, CAP_PERFMON))
		return "no limit, because you have CAP_PERFMON";
	if (value >= 3)
		return "you may not record any event";
	if (value == 2)
		return "you may record your own processes, without the kernel (:u)";
	if (value == 1)
		return "you may record your own processes, with the kernel";
	if (value == 0)
		return "you may record whole CPUs, too, but no tracepoint data";
	return "you may record everything";
}

static void tell_paranoid(const struct machine *m)
{
	const struct setting *s = &m->perf_event_paranoid;

	if (!s->known) {
		doctor_fact(MARK_NO,
			    "kernel.perf_event_paranoid does not exist: this kernel or container has no perf events");
		return;
	}
	doctor_fact(have(m, CAP_PERFMON) || s->value <= 1 ? MARK_OK :
		    s->value == 2			   ? MARK_WARN :
							     MARK_NO,
		    "kernel.perf_event_paranoid = %" PRId64 ": %s", s->value,
		    paranoid_text(m));
}

static void tell_attempt(int errnum, const char *what)
{
	if (errnum == 0)
		doctor_fact(MARK_OK, "%s: can be recorded", what);
	else
		doctor_fact(MARK_NO, "%s: cannot be recorded: %s", what, strerror(errnum));
}

static void tell_events(const struct machine *m)
{
	tell_paranoid(m);
	tell_attempt(m->try_user_event, "events of your processes, user space");
	tell_attempt(m->try_kernel_event,
		     "events of your processes, with the kernel");
	tell_attempt(m->try_cpu_event, "events of whole CPUs (-a)");
	if (m->try_cycles == 0)
		doctor_fact(MARK_OK, "hardware counters (PMU): yes, the event cycles works");
	else if (m->pmu)
		doctor_fact(MARK_WARN,
			    "hardware counters (PMU): yes, but the event cycles fails: %s",
			    strerror(m->try_cycles));
	else
		doctor_fact(MARK_WARN,
			    "hardware counters (PMU): none; kaa record samples cpu-clock instead of cycles");
}

static void tell_limits(const struct machine *m)
{
	const struct setting *stack = &m->perf_event_max_stack;
	const struct setting *mlock = &m->perf_event_mlock_kb;

	if (stack->known)
		doctor_fact(stack->value >= 127 ? MARK_OK : MARK_WARN,
			    "kernel.perf_event_max_stack = %" PRId64
			    ": the most frames that the kernel records in a callchain",
			    stack->value);
	if (!mlock->known)
		return;
	if (m->memlock == UINT64_MAX)
		doctor_fact(MARK_OK,
			    "kernel.perf_event_mlock_kb = %" PRId64
			    ", ulimit -l unlimited: limits of the memory for sample buffers",
			    mlock->value);
	else
		doctor_fact(MARK_OK,
			    "kernel.perf_event_mlock_kb = %" PRId64
			    ", ulimit -l %" PRIu64
			    " KiB: limits of the memory for sample buffers",
			    mlock->value, m->memlock >> 10);
}

/* As kallsyms_show_value() decides (kernel/ksyms_common.c). */
static void tell_symbols(const struct machine *m)
{
	const struct setting *s = &m->kptr_restrict;
	bool by_paranoid = m->perf_event_paranoid.known &&
			   m->perf_event_paranoid.value <= 1;
	bool names = (s->value == 0 && by_paranoid) ||
		     (s->value <= 1 && have(m, CAP_SYSLOG));

	if (!s->known)
		return;
	if (!names && s->value == 0) {
		doctor_fact(MARK_WARN,
			    "kernel.kptr_restrict = 0: kernel functions have names only for root, unless kernel.perf_event_paranoid is 1 or less");
		return;
	}
	doctor_fact(names ? MARK_OK : MARK_WARN,
		    "kernel.kptr_restrict = %" PRId64 ": %s", s->value,
		    names	  ? "kernel functions have names" :
		    s->value == 1 ? "kernel functions have names only for root" :
				    "kernel functions have no names");
}

static void tell_ptrace(const struct machine *m)
{
	static const struct {
		enum mark mark;
		const char *meaning;
	} scopes[] = {
		{ MARK_OK, "kaa can read the memory of your processes" },
		{ MARK_WARN,
		  "kaa can read the memory of processes that it starts, but of no others" },
		{ MARK_WARN, "kaa needs CAP_SYS_PTRACE to read the memory of a process" },
		{ MARK_NO, "kaa cannot read the memory of any process" },
	};
	const struct setting *s = &m->ptrace_scope;
	bool root = m->capabilities & CAPABILITY_BIT(CAP_SYS_PTRACE);

	if (!s->known)
		doctor_fact(MARK_OK,
			    "kernel.yama.ptrace_scope does not exist in this kernel: kaa can read the memory of your processes");
	else if (root && s->value < 3)
		doctor_fact(MARK_OK,
			    "kernel.yama.ptrace_scope = %" PRId64
			    ": no limit, because you have CAP_SYS_PTRACE",
			    s->value);
	else if (s->value >= 0 && s->value <= 3)
		doctor_fact(scopes[s->value].mark,
			    "kernel.yama.ptrace_scope = %" PRId64 ": %s",
			    s->value, scopes[s->value].meaning);
}

static void tell_bpf(const struct machine *m)
{
	if (m->try_bpf == 0)
		doctor_fact(MARK_OK, "BPF: programs for perf events can be loaded");
	else
		doctor_fact(MARK_NO, "BPF: programs for perf events cannot be loaded: %s",
			    strerror(m->try_bpf));
	if (m->unprivileged_bpf_disabled.known)
		doctor_fact(MARK_NOTE,
			    "kernel.unprivileged_bpf_disabled = %" PRId64,
			    m->unprivileged_bpf_disabled.value);
	doctor_fact(m->btf ? MARK_OK : MARK_NO, "BTF: /sys/kernel/btf/vmlinux %s",
		    m->btf ? "exists" :
			     "is missing (kernel option CONFIG_DEBUG_INFO_BTF)");
}

/* That which `kaa record` will use, in python_sources. */
static const struct python_source *const *source_of(const struct machine *m)
{
	const struct python_source *const *source = python_sources;
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	while (!(*source)->probe(m, &why))
		source++;
	return source;
}

void doctor_ready(const struct doctor *doctor)
{
	const struct machine *m = &doctor->machine;
	const struct python_source *source = *source_of(m);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	switch (source->grade) {
	case SOURCE_EXACT:
		strbuf_printf(&text,
			      "Ready: '%skaa record' shows Python functions and lines, native functions and the kernel's.",
			      doctor->invoker.present ? "sudo " : "");
		break;
	case SOURCE_LIMITED:
		strbuf_printf(&text, "Ready, within limits: %s.",
			      source->summary);
		if (m->euid != 0)
			strbuf_puts(&text,
				    " 'sudo kaa record' has no such limits.");
		break;
	default:
		strbuf_puts(&text,
			    "Not ready: 'kaa record' shows no Python functions here. The lines marked 'no' say why.");
	}
	doctor_verdict(text.data);
}

/* That source, and why it is none of those before it. */
static void tell_source(const struct machine *m)
{
	static const enum mark marks[] = {
		[SOURCE_EXACT] = MARK_OK,
		[SOURCE_LIMITED] = MARK_WARN,
		[SOURCE_NO_FRAMES] = MARK_NO,
	};
	const struct python_source *const *source = source_of(m);
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	doctor_section("Python frames");
	doctor_fact(marks[(*source)->grade], "source: %s%s %s", (*source)->name,
		    (*source)->grade == SOURCE_NO_FRAMES ? ";" : ",",
		    (*source)->summary);
	for (size_t i = 0; python_sources[i] != *source; i++) {
		strbuf_clear(&why);
		python_sources[i]->probe(m, &why);
		if (why.len)
			doctor_fact(MARK_NO, "source %s is not available: %s",
				    python_sources[i]->name, why.data);
	}
	if ((*source)->grade != SOURCE_EXACT && m->euid != 0)
		doctor_fact(MARK_NOTE,
			    "'kaa doctor --fix' prints what makes root unnecessary");
}

void doctor_machine(const struct doctor *doctor)
{
	const struct machine *m = &doctor->machine;

	doctor_section("Machine");
	doctor_fact(machine_kernel_at_least(m, 5, 17) ? MARK_OK : MARK_WARN,
		    "kernel %s, %s", m->release, m->arch);
	tell_user(doctor);
	tell_events(m);
	tell_limits(m);
	tell_symbols(m);
	tell_ptrace(m);
	tell_bpf(m);
	tell_source(m);
}
