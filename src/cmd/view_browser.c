// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/view_browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "collect/launch.h"

#define OPENER "xdg-open"

extern char **environ;

/* A folder of the session, which is the user's alone, or else a new one in /tmp. */
static char *make_folder(void)
{
	const char *session = getenv("XDG_RUNTIME_DIR");
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	char *folder;

	strbuf_printf(&path, "%s/kaa-view-XXXXXX",
		      session && *session == '/' ? session : "/tmp");
	folder = strbuf_take(&path);
	if (folder && mkdtemp(folder))
		return folder;
	free(folder);
	return NULL;
}

static bool write_link(const char *path, const char *link)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return false;
	fprintf(out,
		"<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=%s\"><title>kaa</title>\n",
		link);
	return !fclose(out);
}

/* It says what it likes, and ends by itself: a child of a child, so that nobody waits. */
static bool spawn(const char *path)
{
	char *const words[] = { (char *)"sh", (char *)"-c",
				(char *)OPENER " \"$1\" >/dev/null 2>&1 </dev/null &",
				(char *)"sh", (char *)path, NULL };
	pid_t pid;
	int status;

	return !posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ) &&
	       waitpid(pid, &status, 0) == pid && !status;
}

static bool has_desktop(void)
{
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	_cleanup_free_ char *opener = NULL;
	_cleanup_error_ struct error *error = NULL;

	if (!(x11 && *x11) && !(wayland && *wayland))
		return false;
	error = launch_find(OPENER, NULL, &opener);
	return !error;
}

bool view_browser_open(struct view_browser *browser, const char *link)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	if (!has_desktop())
		return false;
	browser->folder = make_folder();
	if (!browser->folder)
		return false;
	strbuf_printf(&path, "%s/open.html", browser->folder);
	browser->file = strbuf_take(&path);
	return browser->file && write_link(browser->file, link) &&
	       spawn(browser->file);
}

void view_browser_deinit(struct view_browser *browser)
{
	if (browser->file)
		unlink(browser->file);
	if (browser->folder)
		rmdir(browser->folder);
	free(browser->file);
	free(browser->folder);
	*browser = (struct view_browser){};
}
