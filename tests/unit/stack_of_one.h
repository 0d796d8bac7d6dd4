/* SPDX-License-Identifier: GPL-2.0-only */
/* What builds the stacks of one process, 7, of which nothing else is known. */
#ifndef KAA_UNIT_STACK_OF_ONE_H
#define KAA_UNIT_STACK_OF_ONE_H

#include "assert_ok.h"
#include "collect/sample_stack.h"

struct stack_of_one {
	struct code_table codes;
	struct process_table *processes;
	struct target_list targets;
	struct target *target;
	struct stack_builder builder;
};

/* Stays where it is: the builder points to the codes. */
static inline void stack_of_one_init(struct stack_of_one *one)
{
	struct process *process;

	*one = (struct stack_of_one){};
	code_table_init(&one->codes);
	assert_ok(process_table_create(&one->processes));
	assert_ok(process_table_get(one->processes, 7, 1, &process));
	assert_ok(target_get(&one->targets, process, &one->target));
	assert_ok(stack_builder_init(&one->builder, &one->codes, 0));
}

static inline void stack_of_one_deinit(struct stack_of_one *one)
{
	stack_builder_deinit(&one->builder);
	target_list_deinit(&one->targets);
	process_table_destroy(one->processes);
	code_table_deinit(&one->codes);
}

#endif
