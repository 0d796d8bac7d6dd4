// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills a profile from the text of
 *
 *	perf script --show-mmap-events --max-stack 127 \
 *		-F comm,pid,tid,time,event,ip,sym,symoff,dso,period
 *
 * on standard input and prints kaa's report of it: what the report makes of a
 * file, apart from how kaa reads and symbolizes one. tests/live compares it
 * with perf's own report.
 *
 *	report_from_script [-n] [-T] [--no-children] [--right] [-g]
 *		[--call-graph=TOKENS] [--percent-limit=N] [--sort=KEYS]
 *		[--field-separator=C] [--comms=NAME] [--dsos=NAME]
 *		[--symbols=NAME] [--symbol-filter=TEXT] [--aggregate]
 *		[--events=NAME,NAME...]
 *
 * --right leaves out what perf gets wrong.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/profile.h"
#include "view/report.h"

struct mapping {
	int pid;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

struct script {
	struct profile *profile;
	VEC(struct mapping) maps;
	/* The sample being read; frames are leaf first. */
	struct profile_sample sample;
	VEC(uint32_t) frames;
	int pid;
	bool open;
};

static void check(struct error *error)
{
	struct strbuf text = STRBUF_INIT;

	if (!error)
		return;
	error_format(error, &text);
	fprintf(stderr, "report_from_script: %s\n", text.data);
	exit(1);
}

static uint32_t intern(struct script *s, const char *text, size_t n)
{
	uint32_t id;

	check(profile_intern_string(s->profile, text, n, &id));
	return id;
}

static uint32_t intern_dso(struct script *s, const char *path, bool kernel)
{
	const char *slash = strrchr(path, '/');
	const char *base = *path != '[' && slash ? slash + 1 : path;
	struct profile_dso dso = {
		.short_name = intern(s, base, strlen(base)),
		.long_name = intern(s, path, strlen(path)),
		.build_id = PROFILE_NONE,
		.kind = kernel ? PROFILE_DSO_KERNEL : PROFILE_DSO_USER,
	};
	uint32_t id;

	check(profile_intern_dso(s->profile, &dso, &id));
	return id;
}

/* Of this process, or else (it was forked) of any. */
static uint64_t file_address(const struct script *s, uint64_t address)
{
	uint64_t other = address;

	for (size_t i = s->maps.count; i-- > 0;) {
		const struct mapping *map = &s->maps.data[i];
		uint64_t rel = address - map->start + map->offset;

		if (address < map->start || address >= map->end)
			continue;
		if (map->pid == s->pid)
			return rel;
		if (other == address)
			other = rel;
	}
	return other;
}

/* "\t    55d0 name+0x12 (/path)", "[unknown]" for what is missing. */
static void read_frame(struct script *s, char *line)
{
	char *name;
	uint64_t address = strtoull(line, &name, 16);
	char *dso = strrchr(line, '(');
	char *offset;
	bool kernel = address >= 0xffff000000000000u;
	struct profile_frame frame = {
		.address = address,
		.rel = address,
		.symbol = PROFILE_NONE,
		.dso = PROFILE_NONE,
		.file = PROFILE_NONE,
		.kind = kernel ? PROFILE_FRAME_KERNEL : PROFILE_FRAME_NATIVE,
	};
	uint32_t id;

	name++;
	/* "(path with (deleted))" */
	while (dso && dso > name && dso[-1] != ' ')
		dso--;
	if (!dso || dso <= name)
		return;
	dso[strlen(dso) - 1] = '\0';
	dso[-1] = '\0';
	if (strcmp(dso + 1, "[unknown]")) {
		frame.dso = intern_dso(s, dso + 1, kernel);
		frame.rel = file_address(s, address);
	}
	offset = strrchr(name, '+');
	if (strcmp(name, "[unknown]") && offset) {
		uint64_t start = frame.rel - strtoull(offset + 1, NULL, 16);
		struct profile_symbol symbol = {
			.start = start,
			.end = start + 1,
			.dso = frame.dso,
			.name = intern(s, name, (size_t)(offset - name)),
		};

		check(profile_intern_symbol(s->profile, &symbol,
					    &frame.symbol));
	}
	check(profile_intern_frame(s->profile, &frame, &id));
	if (!vec_push(&s->frames, id))
		check(error_no_memory());
}

static uint32_t find_event(struct script *s, const char *name, size_t n)
{
	struct profile_event event = { .name = intern(s, name, n) };
	uint32_t id;

	for (size_t i = 0; i < s->profile->events.count; i++)
		if (s->profile->events.data[i].name == event.name)
			return (uint32_t)i;
	check(profile_add_event(s->profile, &event, &id));
	return id;
}

static void end_sample(struct script *s)
{
	uint32_t stack = PROFILE_NONE;

	if (!s->open)
		return;
	for (size_t i = s->frames.count; i-- > 0;)
		check(profile_stack_push(s->profile, stack, s->frames.data[i],
					 &stack));
	s->sample.stack = stack;
	check(profile_add_sample(s->profile, &s->sample));
	vec_clear(&s->frames);
	s->open = false;
}

/* Interns the DSO, too: perf orders equal siblings by when it met theirs. */
static void read_mapping(struct script *s, const char *text)
{
	struct mapping map = { .pid = s->pid };
	const char *path = strstr(text, "]: ");
	uint64_t size;

	path = path ? strchr(path + 3, ' ') : NULL;
	if (path && !strncmp(path + 1, "[kernel", 7))
		intern_dso(s, "[kernel.kallsyms]", true);
	else if (path)
		intern_dso(s, path + 1, false);
	if (sscanf(text, "[%" SCNx64 "(%" SCNx64 ") @ %" SCNx64, &map.start,
		   &size, &map.offset) != 3)
		return;
	map.end = map.start + size;
	if (!vec_push(&s->maps, map))
		check(error_no_memory());
}

/* Where " PID/TID " begins, after a comm that may hold anything. */
static char *find_ids(char *line)
{
	for (char *p = line; *p; p++) {
		int n = 0;

		if (*p == ' ' && sscanf(p, " %*d/%*d %n", &n) == 0 && n > 0 &&
		    p[1] != ' ')
			return p;
	}
	return NULL;
}

/* "comm  12/13  4.5:  250000 event-name: " or "...: PERF_RECORD_MMAP2 ..." */
static void read_head(struct script *s, char *line)
{
	char *ids = find_ids(line);
	char *end = ids, *text, *mmap, *chain;
	struct profile_event *event;
	struct profile_task task;
	int tid, n;
	double time;

	if (!ids || sscanf(ids, " %d/%d %lf: %n", &s->pid, &tid, &time, &n) < 3)
		return;
	while (end > line && end[-1] == ' ')
		end--;
	text = ids + n;
	mmap = strstr(text, ": [");
	if (!strncmp(text, "PERF_RECORD_MMAP", 16)) {
		if (mmap)
			read_mapping(s, mmap + 2);
		return;
	}
	s->sample = (struct profile_sample){
		.time = (uint64_t)(time * 1e9),
		.period = strtoull(text, &text, 10),
		.count = 1,
	};
	text += strspn(text, " ");
	chain = strstr(text, ": ");
	if (!chain)
		return;
	s->sample.event = (uint16_t)find_event(s, text, (size_t)(chain - text));
	event = &s->profile->events.data[s->sample.event];
	chain += 2;
	/* Without a chain, the one frame stands on the same line. */
	event->has_callchain = !*chain;
	if (*chain)
		read_frame(s, chain);
	task = (struct profile_task){
		.pid = s->pid,
		.tid = tid,
		.name = PROFILE_NONE,
		.comm = intern(s, line, (size_t)(end - line)),
	};
	check(profile_intern_task(s->profile, &task, &s->sample.task));
	s->open = true;
}

static void read_script(struct script *s, FILE *in)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, in)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		if (n == 0)
			end_sample(s);
		else if (line[0] == '\t')
			read_frame(s, line);
		else
			read_head(s, line + strspn(line, " "));
		if (n && s->open && s->frames.count &&
		    !s->profile->events.data[s->sample.event].has_callchain)
			end_sample(s);
	}
	end_sample(s);
	free(line);
}

