// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that runs three stacks in turn as greenlet does: all in the same
 * memory, of which what a stack needs is copied away and back at each switch.
 * Its functions have greenlet's names, and `red` and `blue` are such stacks;
 * none of the three calls another.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

enum { SLICE_MAX = 1 << 16, DEPTH = 12 };

struct task {
	void (*run)(void);
	/* Where it was left; start NULL: it has not begun. stop: its first frame's end. */
	char *start;
	char *stop;
	size_t saved;
	char copy[SLICE_MAX];
};

static struct task main_task, red_task, blue_task;
static struct task *current = &main_task, *target;
static volatile unsigned long sink;

/* By which greenlet's extension module is known. */
void PyInit__greenlet(void)
{
}

CALLED int save_state(char *sp)
{
	current->start = sp;
	current->saved = 0;
	if (current->stop < sp || (size_t)(current->stop - sp) > SLICE_MAX)
		abort();
	current->saved = (size_t)(current->stop - sp);
	memcpy(current->copy, sp, current->saved);
	return target->start != NULL;
}

CALLED void restore_state(void)
{
	memcpy(target->start, target->copy, target->saved);
	/* For the sampler: long enough to be met. */
	for (int i = 0; i < 200; i++)
		sink += (unsigned long)i;
}

/*
 * 1 on the stack that begins, 0 on one that goes on. Its frame is the same for
 * each stack: what it keeps is in rbx and rbp.
 */
int slp_switch(void);
asm(".text\n"
    ".globl slp_switch\n"
    ".type slp_switch, @function\n"
    "slp_switch:\n"
    ".cfi_startproc\n"
    "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset rbp, -16\n"
    "push %rbx\n .cfi_def_cfa_offset 24\n .cfi_offset rbx, -24\n"
    "push %r12\n .cfi_def_cfa_offset 32\n .cfi_offset r12, -32\n"
    "push %r13\n .cfi_def_cfa_offset 40\n .cfi_offset r13, -40\n"
    "push %r14\n .cfi_def_cfa_offset 48\n .cfi_offset r14, -48\n"
    "push %r15\n .cfi_def_cfa_offset 56\n .cfi_offset r15, -56\n"
    "sub $8, %rsp\n .cfi_def_cfa_offset 64\n"
    "mov %rsp, %rbx\n"
    "mov %rsp, %rdi\n"
    "call save_state\n"
    "test %eax, %eax\n"
    "mov $1, %eax\n"
    "je 1f\n"
    "call target_start\n"
    "sub %rbx, %rax\n"
    "add %rax, %rsp\n"
    "add %rax, %rbp\n"
    "call restore_state\n"
    "xor %eax, %eax\n"
    "1: add $8, %rsp\n .cfi_def_cfa_offset 56\n"
    "pop %r15\n .cfi_def_cfa_offset 48\n"
    "pop %r14\n .cfi_def_cfa_offset 40\n"
    "pop %r13\n .cfi_def_cfa_offset 32\n"
    "pop %r12\n .cfi_def_cfa_offset 24\n"
    "pop %rbx\n .cfi_def_cfa_offset 16\n"
    "pop %rbp\n .cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size slp_switch, .-slp_switch\n");

CALLED char *target_start(void)
{
	return target->start;
}

CALLED int g_switchstack(struct task *to)
{
	int begins;

	target = to;
	begins = slp_switch();
	current = target;
	return begins;
}

CALLED void g_initialstub(struct task *to, char *mark)
{
	to->stop = mark;
	if (g_switchstack(to))
		for (;;)
			to->run();
}

CALLED void g_switch(struct task *to)
{
	char mark[64];

	memset(mark, 0, sizeof(mark));
	if (to->start)
		g_switchstack(to);
	else
		g_initialstub(to, mark);
	sink += (unsigned long)mark[8];
}

CALLED void burn(void)
{
	for (int i = 0; i < 2000; i++)
		sink += (unsigned long)i;
}

CALLED void red_leaf(int depth)
{
	if (depth) {
		red_leaf(depth - 1);
	} else {
		burn();
		g_switch(&main_task);
	}
	sink++;
}

CALLED void blue_leaf(int depth)
{
	if (depth) {
		blue_leaf(depth - 1);
	} else {
		burn();
		g_switch(&main_task);
	}
	sink++;
}

CALLED void red(void)
{
	for (int depth = 0; depth < DEPTH; depth++)
		red_leaf(depth);
}

CALLED void blue(void)
{
	for (int depth = DEPTH; depth; depth--)
		blue_leaf(depth);
}

/* Begins and goes on with the others at ever other depths. */
CALLED void main_leaf(int depth)
{
	if (depth) {
		main_leaf(depth - 1);
	} else {
		g_switch(&red_task);
		burn();
		g_switch(&blue_task);
	}
	sink++;
}

int main(void)
{
	char base[64];

	main_task.stop = base + sizeof(base);
	red_task.run = red;
	blue_task.run = blue;
	for (double end = seen_time() + 0.6; seen_time() < end;)
		for (int depth = 0; depth < DEPTH; depth++)
			main_leaf(depth % 7);
	return 0;
}
