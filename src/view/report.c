// SPDX-License-Identifier: GPL-2.0-only
#include "view/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/calltree.h"
#include "profile/event_group.h"
#include "profile/location.h"
#include "view/chain_text.h"
#include "view/entry_order.h"
#include "view/entry_text.h"
#include "view/fit.h"
#include "view/header_text.h"
#include "view/report_notes.h"
#include "view/source_text.h"
#include "view/symbol_match.h"
#include "view/text.h"

/* Text is handed on in pieces of about this size. */
enum {
	FLUSH_AT = 256 * 1024,
	/* Of a call graph that is to be read. */
	GRAPH_PERCENT_LIMIT = 2,
};

struct report {
	const struct profile *profile;
	/* As given, but without what the profile cannot show. */
	struct report_options options;
	struct locations *locations;
	/* Of REPORT_PARENT, else NULL; owned. */
	uint32_t *parents;
	/* By that limit, which nobody asked for. */
	bool is_cut;
	/* Nor the same of branches. */
	bool branches_are_cut;
	struct strbuf text;
	FILE *out;
};

static struct error *flush(struct report *r)
{
	struct error *error = strbuf_error(&r->text);

	if (error)
		return error;
	if (fwrite(r->text.data, 1, r->text.len, r->out) != r->text.len)
		return error_os(errno, NULL, "cannot write the report");
	strbuf_clear(&r->text);
	return NULL;
}

static bool has_callchains(const struct profile *profile)
{
	vec_for_each(event, &profile->events)
		if (event->has_callchain)
			return true;
	return false;
}

/* A line of `n` bytes; one of prose goes on in the next lines, behind a '#' as well. */
static void fit_line(struct report *r, const char *line, size_t n)
{
	static const char mark[] = "# ";
	size_t columns = r->options.title_columns, width = sizeof(mark) - 1;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, lines = STRBUF_INIT;

	if (n > columns && !strncmp(line, mark, width)) {
		strbuf_append(&text, line + width, n - width);
		if (!text.failed)
			fit_lines(&lines, text.data, columns - width);
	}
	if (text.failed || lines.failed || !lines.data) {
		strbuf_append(&r->text, line, n);
		strbuf_putc(&r->text, '\n');
		return;
	}
	for (const char *at = lines.data; *at; at += n) {
		n = strcspn(at, "\n");
		strbuf_puts(&r->text, mark);
		strbuf_append(&r->text, at, n);
		strbuf_putc(&r->text, '\n');
		n += at[n] == '\n';
	}
}

/* What a terminal has no room for, from that place of the text on. */
static void fit_prose(struct report *r, size_t from)
{
	_cleanup_strbuf_ struct strbuf prose = STRBUF_INIT;

	if (r->options.title_columns <= 2 || r->options.quirks.no_notes ||
	    r->text.len <= from)
		return;
	strbuf_puts(&prose, r->text.data + from);
	if (prose.failed)
		return;
	strbuf_truncate(&r->text, from);
	for (const char *line = prose.data; *line;) {
		size_t n = strcspn(line, "\n");

		fit_line(r, line, n);
		line += n + (line[n] == '\n');
	}
}

static void put_file_header(struct report *r)
{
	if (r->options.quiet)
		return;
	if (!r->options.header) {
		strbuf_puts(
			&r->text,
			"# To display the perf.data header info, please use --header/--header-only options.\n#\n");
		return;
	}
	vec_for_each(recording, &r->profile->recordings)
		header_comment(&recording->metadata, &r->text);
}

static void put_elided(struct report *r, const struct name_list *names,
		       enum report_key key, const char *title)
{
	if (names->count != 1 || !report_has_key(&r->options, key))
		return;
	/* The name of a file is none of its functions' names. */
	if (key == REPORT_SYMBOL && !r->options.symbols_choice->is_whole_name)
		return;
	strbuf_printf(&r->text, "# %s: ", title);
	text_append(&r->text, names->values[0], strlen(names->values[0]));
	strbuf_putc(&r->text, '\n');
}

static void put_top(struct report *r)
{
	put_file_header(r);
	put_elided(r, &r->options.comms, REPORT_COMM, "comm");
	put_elided(r, &r->options.dsos, REPORT_DSO, "dso");
	put_elided(r, &r->options.symbols, REPORT_SYMBOL, "symbol");
	if (r->options.quiet)
		return;
	strbuf_printf(&r->text, "#\n# Total Lost Samples: %" PRIu64 "\n#\n",
		      profile_fault_count(r->profile, FAULT_LOST_SAMPLES));
}

