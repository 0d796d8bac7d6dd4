// SPDX-License-Identifier: GPL-2.0-only
#include "sys/capability.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME(cap) [cap] = #cap
static const char *const names[] = {
	NAME(CAP_CHOWN),
	NAME(CAP_DAC_OVERRIDE),
	NAME(CAP_DAC_READ_SEARCH),
	NAME(CAP_FOWNER),
	NAME(CAP_KILL),
	NAME(CAP_SETGID),
	NAME(CAP_SETUID),
	NAME(CAP_SETPCAP),
	NAME(CAP_IPC_LOCK),
	NAME(CAP_SYS_CHROOT),
	NAME(CAP_SYS_PTRACE),
	NAME(CAP_SYS_ADMIN),
	NAME(CAP_SYS_RESOURCE),
	NAME(CAP_SYSLOG),
	NAME(CAP_PERFMON),
	NAME(CAP_BPF),
	NAME(CAP_CHECKPOINT_RESTORE),
};
#undef NAME

static uint64_t join(uint32_t low, uint32_t high)
{
	return low | (uint64_t)high << 32;
}

int capabilities_read(struct capabilities *ret)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	*ret = (struct capabilities){
		.effective = join(data[0].effective, data[1].effective),
		.permitted = join(data[0].permitted, data[1].permitted),
		.inheritable = join(data[0].inheritable, data[1].inheritable),
	};
	return 0;
}

bool capability_have(int cap)
{
	struct capabilities now;

	return capabilities_read(&now) == 0 &&
	       (now.effective & CAPABILITY_BIT(cap));
}

/* Best effort: needs CAP_SETPCAP, and matters only for later execs. */
static void drop_bounding(uint64_t kept)
{
	for (int cap = 0; cap < 64; cap++) {
		if (!(kept & CAPABILITY_BIT(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	}
}

int capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)kept, .permitted = (uint32_t)kept },
		{ .effective = (uint32_t)(kept >> 32),
		  .permitted = (uint32_t)(kept >> 32) },
	};
	struct capabilities now;
	int r = capabilities_read(&now);

	if (r < 0)
		return r;
	if (kept & ~now.permitted)
		return -EPERM;
	drop_bounding(kept);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return -errno;
	if (syscall(SYS_capset, &header, data) != 0)
		return -errno;
	return 0;
}

const char *capability_name(int cap)
{
	if (cap < 0 || (size_t)cap >= sizeof(names) / sizeof(*names))
		return NULL;
	return names[cap];
}
