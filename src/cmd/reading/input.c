// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/reading/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/reading/file_owner.h"
#include "view/shell_word.h"

enum {
	/* Numbers in one list. */
	LIST_MAX = 65536,
};

void input_set_defaults(struct input *input)
{
	input->demangle = true;
	input->inlines = true;
}

void input_deinit(struct input *input)
{
	vec_deinit(&input->pid_list);
	vec_deinit(&input->tid_list);
	vec_deinit(&input->cpu_list);
	vec_deinit(&input->comm_list);
	vec_deinit(&input->time_list);
	vec_for_each(word, &input->words)
		free(*word);
	vec_deinit(&input->words);
	free(input->buildid_dir);
}

struct error *input_split(struct input *input, const char *text,
			  struct input_words *ret)
{
	char *copy, *rest, *word;

	if (!text)
		return NULL;
	copy = strdup(text);
	if (!copy || !vec_push(&input->words, copy)) {
		free(copy);
		return error_no_memory();
	}
	for (rest = copy; (word = strsep(&rest, ","));)
		if (*word && !vec_push(ret, word))
			return error_no_memory();
	return NULL;
}

/* "3" or "2-5" */
static struct error *add_range(const char *option, const char *word,
			       struct input_ids *ret)
{
	char *end;
	long long from, to;

	errno = 0;
	from = to = strtoll(word, &end, 10);
	if (end != word && *end == '-' && end[1])
		to = strtoll(end + 1, &end, 10);
	if (errno || end == word || *end || from > to ||
	    to - from >= LIST_MAX || ret->count > LIST_MAX)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "'%s' is not a number for --%s", word, option);
	for (; from <= to; from++)
		if (!vec_push(ret, from))
			return error_no_memory();
	return NULL;
}

static struct error *parse_ids(struct input *input, const char *option,
			       const char *text, struct input_ids *ids,
			       struct id_list *ret)
{
	struct input_words words = {};
	struct error *error = input_split(input, text, &words);

	vec_for_each(word, &words)
		if (!error)
			error = add_range(option, *word, ids);
	vec_deinit(&words);
	if (error)
		return error;
	*ret = (struct id_list){ ids->data, ids->count };
	return NULL;
}

/*
 * What --time says of this recording. Relative: counted from its first sample.
 */
static struct error *set_times(struct input *input, uint64_t first,
			       uint64_t last)
{
	struct convert_options *o = &input->options;
	struct error *error;

	vec_clear(&input->time_list);
	error = time_ranges_parse(input->time, first, last, &input->time_list);
	if (error)
		return error;
	vec_for_each(range, &input->time_list) {
		if (!input->relative_time ||
		    time_ranges_need_bounds(input->time))
			break;
		range->from += first;
		range->to += range->to ? first : 0;
	}
	o->times = (struct convert_times){ input->time_list.data,
					   input->time_list.count };
	return NULL;
}

static struct error *set_times_of(struct input *input,
				  struct converter *converter)
{
	const struct features *f =
		perfdata_reader_features(converter_reader(converter));

	if (!input->time ||
	    !(input->relative_time || time_ranges_need_bounds(input->time)))
		return NULL;
	if (!f->first_sample_time && !f->last_sample_time)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "the recording does not contain the times of its first and last sample; give --time in seconds");
	return set_times(input, f->first_sample_time, f->last_sample_time);
}

/* Else --cpu would leave out all samples, and say nothing. */
static struct error *check_cpus(const struct input *input,
				struct converter *converter)
{
	const struct events *events =
		perfdata_reader_events(converter_reader(converter));

	if (!input->cpus || !events->list.count)
		return NULL;
	vec_for_each(event, &events->list)
		if ((*event)->attr.sample_type & PERF_SAMPLE_CPU)
			return NULL;
	return error_create(ERROR_INVALID_ARGUMENT,
			    "the samples were recorded without their CPU (perf record --sample-cpu records it); leave out --cpu");
}

/* perf's cache of files by build-id. */
static struct error *find_buildid_dir(struct input *input)
{
	const char *home = getenv("HOME");

	if (home && asprintf(&input->buildid_dir, "%s/.debug", home) < 0) {
		input->buildid_dir = NULL;
		return error_no_memory();
	}
	return NULL;
}

bool input_imitates(const struct input *input)
{
	return input->like_perf;
}

struct quirks input_quirks(const struct input *input)
{
	return quirks_of_perf(input->like_perf ? PERF_7_2 : PERF_NONE);
}

struct error *input_prepare(struct input *input)
{
	struct convert_options *o = &input->options;
	struct error *error;

	error = find_buildid_dir(input);
	if (!error)
		error = parse_ids(input, "pid", input->pids, &input->pid_list,
				  &o->pids);
	if (!error)
		error = parse_ids(input, "tid", input->tids, &input->tid_list,
				  &o->tids);
	if (!error)
		error = parse_ids(input, "cpu", input->cpus, &input->cpu_list,
				  &o->cpus);
	if (!error)
		error = input_split(input, input->comms, &input->comm_list);
	if (!error && input->time && !time_ranges_need_bounds(input->time))
		error = set_times(input, 0, 0);
	if (error)
		return error;
	o->comms = (struct name_list){ input->comm_list.data,
				       input->comm_list.count };
	o->whole_spans |= input->like_perf;
	/* To say what there is where these find nothing. */
	o->count_tasks |= input->pids || input->tids || input->comms;
	o->symfs = input->symfs;
	o->kallsyms = input->kallsyms;
	o->buildid_dir = input->buildid_dir;
	o->no_demangle = !input->demangle;
	o->quirks = input_quirks(input);
	o->force = input->force;
	o->max_stack = input->max_stack < UINT32_MAX
			       ? (uint32_t)input->max_stack
			       : UINT32_MAX;
	if (o->quirks.stacks_of_127 && !o->max_stack)
		o->max_stack = 127;
	return NULL;
}