/* --- Groups of events --------------------------------------------------- */

/* The recording has groups. */
static bool has_groups(const struct profile *profile)
{
	for (size_t i = 0; i < profile->events.count; i++)
		if (profile->events.data[i].leader != i)
			return true;
	return false;
}

/* Asked for either way, perf makes a group of events that are none. */
static uint32_t leader_of(const struct report *r, uint32_t event)
{
	if (r->options.group != REPORT_GROUP_RECORDED &&
	    !has_groups(r->profile))
		return 0;
	return r->profile->events.data[event].leader;
}

/*
 * The event in whose table an event is. perf forgets a group whose leader has
 * no samples.
 */
static uint32_t table_of(const struct report *r, uint32_t event)
{
	const struct profile *profile = r->profile;
	uint32_t leader = leader_of(r, event);

	if (r->options.group == REPORT_GROUP_NONE)
		return event;
	if (!profile->events.data[leader].samples &&
	    !r->options.quirks.leader_hides_group)
		return event;
	return leader;
}

/* perf takes the leader for several events even where it is shown alone. */
static bool is_several(const struct report *r, const struct calltree *tree)
{
	uint32_t event = tree->options.event;

	for (uint32_t i = 0; i < r->profile->events.count; i++)
		if (i != event && (table_of(r, i) == event ||
				   (r->options.quirks.leader_always_several &&
				    leader_of(r, i) == event)))
			return true;
	return false;
}

static void put_event_names(struct report *r, const struct calltree *tree)
{
	const struct profile *profile = r->profile;
	uint32_t first = tree->options.event;
	bool named = r->options.group != REPORT_GROUP_NONE &&
		     has_groups(profile) && is_several(r, tree);

	if (named) {
		text_string(&r->text, profile,
			    profile->events.data[first].group_name,
			    "anon group");
		strbuf_puts(&r->text, " { ");
	}
	for (size_t i = 0; i < event_group_events(tree); i++) {
		uint32_t event = event_group_tree(tree, i)->options.event;

		if (i)
			strbuf_puts(&r->text, ", ");
		text_string(&r->text, profile, profile->events.data[event].name,
			    "?");
	}
	if (named)
		strbuf_puts(&r->text, " }");
}

static void put_event_header(struct report *r, const struct calltree *tree)
{
	const char *units = " KMG";
	uint64_t count = 0, period = 0;

	if (r->options.quiet)
		return;
	for (size_t i = 0; i < event_group_events(tree); i++) {
		count += event_group_tree(tree, i)->count;
		period += event_group_tree(tree, i)->shown_period;
	}
	for (; count > 1000 && units[1]; units++)
		count /= 1000;
	strbuf_printf(&r->text, "# Samples: %" PRIu64 "%c of event%s '", count,
		      *units, is_several(r, tree) ? "s" : "");
	put_event_names(r, tree);
	strbuf_putc(&r->text, '\'');
	if (r->options.time)
		strbuf_printf(&r->text, " (time slices: %s)", r->options.time);
	strbuf_printf(&r->text, "\n# Event count (approx.): %" PRIu64 "\n#\n",
		      period);
}

bool report_is_heavy_enough(const struct report_options *options,
			    const struct calltree *tree,
			    const struct calltree_entry *entry)
{
	double percent = tree->shown_period ? (double)entry->period * 100.0 /
						(double)tree->shown_period
				      : 0.0;

	return (float)percent >= (float)options->percent_limit;
}

/* What nobody asked to leave out is said. */
static void put_left_out(struct report *r, size_t count, bool branches)
{
	bool entries = r->is_cut && count, is_one;
	size_t from = r->text.len;

	branches = branches && r->branches_are_cut;
	if (!entries && !branches)
		return;
	is_one = count == 1 && !branches;
	strbuf_puts(&r->text, "#\n# ");
	if (entries)
		strbuf_printf(&r->text, "%zu entr%s ", count,
			      count == 1 ? "y" : "ies");
	if (branches)
		strbuf_puts(&r->text, entries ? "and branches of graphs " :
						"Branches of graphs ");
	strbuf_printf(&r->text,
		      "below %d%% %s left out: --percent-limit 0 shows %s.\n#\n",
		      GRAPH_PERCENT_LIMIT, is_one ? "is" : "are",
		      is_one ? "it" : "them");
	fit_prose(r, from);
}

