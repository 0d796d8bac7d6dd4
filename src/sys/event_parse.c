// SPDX-License-Identifier: GPL-2.0-only
#include "sys/event_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/strbuf.h"
#include "sys/event_source.h"
#include "sys/perf_event.h"

static const char modifier_letters[] = "ukhpPGHIDe";

/* The parsing of one -e argument. */
struct parse {
	const char *root;
	const char *pos;
	struct event_list *list;
};

/* How often a letter stands in the modifiers. */
static int count_letter(const char *modifiers, char letter)
{
	int count = 0;

	for (; *modifiers; modifiers++)
		count += *modifiers == letter;
	return count;
}

static struct error *check_modifiers(const char *modifiers, const char *of)
{
	for (const char *m = modifiers; *m; m++) {
		if (!strchr(modifier_letters, *m))
			return error_create(
				ERROR_INVALID_ARGUMENT,
				"event '%s': unknown modifier '%c' (known: u k h p pp ppp P G H I D e)",
				of, *m);
	}
	if (count_letter(modifiers, 'p') > 3)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "event '%s': at most ppp", of);
	return NULL;
}

static struct error *apply_modifiers(const char *m, const char *of,
				     struct event_choice *event)
{
	struct error *error = check_modifiers(m, of);

	if (error)
		return error;
	if (strpbrk(m, "ukh")) {
		/* A group's levels add to those of its events. */
		bool none = !event->levels_given;

		event->exclude_user = (event->exclude_user || none) &&
				      !strchr(m, 'u');
		event->exclude_kernel = (event->exclude_kernel || none) &&
					!strchr(m, 'k');
		event->exclude_hv = (event->exclude_hv || none) &&
				    !strchr(m, 'h');
		event->levels_given = true;
	}
	if (strpbrk(m, "GH")) {
		event->exclude_guest = !strchr(m, 'G');
		event->exclude_host = !strchr(m, 'H');
	}
	if (strchr(m, 'P'))
		event->precise = PRECISE_MAX;
	else if (strchr(m, 'p'))
		event->precise = count_letter(m, 'p');
	event->exclude_idle |= strchr(m, 'I') != NULL;
	event->pinned |= strchr(m, 'D') != NULL;
	event->exclusive |= strchr(m, 'e') != NULL;
	return NULL;
}

/* Appends the event under its name; takes the name. */
static struct error *add_event(struct parse *p, struct event_choice *event, char *name)
{
	if (!name)
		return error_no_memory();
	event->name = name;
	if (vec_push(p->list, *event))
		return NULL;
	free(name);
	return error_no_memory();
}

static struct error *unknown_event(const char *text)
{
	_cleanup_free_ char *word = strndup(text, strcspn(text, ":/"));
	_cleanup_strbuf_ struct strbuf near = STRBUF_INIT;
	struct nearest nearest = { .word = word };

	if (!word)
		return error_no_memory();
	event_names_near(&nearest);
	nearest_format(&nearest, &near);
	if (!nearest.count)
		strbuf_puts(
			&near,
			": use cycles, instructions, cache-misses, branch-misses, cpu-clock, page-faults or another event of perf-list(1), rHEX, pmu/terms/ or subsystem:tracepoint");
	return error_create(ERROR_INVALID_ARGUMENT, "unknown event '%s'%s",
			    text, near.data);
}

/* "head/terms/modifiers" */
static struct error *parse_slashed(struct parse *p, const char *text)
{
	const char *slash = strchr(text, '/');
	const char *close = strchr(slash + 1, '/');
	_cleanup_free_ char *head = strndup(text, (size_t)(slash - text));
	_cleanup_free_ char *terms = NULL;
	_cleanup_free_ char *name = NULL;
	struct event_choice event = { .group_leader = -1 };
	const char *modifiers;
	struct error *error;
	bool plain;

	if (!close)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "event '%s': the second '/' is missing",
				    text);
	terms = strndup(slash + 1, (size_t)(close - slash - 1));
	if (!head || !terms)
		return error_no_memory();
	plain = event_by_name(head, &event);
	error = event_by_pmu(p->root, plain ? NULL : head, terms, &event,
			     &name);
	if (error)
		return error;
	if (event.period && event.freq)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "event '%s': period or freq, not both",
				    text);
	modifiers = close + 1 + (close[1] == ':');
	event.exclude_guest = perf_type_is_hardware(event.type) ||
			      (!plain && strncmp(head, "cpu", 3) == 0);
	error = apply_modifiers(modifiers, text, &event);
	if (error)
		return error;
	return add_event(p, &event, name ? take_ptr(name) : strdup(text));
}

/* Finds a bare event's type: of the tables, else of a PMU's events. */
static struct error *lookup_bare(struct parse *p, const char *head,
				 struct event_choice *event, bool *found)
{
	_cleanup_free_ char *pmu = NULL;
	_cleanup_free_ char *unused = NULL;
	struct error *error;

	*found = event_by_name(head, event);
	if (*found) {
		event->exclude_guest = perf_type_is_hardware(event->type);
		return NULL;
	}
	error = pmu_with_event(p->root, head, &pmu);
	if (error || !pmu)
		return error;
	*found = true;
	event->exclude_guest = strncmp(pmu, "cpu", 3) == 0;
	return event_by_pmu(p->root, pmu, head, event, &unused);
}

/* Sets the modifiers of the events from first on; names stay, as in perf. */
static struct error *modify_from(struct parse *p, size_t first,
				 const char *modifiers, const char *of)
{
	struct error *error = NULL;

	for (size_t i = first; i < p->list->count && !error; i++)
		error = apply_modifiers(modifiers, of, &p->list->data[i]);
	return error;
}