/* The text behind "--name=", or NULL. */
static const char *value_of(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(arg, name, n) && arg[n] == '=' ? arg + n + 1 : NULL;
}

static bool read_name(const char *arg, const char *option,
		      struct name_list *names, const char **name)
{
	const char *v = value_of(arg, option);

	if (!v)
		return false;
	*name = v;
	*names = (struct name_list){ name, 1 };
	return true;
}

static bool read_value(const char *arg, struct report_options *o)
{
	static const char *comm, *dso, *symbol;
	const char *v;

	if ((v = value_of(arg, "--call-graph")))
		check(report_parse_callgraph(o, v));
	else if ((v = value_of(arg, "--percent-limit")))
		o->percent_limit = o->callgraph.threshold = atof(v);
	else if ((v = value_of(arg, "--sort")))
		check(report_parse_sort(o, v));
	else if ((v = value_of(arg, "--field-separator")))
		o->field_separator = v;
	else if ((v = value_of(arg, "--symbol-filter")))
		o->symbol_filter = v;
	else
		return read_name(arg, "--comms", &o->comms, &comm) ||
		       read_name(arg, "--dsos", &o->dsos, &dso) ||
		       read_name(arg, "--symbols", &o->symbols, &symbol);
	return true;
}

/* Events in the order of the file, which the text does not tell. */
static bool read_events(const char *arg, struct script *s)
{
	const char *v = value_of(arg, "--events");

	for (const char *p = v; p && *p;) {
		size_t n = strcspn(p, ",");

		find_event(s, p, n);
		p += n + (p[n] == ',');
	}
	return v;
}

static void read_flag(const char *arg, struct report_options *o,
		      struct profile_options *p)
{
	if (!strcmp(arg, "-n"))
		o->samples = true;
	else if (!strcmp(arg, "-T"))
		o->period = true;
	else if (!strcmp(arg, "-g"))
		check(report_parse_callgraph(o, NULL));
	else if (!strcmp(arg, "--no-children"))
		o->children = false;
	else if (!strcmp(arg, "--right"))
		o->quirks = quirks_of_perf(PERF_NONE);
	else if (!strcmp(arg, "--aggregate"))
		p->aggregate = true;
	else
		check(error_create(ERROR_INVALID_ARGUMENT,
				   "unknown option '%s'", arg));
}

int main(int argc, char **argv)
{
	struct report_options options;
	struct script s = {};

	report_options_init(&options);
	options.quirks = quirks_of_perf(PERF_7_2);
	check(profile_create(NULL, &s.profile));
	for (int i = 1; i < argc; i++)
		if (!read_value(argv[i], &options) && !read_events(argv[i], &s))
			read_flag(argv[i], &options, &s.profile->options);
	read_script(&s, stdin);
	check(report_write(s.profile, &options, stdout));
	profile_destroy(s.profile);
	vec_deinit(&s.maps);
	vec_deinit(&s.frames);
	return 0;
}