static struct error *put_entries(struct report *r, const struct calltree *tree,
				 const entry_vec *entries)
{
	struct entry_text rows;
	struct chain_text chains;
	size_t left_out = 0;
	struct error *error =
		chain_text_init(&chains, tree, &r->options, &r->text);

	if (error)
		return error;
	error = entry_text_init(&rows, tree, &r->options, entries);
	if (!error && !r->options.quiet)
		entry_text_header(&rows, &r->text);
	for (size_t i = 0; i < entries->count && !error; i++) {
		uint32_t id = entries->data[i];

		if (!report_is_heavy_enough(&r->options, tree,
					    &tree->entries.data[id])) {
			left_out++;
			continue;
		}
		entry_text_row(&rows, id, &r->text);
		error = chain_text_entry(&chains, id);
		if (!error && r->text.len > FLUSH_AT)
			error = flush(r);
	}
	put_left_out(r, left_out, chains.chains.left_out);
	entry_text_deinit(&rows);
	chain_text_deinit(&chains);
	return error;
}

/* Else -U leaves out entries alone. */
static bool hides_samples(const struct report_options *options)
{
	return options->hide_unresolved && options->quirks.unresolved_dropped;
}

unsigned int report_context_keys(const struct report_options *options)
{
	unsigned int keys = 0;

	if (report_has_key(options, REPORT_COMM))
		keys |= CONTEXT_COMM;
	if (report_has_key(options, REPORT_THREAD_NAME))
		keys |= CONTEXT_THREAD_NAME;
	if (report_has_key(options, REPORT_THREAD))
		keys |= CONTEXT_TID;
	if (report_has_key(options, REPORT_PROCESS))
		keys |= CONTEXT_PID;
	if (report_has_key(options, REPORT_CPU))
		keys |= CONTEXT_CPU;
	if (report_has_key(options, REPORT_PARENT))
		keys |= CONTEXT_PARENT;
	if (report_has_key(options, REPORT_TIME))
		keys |= CONTEXT_TIME;
	return keys;
}

/* perf leaves out samples that hit what has no symbol, also from the totals. */
static bool has_symbol(const struct profile *profile, size_t row,
		       const void *arg)
{
	uint32_t stack = profile->samples.stack[row];

	(void)arg;
	return stack != PROFILE_NONE &&
	       profile_frame(profile, profile->stack_frames.data[stack])
			       ->symbol != PROFILE_NONE;
}

void report_take_listed(struct calltree *tree, const entry_vec *entries)
{
	tree->shown_period = tree->graph_period = tree->count = 0;
	vec_for_each(id, entries)
		tree->shown_period += tree->entries.data[*id].self_period;
	vec_for_each(entry, &tree->entries) {
		if (tree->contexts.data[entry->context].hidden)
			continue;
		tree->graph_period += entry->self_period;
		tree->count += entry->self_count;
	}
}

/* What the listed entries weigh for another event of the group. */
static void take_listed_of_group(struct calltree *tree,
				 const entry_vec *entries)
{
	for (size_t i = 1; i < event_group_events(tree); i++) {
		struct calltree *other = tree->group->others.data[i - 1];

		other->shown_period = other->count = 0;
		vec_for_each(id, entries)
			other->shown_period +=
				event_group_weight(tree,
						   &tree->entries.data[*id], i)
					.self_period;
		vec_for_each(entry, &other->entries)
			if (!other->contexts.data[entry->context].hidden)
				other->count += entry->self_count;
	}
}

/* Trees of the events that are shown with the leader's. */
static struct error *join_group(struct report *r,
				struct calltree_options options,
				struct calltree *leader,
				struct event_group *group)
{
	const struct profile *profile = r->profile;

	for (uint32_t i = 0; i < profile->events.count; i++) {
		struct calltree *tree = NULL;
		struct error *error;

		if (i == leader->options.event ||
		    table_of(r, i) != leader->options.event)
			continue;
		if (!profile->events.data[i].samples)
			continue;
		options.event = i;
		error = calltree_create(profile, r->locations, &options, &tree);
		if (error)
			return error;
		if (!vec_push(&group->others, tree)) {
			calltree_destroy(tree);
			return error_no_memory();
		}
	}
	return group->others.count ? event_group_join(group, leader) : NULL;
}

