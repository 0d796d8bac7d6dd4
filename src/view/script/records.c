// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/records.h"

#include <inttypes.h>
#include <sys/mman.h>

#include "obj/build_id.h"
#include "view/script/put.h"

bool script_shows_any(const struct script_shown *s)
{
	return s->tasks || s->mmaps || s->namespaces || s->switches ||
	       s->lost || s->bpf || s->cgroups;
}

bool script_shows(const struct script_shown *shown, uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return shown->tasks;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return shown->mmaps;
	case PERF_RECORD_NAMESPACES:
		return shown->namespaces;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return shown->switches;
	case PERF_RECORD_LOST:
		return shown->lost;
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
		return shown->bpf;
	case PERF_RECORD_CGROUP:
		return shown->cgroups;
	default:
		return false;
	}
}

void script_record_task(const struct record *record, uint32_t *pid,
			uint32_t *tid)
{
	*pid = record->pid;
	*tid = record->tid;
	switch (record->type) {
	case PERF_RECORD_COMM:
		*pid = record->comm.pid;
		*tid = record->comm.tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		*pid = record->task.pid;
		*tid = record->task.tid;
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		*pid = record->mmap.pid;
		*tid = record->mmap.tid;
		break;
	case PERF_RECORD_NAMESPACES:
		*pid = record->namespaces.pid;
		*tid = record->namespaces.tid;
		break;
	default:
		break;
	}
}

static void put_comm(struct strbuf *out, const struct record *record)
{
	strbuf_printf(out, "%s: ",
		      record->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "");
	script_put_name(out, record->comm.comm);
	strbuf_printf(out, ":%" PRId32 "/%" PRId32 "\n",
		      (int32_t)record->comm.pid, (int32_t)record->comm.tid);
}

static void put_task(struct strbuf *out, const struct record_task *task)
{
	strbuf_printf(out, "(%" PRId32 ":%" PRId32 "):(%" PRId32 ":%" PRId32
			   ")\n",
		      (int32_t)task->pid, (int32_t)task->tid,
		      (int32_t)task->ppid, (int32_t)task->ptid);
}

/* printf's %#x has no 0x before a zero. */
static void put_number(struct strbuf *out, uint64_t value)
{
	strbuf_printf(out, "%#" PRIx64, value);
}

static void put_range(struct strbuf *out, const struct record_mmap *m)
{
	strbuf_printf(out, " %" PRId32 "/%" PRId32 ": [", (int32_t)m->pid,
		      (int32_t)m->tid);
	put_number(out, m->start);
	strbuf_putc(out, '(');
	put_number(out, m->len);
	strbuf_puts(out, ") @ ");
	put_number(out, m->pgoff);
}

static void put_mmap(struct strbuf *out, const struct record *record)
{
	put_range(out, &record->mmap);
	strbuf_printf(out, "]: %c ",
		      record->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	script_put_name(out, record->mmap.filename);
	strbuf_putc(out, '\n');
}

static void put_build_id(struct strbuf *out, const struct record_mmap *m)
{
	struct build_id id = build_id_from_bytes(m->build_id, m->build_id_size);
	char text[BUILD_ID_TEXT_SIZE];

	build_id_format(&id, text);
	strbuf_printf(out, " <%s>", text);
}

static void put_mmap2(struct strbuf *out, const struct record *record)
{
	const struct record_mmap *m = &record->mmap;

	put_range(out, m);
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		put_build_id(out, m);
	else
		strbuf_printf(out, " %02x:%02x %" PRIu64 " %" PRIu64, m->maj,
			      m->min, m->ino, m->ino_generation);
	strbuf_printf(out, "]: %c%c%c%c ", m->prot & PROT_READ ? 'r' : '-',
		      m->prot & PROT_WRITE ? 'w' : '-',
		      m->prot & PROT_EXEC ? 'x' : '-',
		      m->flags & MAP_SHARED ? 's' : 'p');
	script_put_name(out, m->filename);
	strbuf_putc(out, '\n');
}

static void put_namespaces(struct strbuf *out,
			   const struct record_namespaces *n)
{
	static const char *const names[] = { "net",  "uts", "ipc",   "pid",
					     "user", "mnt", "cgroup" };

	strbuf_printf(out,
		      " %" PRId32 "/%" PRId32 " - nr_namespaces: %" PRIu64
		      "\n\t\t[",
		      (int32_t)n->pid, (int32_t)n->tid, n->count);
	for (uint64_t i = 0; i < n->count; i++) {
		if (i && i % 4 == 0)
			strbuf_puts(out, "\n\t\t ");
		strbuf_printf(out, "%" PRIu64 "/%s: %" PRIu64 "/%#" PRIx64 "%s",
			      i,
			      i < sizeof(names) / sizeof(*names) ? names[i] :
								   "unknown",
			      n->links[2 * i], n->links[2 * i + 1],
			      i + 1 < n->count ? ", " : "]\n");
	}
}

static void put_switch(struct strbuf *out, const struct record *record)
{
	const struct record_switch *s = &record->context_switch;
	bool leaves = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	strbuf_printf(out, " %s",
		      !leaves	  ? "IN         " :
		      !preempted ? "OUT        " :
				   "OUT preempt");
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		strbuf_printf(out, "  %s pid/tid: %5" PRId32 "/%-5" PRId32,
			      leaves ? "next" : "prev",
			      (int32_t)s->next_prev_pid,
			      (int32_t)s->next_prev_tid);
	strbuf_putc(out, '\n');
}

static void put_ksymbol(struct strbuf *out, const struct record_ksymbol *k)
{
	strbuf_printf(out, " addr %" PRIx64 " len %u type %u flags 0x%x name ",
		      k->addr, k->len, k->ksym_type, k->flags);
	script_put_name(out, k->name);
	strbuf_putc(out, '\n');
}

static void put_cgroup(struct strbuf *out, const struct record_cgroup *cgroup)
{
	strbuf_printf(out, " cgroup: %" PRIu64 " ", cgroup->id);
	script_put_name(out, cgroup->path);
	strbuf_putc(out, '\n');
}

void script_put_record(struct strbuf *out, const struct record *record)
{
	strbuf_printf(out, "PERF_RECORD_%s", perfdata_type_name(record->type));
	switch (record->type) {
	case PERF_RECORD_COMM:
		return put_comm(out, record);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return put_task(out, &record->task);
	case PERF_RECORD_MMAP:
		return put_mmap(out, record);
	case PERF_RECORD_MMAP2:
		return put_mmap2(out, record);
	case PERF_RECORD_NAMESPACES:
		return put_namespaces(out, &record->namespaces);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return put_switch(out, record);
	case PERF_RECORD_KSYMBOL:
		return put_ksymbol(out, &record->ksymbol);
	case PERF_RECORD_CGROUP:
		return put_cgroup(out, &record->cgroup);
	case PERF_RECORD_LOST:
		strbuf_printf(out, " lost %" PRIu64 "\n", record->lost.lost);
		return;
	case PERF_RECORD_BPF_EVENT:
		strbuf_printf(out, " type %u, flags %u, id %u\n",
			      record->bpf_event.event_type,
			      record->bpf_event.flags,
			      record->bpf_event.prog_id);
		return;
	default:
		strbuf_putc(out, '\n');
	}
}