/* "system:name[:modifiers]"; rest is what follows the first colon. */
static struct error *parse_tracepoint(struct parse *p, const char *text,
				      const char *system, const char *rest)
{
	size_t length = strcspn(rest, ":");
	_cleanup_free_ char *name = strndup(rest, length);
	const char *modifiers = rest[length] ? rest + length + 1 : "";
	size_t first = p->list->count;
	struct error *error;

	if (!name)
		return error_no_memory();
	error = events_by_tracepoint(p->root, system, name, p->list);
	if (!error)
		return modify_from(p, first, modifiers, text);
	/* "cylces:u" is a mistyped event rather than a tracepoint. */
	if (!rest[strspn(rest, modifier_letters)]) {
		error_destroy(error);
		return unknown_event(text);
	}
	return error;
}

static struct error *parse_event(struct parse *p, const char *text)
{
	size_t length = strcspn(text, ":");
	_cleanup_free_ char *head = strndup(text, length);
	const char *rest = text[length] ? text + length + 1 : NULL;
	struct event_choice event = { .group_leader = -1 };
	struct error *error;
	bool found;

	if (!head)
		return error_no_memory();
	if (!*head)
		return error_create(ERROR_INVALID_ARGUMENT,
				    "an event's name is empty");
	if (strchr(text, '/'))
		return parse_slashed(p, text);
	error = lookup_bare(p, head, &event, &found);
	if (error)
		return error;
	if (!found && rest)
		return parse_tracepoint(p, text, head, rest);
	if (!found)
		return unknown_event(text);
	error = apply_modifiers(rest ? rest : "", text, &event);
	return error ? error : add_event(p, &event, strdup(text));
}

/* Length of the next event: to a ',' or '}' outside of slashes. */
static size_t event_length(const char *text)
{
	bool inside = false;
	size_t i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '/')
			inside = !inside;
		else if (!inside && (text[i] == ',' || text[i] == '}' ||
				     text[i] == '{'))
			break;
	}
	return i;
}

static struct error *parse_next(struct parse *p)
{
	size_t length = event_length(p->pos);
	_cleanup_free_ char *text = strndup(p->pos, length);

	if (!text)
		return error_no_memory();
	p->pos += length;
	return parse_event(p, text);
}

/* "{a,b}[:modifiers]"; p->pos is behind the '{'. */
static struct error *parse_group(struct parse *p)
{
	size_t first = p->list->count;
	_cleanup_free_ char *modifiers = NULL;
	size_t length;
	struct error *error;

	for (;;) {
		error = parse_next(p);
		if (error)
			return error;
		if (*p->pos != ',')
			break;
		p->pos++;
	}
	if (*p->pos != '}')
		return error_create(ERROR_INVALID_ARGUMENT,
				    "a group of events lacks its '}'");
	p->pos++;
	for (size_t i = first; i < p->list->count; i++)
		p->list->data[i].group_leader = (int)first;
	if (*p->pos != ':')
		return NULL;
	length = event_length(++p->pos);
	modifiers = strndup(p->pos, length);
	if (!modifiers)
		return error_no_memory();
	p->pos += length;
	return modify_from(p, first, modifiers, "{...}");
}

static struct error *parse_list(struct parse *p)
{
	for (;;) {
		struct error *error;

		if (*p->pos == '{') {
			p->pos++;
			error = parse_group(p);
		} else {
			error = parse_next(p);
		}
		if (error)
			return error;
		if (!*p->pos)
			return NULL;
		if (*p->pos != ',')
			return error_create(ERROR_INVALID_ARGUMENT,
					    "events: unexpected '%s'",
					    p->pos);
		p->pos++;
	}
}

struct error *events_parse(const char *root, const char *text,
			   struct event_list *list)
{
	struct parse p = { root, text, list };
	size_t before = list->count;
	struct error *error = parse_list(&p);

	while (error && list->count > before)
		free(list->data[--list->count].name);
	return error;
}

void event_list_deinit(struct event_list *list)
{
	vec_for_each(event, list)
		free(event->name);
	vec_deinit(list);
}

void event_apply(const struct event_choice *event, struct perf_event_attr *attr)
{
	attr->type = event->type;
	attr->config = event->config;
	attr->config1 = event->config1;
	attr->config2 = event->config2;
	attr->exclude_user = event->exclude_user;
	attr->exclude_kernel = event->exclude_kernel;
	attr->exclude_hv = event->exclude_hv;
	attr->exclude_host = event->exclude_host;
	attr->exclude_guest = event->exclude_guest;
	attr->exclude_idle = event->exclude_idle;
	attr->pinned = event->pinned;
	attr->exclusive = event->exclusive;
	attr->precise_ip = event->precise > 3 ? 3 : event->precise & 3;
	if (event->period) {
		attr->freq = 0;
		attr->sample_period = event->period;
	} else if (event->freq) {
		attr->freq = 1;
		attr->sample_freq = event->freq;
	}
}

/* Some virtual machines have a `cpu` PMU without counters: ask the kernel. */
static bool can_count_cycles(const char *root)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd;

	if (!perf_has_hardware_pmu(root))
		return false;
	if (root && *root)
		return true;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd != -ENOENT && fd != -EOPNOTSUPP && fd != -ENODEV;
}

struct error *events_default(const char *root, struct event_list *list,
			     bool *fell_back)
{
	bool cycles = can_count_cycles(root);
	struct error *error =
		events_parse(root, cycles ? "cycles" : "cpu-clock", list);

	if (!error)
		*fell_back = !cycles;
	return error;
}
