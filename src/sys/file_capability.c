// SPDX-License-Identifier: GPL-2.0-only
#include "sys/file_capability.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/xattr.h>

int file_capabilities_read(const char *path, uint64_t *ret)
{
	/* That of revision 2 is this without its last field. */
	struct vfs_ns_cap_data data = {};
	ssize_t size = getxattr(path, "security.capability", &data,
				sizeof(data));
	uint32_t magic = le32toh(data.magic_etc);

	if (size < 0 && errno != ENODATA)
		return -errno;
	*ret = 0;
	/* Revision 1 has sets of 32 bits, which lack those that kaa needs. */
	if (size >= (ssize_t)XATTR_CAPS_SZ_2 &&
	    (magic & VFS_CAP_FLAGS_EFFECTIVE))
		*ret = le32toh(data.data[0].permitted) |
		       (uint64_t)le32toh(data.data[1].permitted) << 32;
	return 0;
}

bool file_capabilities_ignored(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && (fs.f_flag & ST_NOSUID);
}

bool capability_allowed(int cap)
{
	return prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1;
}
