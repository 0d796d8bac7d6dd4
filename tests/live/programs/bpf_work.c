// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_work load OBJECT: loads the program, prints its number in the kernel, and
 * keeps it until its input ends.
 * bpf_work run [OBJECT]: the same, or reads a program's number from its input
 * if there is no object; then runs the program for 0.3 s of CPU time. It is
 * attached nowhere: nobody else runs it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_time.h"

static int load(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_prog_info info = {};
	unsigned int size = sizeof(info);
	int fd;

	if (!object || bpf_object__load(object))
		exit(2);
	fd = bpf_program__fd(bpf_object__find_program_by_name(
		object, "kaa_outer_function_name"));
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		exit(3);
	printf("%u\n", info.id);
	fflush(stdout);
	return fd;
}

static int take(void)
{
	unsigned int id;

	if (scanf("%u", &id) != 1)
		exit(4);
	return bpf_prog_get_fd_by_id(id);
}

static void run(int fd)
{
	char packet[64] = {};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
		    .data_size_in = sizeof(packet), .repeat = 10);

	for (double end = seen_time() + 0.3; seen_time() < end;)
		if (bpf_prog_test_run_opts(fd, &options))
			exit(5);
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? load(argv[2]) : take();

	if (argc > 1 && !strcmp(argv[1], "run"))
		run(fd);
	else
		while (getchar() != EOF)
			;
	return 0;
}