static struct error *put_table(struct report *r, struct calltree *tree)
{
	entry_vec entries = {};
	struct error *error = entry_order(tree, &r->options, NULL, &entries);

	if (!error && r->options.relative) {
		report_take_listed(tree, &entries);
		take_listed_of_group(tree, &entries);
	}
	if (!error) {
		put_event_header(r, tree);
		error = put_entries(r, tree, &entries);
	}
	vec_deinit(&entries);
	return error;
}

static struct error *put_event(struct report *r, uint32_t event)
{
	const struct entry_filter filter = { &r->options, r->locations,
					     r->parents };
	const struct calltree_options options = {
		.event = event,
		.context_keys = report_context_keys(&r->options),
		.parents = r->parents,
		.time_quantum = r->options.time_quantum,
		.count_each = r->options.quirks.recursion_counted &&
			      report_has_key(&r->options, REPORT_TIME),
		.children = r->options.children,
		.select = hides_samples(&r->options) ? has_symbol : NULL,
		.keep = entry_keep_row,
		.keep_arg = &filter,
		.keep_hidden = r->options.quirks.filtered_entries_sorted,
	};
	_cleanup_calltree_ struct calltree *tree = NULL;
	struct event_group group = {};
	struct error *error =
		calltree_create(r->profile, r->locations, &options, &tree);

	if (!error)
		error = join_group(r, options, tree, &group);
	if (!error)
		error = put_table(r, tree);
	event_group_deinit(&group);
	if (error)
		return error;
	strbuf_puts(&r->text, "\n\n");
	return flush(r);
}

enum symbol_rule report_symbol_rule(const struct report_options *options)
{
	return options->quirks.whole_names_only ? SYMBOL_RULE_PERF :
						  SYMBOL_RULE_PEOPLE;
}

struct error *report_choose(const struct profile *profile,
			    struct report_options *options)
{
	enum symbol_rule rule = report_symbol_rule(options);
	struct symbol_choice *symbols = NULL, *filter = NULL;
	struct error *error = NULL;

	if (options->symbols.count)
		error = symbol_choose_words(profile, &options->symbols, rule,
					    &symbols);
	if (!error && options->symbol_filter)
		error = symbol_choose_text(profile, options->symbol_filter,
					   rule, &filter);
	if (error) {
		symbol_choice_destroy(symbols);
		return error;
	}
	options->symbols_choice = symbols;
	options->filter_choice = filter;
	return NULL;
}

void report_drop_choices(struct report_options *options)
{
	symbol_choice_destroy(options->symbols_choice);
	symbol_choice_destroy(options->filter_choice);
	options->symbols_choice = options->filter_choice = NULL;
}

struct error *report_parents(const struct profile *profile,
			     const struct report_options *options,
			     uint32_t **ret)
{
	bool caller_order = report_caller_order(options);

	if (!report_has_key(options, REPORT_PARENT))
		return NULL;
	if (!options->parent)
		return symbol_match_parents(profile, SYMBOL_MATCH_PARENT,
					    SYMBOL_RULE_PERF, caller_order,
					    ret);
	return symbol_match_parents(profile, options->parent,
				    report_symbol_rule(options), caller_order,
				    ret);
}

/* perf resolves no chain that it does not show. */
static bool looks_at_chains(const struct report_options *options)
{
	return !options->quirks.hidden_chains_unmatched || options->children ||
	       options->callgraph.type != CALLGRAPH_NONE ||
	       report_has_key(options, REPORT_PARENT);
}

struct error *report_locate(const struct profile *profile,
			    const struct report_options *options,
			    struct locations **ret)
{
	_cleanup_free_ bool *cut_below = NULL;
	struct error *error = NULL;
	struct location_options how = {
		.source = source_text,
		.source_arg = options,
		.step_key = options->quirks.steps_by_line_text ?
				    source_step_text :
				    NULL,
		.hide_unresolved = hides_samples(options),
		.chain_key = options->callgraph.key,
		.interpreter_frames = options->interpreter_frames,
		.python_only = options->python_only,
		.memory_addresses = options->quirks.memory_addresses,
		.inlined_hits_container =
			options->quirks.inlined_hits_container,
		.inlined_by_container = options->quirks.inlined_by_container,
		.sources_by_address = options->quirks.sources_by_address,
	};

