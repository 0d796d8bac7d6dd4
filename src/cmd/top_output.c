// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/top_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { KEPT = 64 << 10 };

struct top_output {
	pthread_t thread;
	int read_fd;
	/* Closing the second ends the thread. */
	int stop[2];
	/* Of the thread, until it has ended. */
	uint64_t total;
	char bytes[KEPT];
};

static void keep(struct top_output *o, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		o->bytes[o->total++ % KEPT] = bytes[i];
}

/* False: there will be no more, or not now. */
static bool read_some(struct top_output *o)
{
	char bytes[16 << 10];
	ssize_t n = read(o->read_fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR;
	keep(o, bytes, (size_t)n);
	return n > 0;
}

static void *reader(void *arg)
{
	struct top_output *o = arg;
	struct pollfd fds[2] = { { .fd = o->read_fd, .events = POLLIN },
				 { .fd = o->stop[0], .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		/* What is there before the end counts. */
		if (fds[0].revents & POLLIN) {
			read_some(o);
			continue;
		}
		if (fds[0].revents || fds[1].revents)
			break;
	}
	return NULL;
}

static int start(struct top_output *o)
{
	sigset_t all, before;
	int errnum;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errnum = pthread_create(&o->thread, NULL, reader, o);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}

struct error *top_output_open(struct top_output **ret, int *write_fd)
{
	struct top_output *o = calloc(1, sizeof(*o));
	_cleanup_close_ int in = -1, out = -1;
	int ends[2], errnum;

	if (!o)
		return error_no_memory();
	if (pipe2(ends, O_CLOEXEC)) {
		free(o);
		return error_os(errno, NULL, "cannot make a pipe");
	}
	in = ends[0];
	out = ends[1];
	if (pipe2(o->stop, O_CLOEXEC)) {
		free(o);
		return error_os(errno, NULL, "cannot make a pipe");
	}
	fcntl(in, F_SETFL, O_NONBLOCK);
	o->read_fd = in;
	errnum = start(o);
	if (errnum) {
		close(o->stop[0]);
		close(o->stop[1]);
		free(o);
		return error_os(errnum, NULL, "cannot start a thread");
	}
	take_fd(&in);
	*write_fd = take_fd(&out);
	*ret = o;
	return NULL;
}

static void stop(struct top_output *o)
{
	if (o->stop[1] < 0)
		return;
	close(o->stop[1]);
	o->stop[1] = -1;
	pthread_join(o->thread, NULL);
}

void top_output_end(struct top_output *o, FILE *out)
{
	uint64_t from;

	stop(o);
	if (!o->total)
		return;
	from = o->total > KEPT ? o->total - KEPT : 0;
	/* A line that has lost its beginning is no line. */
	while (from && from < o->total && o->bytes[(from - 1) % KEPT] != '\n')
		from++;
	fprintf(out, from ? "--- the end of what the command printed ---\n" :
			    "--- what the command printed ---\n");
	for (; from < o->total; from++)
		putc(o->bytes[from % KEPT], out);
	if (o->bytes[(o->total - 1) % KEPT] != '\n')
		putc('\n', out);
}

void top_output_destroy(struct top_output *o)
{
	if (!o)
		return;
	stop(o);
	close(o->stop[0]);
	close(o->read_fd);
	free(o);
}
