/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Resolved samples to the profile model, one at a time: for who fills a profile while
 * it is looked at (convert/live.h). convert_add_to_profile() is for all others.
 *
 *	model_begin(&model);
 *	... converter_run(converter, model_add_sample, &model) ...
 *	model_deinit(&model);
 */
#ifndef KAA_CONVERT_MODEL_H
#define KAA_CONVERT_MODEL_H

#include "base/vec.h"
#include "convert/convert.h"

/* One step of a stack in the profile. */
struct model_step {
	uint32_t frame;
	uint32_t stack;
};

struct model {
	struct converter *converter;
	struct profile *profile;
	/* That of the profile which is being added. */
	uint32_t recording;
	/* struct event.index to the profile's event, or PROFILE_NONE. */
	VEC(uint32_t) events;
	/* struct dso.index to the profile's dso, or PROFILE_NONE. */
	VEC(uint32_t) dsos;
	/* The stack added last, from its outermost frame. */
	VEC(struct model_step) path;
	/* Of the sample in work: a value for each label; the CPU's place. */
	VEC(uint32_t) labels;
	uint32_t cpu_label;
	/* The task found last. */
	int32_t pid;
	int32_t tid;
	const char *comm;
	const char *thread_name;
	uint32_t task;
};
#define MODEL_INIT(c, p) \
	{ .converter = (c), .profile = (p), .task = PROFILE_NONE }

/* Adds a recording to the profile, whose labels are all there. */
struct error *model_begin(struct model *model);
/* A convert_sample_fn; arg is the model. */
struct error *model_add_sample(const struct convert_sample *sample, void *arg);
/*
 * The stacks of the profile have other handles (profile/profile_window.h). Not
 * before the sample in work was added.
 */
void model_forget_stacks(struct model *model);
/* Adds the events that no sample was of. */
struct error *model_add_events(struct model *model);
void model_deinit(struct model *model);

#endif
