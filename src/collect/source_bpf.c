// SPDX-License-Identifier: GPL-2.0-only
#include "collect/source_bpf.h"

#include <errno.h>
#include <string.h>

static void add_reason(struct strbuf *why, const char *reason)
{
	strbuf_printf(why, "%s%s", why->len ? "; " : "", reason);
}

static bool probe(const struct machine *m, struct strbuf *why)
{
	size_t before = why->len;

	if (strcmp(m->arch, "x86_64") != 0)
		add_reason(why, "kaa supports only x86_64");
	if (!machine_kernel_at_least(m, 5, 17))
		add_reason(why, "the kernel is older than 5.17");
	if (m->try_bpf == EPERM || m->try_bpf == EACCES)
		add_reason(
			why,
			"kaa needs CAP_BPF and CAP_PERFMON (run kaa under sudo, or run 'sudo setcap cap_bpf,cap_perfmon+ep' on its file)");
	else if (m->try_bpf != 0)
		add_reason(why, "this kernel or container forbids BPF");
	if (m->try_bpf == 0 && m->try_user_event != 0)
		add_reason(why, "perf events cannot be opened");
	if (!m->btf)
		add_reason(why,
			   "the kernel was built without CONFIG_DEBUG_INFO_BTF");
	return why->len == before;
}

const struct python_source python_source_bpf = {
	.name = "bpf",
	.title = "BPF",
	.summary = "exact at each sample; the program is not changed",
	.grade = SOURCE_EXACT,
	.probe = probe,
};
