// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/framework/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "convert/convert.h"

enum {
	/* Faster than this needs no line; ms. */
	PATIENCE = 400,
	WIDTH = 40,
};

static void draw(struct progress *progress, unsigned int percent)
{
	char bar[WIDTH + 1];
	unsigned int full = percent * WIDTH / 100;

	memset(bar, ' ', WIDTH);
	memset(bar, '#', full < WIDTH ? full : WIDTH);
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r%s [%s] %3u%%", progress->what, bar, percent);
	fflush(stderr);
	progress->shown = true;
	progress->percent = percent;
}

void progress_see(void *arg, uint64_t done, uint64_t size)
{
	struct progress *progress = arg;
	unsigned int percent = size ? (unsigned int)(100.0 * (double)done /
						     (double)size)
				    : 0;

	if (!progress->is_terminal || !size || percent > 100 ||
	    (progress->shown && percent == progress->percent))
		return;
	if (progress->shown || clock_ms() - progress->started > PATIENCE)
		draw(progress, percent);
}

void progress_start_as(struct progress *progress, const char *what)
{
	*progress = (struct progress){ .is_terminal = isatty(STDERR_FILENO),
				       .what = what,
				       .started = clock_ms() };
}

void progress_start(struct progress *progress, struct convert_options *options)
{
	progress_start_as(progress, "reading");
	if (!progress->is_terminal)
		return;
	options->progress = progress_see;
	options->progress_arg = progress;
}

void progress_end(struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	fflush(stderr);
	progress->shown = false;
}
