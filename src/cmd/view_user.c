// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/view_user.h"

#include <unistd.h>

#include "sys/invoker.h"
#include "sys/privilege.h"

/* The overflow ids of Linux, which are nobody's everywhere. */
enum { NOBODY = 65534 };

struct error *view_user_become(void)
{
	/* The environment is the process's from now on. */
	static struct invoker invoker;
	struct error *error;
	int err;

	if (geteuid())
		return NULL;
	error = invoker_detect(&invoker);
	if (error)
		return error;
	err = privilege_become(&invoker);
	if (!err)
		err = invoker_set_environment(&invoker, NULL);
	return err ? error_os(-err, NULL, "cannot become user %s",
			      invoker.user ? invoker.user : "") :
		     NULL;
}

struct error *view_user_leave_root(void)
{
	const struct invoker nobody = { .present = true,
					.uid = NOBODY,
					.gid = NOBODY,
					.user = (char *)"nobody" };
	int err = geteuid() ? 0 : privilege_become(&nobody);

	return err ? error_os(-err, NULL, "cannot drop the rights of root") :
		     NULL;
}
