// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/file_owner.h"

#include <unistd.h>

#include "sys/invoker.h"

bool file_owner_is_user(uid_t owner)
{
	struct invoker invoker = {};
	struct error *error;
	bool is;

	if (owner == geteuid())
		return true;
	error = invoker_detect(&invoker);
	is = !error && invoker.present && invoker.uid == owner;
	error_destroy(error);
	invoker_deinit(&invoker);
	return is;
}