/* So far it is just a word that somebody typed. */
bool input_is_recording(const char *path)
{
	_cleanup_close_ int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[8];

	return fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	       !memcmp(magic, "PERFILE2", sizeof(magic));
}

struct error *input_name(struct input *input, const char *word)
{
	if (input->path)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "a recording is named twice, as '%s' and '%s': name one, with -i or without",
				    input->path, word);
	input->path = word;
	return NULL;
}

struct error *input_take_word(struct input *input, const char *word, bool *ret)
{
	*ret = input_is_recording(word);
	return *ret ? input_name(input, word) : NULL;
}

struct error *input_take_arguments(struct input *input,
				   const struct arguments *args,
				   const char *also)
{
	for (size_t i = 0; i < args->count; i++) {
		bool taken;
		struct error *error =
			input_take_word(input, args->values[i], &taken);

		if (error)
			return error;
		if (!taken)
			return error_create(ERROR_INVALID_ARGUMENT,
					    "unexpected argument '%s'; %s with -i%s",
					    args->values[i],
					    access(args->values[i], F_OK) ?
						    "there is no recording of that name: name one" :
						    "name the recording",
					    also);
	}
	return NULL;
}

static const char *input_path(const struct input *input)
{
	struct stat st;

	if (input->path)
		return input->path;
	return !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode) ? "-" :
								    "perf.data";
}

/* As perf has it: what a stranger left here may be made to mislead. */
static struct error *check_owner(const struct input *input, const char *path,
				 int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return error_os(errno, path, "cannot read the attributes of the file");
	if (input->force || !S_ISREG(st.st_mode) || !st.st_uid ||
	    file_owner_is_user(st.st_uid))
		return NULL;
	return error_create(ERROR_PERMISSION,
			    "'%s' belongs neither to you nor to root; use -f to read it anyway",
			    path);
}

bool input_is_filtered(const struct input *input)
{
	const struct convert_options *o = &input->options;

	return o->times.count || o->pids.count || o->tids.count ||
	       o->cpus.count || o->comms.count;
}

struct error *input_open_file(const struct input *input, const char **ret_path,
			      int *ret)
{
	const char *path = input_path(input);
	_cleanup_close_ int fd = -1;
	struct error *error;

	if (!strcmp(path, "-"))
		fd = dup(STDIN_FILENO);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT && input->path)
		return error_create(ERROR_NOT_FOUND, "'%s' does not exist", path);
	if (fd < 0 && errno == ENOENT)
		return error_create(ERROR_NOT_FOUND,
				    "'%s' does not exist; make a recording with 'kaa record COMMAND', or name one with -i FILE",
				    path);
	if (fd < 0)
		return error_os(errno, path, "cannot open");
	error = check_owner(input, path, fd);
	if (error)
		return error;
	*ret_path = path;
	*ret = take_fd(&fd);
	return NULL;
}

int64_t input_recorded(const char *path)
{
	struct stat st;

	return stat(path, &st) || !S_ISREG(st.st_mode) ?
		       0 :
		       timespec_ns(&st.st_mtim);
}

/* As perf, kaa reads a pipe that nobody named, which a script may have there for something else. */
static struct error *explain_pipe(struct error *error)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct error *explained;

	error_format(error, &text);
	explained = error_create(
		error->code,
		"%s: standard input is a pipe, so the recording is read from there; -i FILE names another",
		text.data);
	error_destroy(error);
	return explained;
}

struct error *input_open(struct input *input, struct converter **ret)
{
	_cleanup_(cleanup_converter_) struct converter *converter = NULL;
	const char *path;
	struct error *error;
	int fd;

	error = input_open_file(input, &path, &fd);
	if (!error)
		error = converter_open_fd(fd, path, &input->options,
					  &converter);
	if (error && !input->path && input_path(input)[0] == '-')
		error = explain_pipe(error);
	if (!error)
		error = set_times_of(input, converter);
	if (!error)
		error = check_cpus(input, converter);
	if (error)
		return error;
	*ret = take_ptr(converter);
	return NULL;
}

void input_put_words(const struct input *input, struct strbuf *out)
{
	const bool is_usual = !input->path || !strcmp(input->path, "perf.data");
	const struct {
		const char *option;
		const char *value;
	} all[] = {
		{ "-i", is_usual ? NULL : input->path },
		{ "--pid", input->pids },
		{ "--tid", input->tids },
		{ "--cpu", input->cpus },
		{ "--comms", input->comms },
		{ "--time", input->time },
		{ "--symfs", input->symfs },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].value)
			continue;
		strbuf_printf(out, " %s ", all[i].option);
		shell_word(all[i].value, out);
	}
	strbuf_puts(out, input->force ? " -f" : "");
}
