// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/doctor_fix.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/capability.h"
#include "sys/file_capability.h"
#include "sys/own_program.h"
#include "view/shell_word.h"

#define NEEDED (CAPABILITY_BIT(CAP_BPF) | CAPABILITY_BIT(CAP_PERFMON))

enum { KERNEL_PARANOID = 2 };

void fix_command_format(const struct fix_command *command, struct strbuf *out)
{
	for (const char *const *word = command->words; *word; word++) {
		strbuf_puts(out, word == command->words ? "" : " ");
		shell_word(*word, out);
	}
}

/* The words end with a NULL. */
static void __attribute__((sentinel))
add(struct fix_commands *commands, const char *word, ...)
{
	struct fix_command *command = &commands->list[commands->count++];
	va_list more;

	va_start(more, word);
	for (size_t i = 0; word && i + 1 < FIX_WORDS_MAX; i++) {
		command->words[i] = word;
		word = va_arg(more, const char *);
	}
	va_end(more);
}

/* Names that every tool takes for a group and nothing else. */
static bool is_group_name(const char *name)
{
	const char *const start = "abcdefghijklmnopqrstuvwxyz_";
	const char *const other = "abcdefghijklmnopqrstuvwxyz_0123456789-";

	return *name && strchr(start, *name) &&
	       !name[strspn(name, other)] && strlen(name) <= 32;
}

/* The user behind sudo, or who runs kaa; false if that is root alone. */
static bool find_user(struct fix *fix, gid_t *gid)
{
	const struct invoker *invoker = &fix->doctor->invoker;
	const struct passwd *user;

	if (!invoker->present && getuid() == 0)
		return false;
	user = getpwuid(invoker->present ? invoker->uid : getuid());
	if (!user || snprintf(fix->user, sizeof(fix->user), "%s",
			      user->pw_name) >= (int)sizeof(fix->user))
		return false;
	*gid = user->pw_gid;
	return true;
}

static bool is_member(const char *user, gid_t own, const struct group *group)
{
	gid_t groups[NGROUPS_MAX];
	int count = NGROUPS_MAX;

	if (getgrouplist(user, own, groups, &count) < 0)
		return false;
	for (int i = 0; i < count; i++)
		if (groups[i] == group->gr_gid)
			return true;
	return false;
}

/* The user in the group, which there may not be yet. */
static void plan_member(struct fix *fix)
{
	const struct group *group = getgrnam(fix->group);
	gid_t gid = 0;
	bool joins = find_user(fix, &gid) &&
		     !(group && is_member(fix->user, gid, group));

	if (!group)
		add(&fix->todo, "groupadd", fix->group, NULL);
	if (joins)
		add(&fix->todo, "usermod", "-aG", fix->group, fix->user, NULL);
	if (!group)
		add(&fix->undo, "groupdel", fix->group, NULL);
	else if (joins)
		add(&fix->undo, "gpasswd", "-d", fix->user, fix->group, NULL);
}

/* The file for the members of the group alone. */
static void plan_group(struct fix *fix)
{
	snprintf(fix->new_owner, sizeof(fix->new_owner), "root:%s", fix->group);
	snprintf(fix->owner, sizeof(fix->owner), "%u:%u", fix->stat.st_uid,
		 fix->stat.st_gid);
	snprintf(fix->mode, sizeof(fix->mode), "%o",
		 fix->stat.st_mode & 07777);
	add(&fix->undo, "chown", fix->owner, fix->file, NULL);
	add(&fix->undo, "chmod", fix->mode, fix->file, NULL);
	plan_member(fix);
	add(&fix->todo, "chown", fix->new_owner, fix->file, NULL);
	add(&fix->todo, "chmod", "750", fix->file, NULL);
}

/* A new owner takes the capabilities away: they come last, and go first. */
static void plan_file(struct fix *fix)
{
	fix->kind = FIX_FILE;
	add(&fix->undo, "setcap", "-r", fix->file, NULL);
	if (fix->group)
		plan_group(fix);
	add(&fix->todo, "setcap", FIX_CAPABILITIES, fix->file, NULL);
}

static void plan_paranoid(struct fix *fix)
{
	const struct setting *now = &fix->doctor->machine.perf_event_paranoid;

	fix->kind = FIX_NOTHING;
	if (!now->known || now->value <= KERNEL_PARANOID)
		return;
	fix->kind = FIX_PARANOID;
	snprintf(fix->paranoid, sizeof(fix->paranoid),
		 "kernel.perf_event_paranoid=%d", KERNEL_PARANOID);
	snprintf(fix->old_paranoid, sizeof(fix->old_paranoid),
		 "kernel.perf_event_paranoid=%" PRId64, now->value);
	add(&fix->todo, "sysctl", fix->paranoid, NULL);
	add(&fix->undo, "sysctl", fix->old_paranoid, NULL);
}

/* Says in fix->why_not why capabilities of the file would not help. */
static void find_obstacle(struct fix *fix, int errnum)
{
	const struct machine *m = &fix->doctor->machine;

	if (fix->stat.st_nlink > 1)
		strbuf_puts(
			&fix->why_not,
			"Its file has other names (hard links), which would have them, too. Put a copy in its place (cp kaa kaa.new && mv kaa.new kaa), and try again.");
	else if (file_capabilities_ignored(fix->file))
		strbuf_puts(
			&fix->why_not,
			"Its file system is mounted with nosuid, so the kernel ignores them. Install kaa on another one, such as that of /usr/local.");
	else if (errnum == EOPNOTSUPP)
		strbuf_puts(
			&fix->why_not,
			"Its file system cannot keep them. Install kaa on another one, such as that of /usr/local.");
	else if (errnum)
		strbuf_printf(&fix->why_not,
			      "It cannot be read which it has: %s.",
			      strerror(errnum));
	else if (!capability_allowed(CAP_BPF) ||
		 !capability_allowed(CAP_PERFMON))
		strbuf_puts(
			&fix->why_not,
			"This container forbids CAP_BPF or CAP_PERFMON, and a file that has them cannot be started. Start the container with both (docker run --cap-add BPF --cap-add PERFMON).");
	else if (!machine_kernel_at_least(m, 5, 17) || !m->btf)
		strbuf_puts(
			&fix->why_not,
			"This kernel is older than 5.17 or lacks BTF, so kaa cannot read Python's frames from it even as root.");
}

struct error *fix_plan(const struct doctor *doctor, const char *group,
		       struct fix *ret)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	struct error *error;
	int err;

	if (group && !is_group_name(group))
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a name for a group", group);
	error = own_program_path(&file);
	if (error)
		return error;
	*ret = (struct fix){ .doctor = doctor,
			     .group = group,
			     .why_not = STRBUF_INIT };
	ret->file = strbuf_take(&file);
	if (!ret->file)
		return error_no_memory();
	if (stat(ret->file, &ret->stat) != 0)
		return error_os(errno, ret->file, "cannot find the file of kaa");
	err = file_capabilities_read(ret->file, &ret->has);
	find_obstacle(ret, -err);
	if (ret->why_not.len)
		plan_paranoid(ret);
	else
		plan_file(ret);
	if (ret->kind == FIX_FILE && !group && !(NEEDED & ~ret->has))
		ret->kind = FIX_DONE;
	return strbuf_error(&ret->why_not);
}

void fix_deinit(struct fix *fix)
{
	strbuf_deinit(&fix->why_not);
	free(fix->file);
}