	if (report_has_key(options, REPORT_DSO))
		how.entry_keys |= ENTRY_KEY_DSO;
	if (report_has_key(options, REPORT_SYMBOL))
		how.entry_keys |= ENTRY_KEY_SYMBOL;
	if (report_has_key(options, REPORT_SRCLINE))
		how.entry_keys |= ENTRY_KEY_SRCLINE;
	if (report_has_key(options, REPORT_SRCFILE))
		how.entry_keys |= ENTRY_KEY_SRCFILE;
	how.cut_above = options->quirks.callers_ignored &&
			report_caller_order(options);
	if (options->ignore_callees && looks_at_chains(options))
		error = symbol_matches(profile, options->ignore_callees,
				       report_symbol_rule(options),
				       &cut_below);
	how.cut_below = cut_below;
	return error ? error : locations_create(profile, &how, ret);
}

static bool has_notes(const struct report *r)
{
	return !r->options.quirks.no_notes && !r->options.quiet;
}

static struct error *put_events(struct report *r)
{
	uint32_t first = r->options.first_event == PROFILE_NONE ?
				 PROFILE_NONE :
				 table_of(r, r->options.first_event);
	struct error *error = NULL;

	if (first != PROFILE_NONE && r->profile->events.data[first].samples)
		error = put_event(r, first);
	for (uint32_t i = 0; !r->options.one_event && !error &&
			     i < r->profile->events.count;
	     i++)
		if (i != first && r->profile->events.data[i].samples &&
		    table_of(r, i) == i)
			error = put_event(r, i);
	return error;
}

static struct error *put_report(struct report *r)
{
	struct error *error =
		report_locate(r->profile, &r->options, &r->locations);
	size_t from;

	if (!error)
		error = report_parents(r->profile, &r->options, &r->parents);
	if (error)
		return error;
	put_top(r);
	if (has_notes(r))
		error = report_first_note(r->profile, r->options.is_filtered,
					  &r->text);
	if (!r->options.header)
		fit_prose(r, 0);
	if (!error)
		error = put_events(r);
	if (error)
		return error;
	from = r->text.len;
	if (has_notes(r))
		error = report_notes(r->profile, &r->text);
	fit_prose(r, from);
	return error ? error : flush(r);
}

void report_settle(const struct profile *profile,
		   struct report_options *options)
{
	if (!has_callchains(profile)) {
		options->children = false;
		options->callgraph.type = CALLGRAPH_NONE;
	}
	report_arrange(options);
}

/*
 * Each entry repeats what the entries above it show of its callees. Who asks
 * for no limit gets a call graph to read; who has it read by a program, all.
 */
static void cut_graphs(struct report *r)
{
	struct report_options *o = &r->options;
	struct report_callgraph *graph = &o->callgraph;

	if (o->percent_limit >= 0 || o->quirks.graphs_of_all || o->quiet ||
	    o->field_separator ||
	    (graph->type != CALLGRAPH_GRAPH &&
	     graph->type != CALLGRAPH_FRACTAL))
		return;
	/* Entries that are asked for are shown, however light. */
	r->is_cut = !o->symbols.count && !o->dsos.count && !o->comms.count &&
		    !o->symbol_filter;
	o->percent_limit = r->is_cut ? GRAPH_PERCENT_LIMIT : 0;
	r->branches_are_cut = !graph->has_threshold;
	if (r->branches_are_cut)
		graph->threshold = GRAPH_PERCENT_LIMIT;
}

struct error *report_write(const struct profile *profile,
			   const struct report_options *options, FILE *out)
{
	struct report r = { .profile = profile,
			    .options = *options,
			    .text = STRBUF_INIT,
			    .out = out };
	struct error *error;

	report_settle(profile, &r.options);
	cut_graphs(&r);
	error = report_choose(profile, &r.options);
	if (!error)
		error = put_report(&r);
	report_drop_choices(&r.options);
	locations_destroy(r.locations);
	free(r.parents);
	strbuf_deinit(&r.text);
	if (!error && fflush(out))
		error = error_os(errno, NULL, "cannot write the report");
	return error;
}
