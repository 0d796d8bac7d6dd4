// SPDX-License-Identifier: GPL-2.0-only
/*
 * Assembly without CFI, as libraries of linear algebra and of images have it:
 * `aligned` keeps its stack pointer in rbx and uses rbp for something else;
 * `pushes` has two ends, the first of them in the middle; `leaf` has no frame.
 * Each runs for a third of argv[1] seconds of CPU time.
 */
#include <stdlib.h>

#include "cpu_time.h"

#define CALLED __attribute__((noinline, noclone))

__asm__(".text\n"
	".type aligned, @function\n"
	"aligned:\n"
	"	sub $0x60, %rsp\n"
	"	mov %rbx, (%rsp)\n"
	"	mov %rbp, 8(%rsp)\n"
	"	mov %r12, 16(%rsp)\n"
	"	mov %rsp, %rbx\n"
	"	sub $0x2080, %rsp\n"
	"	and $-4096, %rsp\n"
	"	mov $1, %ebp\n"
	"	mov %rdi, %r12\n"
	"1:	pxor %xmm3, %xmm4\n"
	"	imul $3, %rbp\n"
	"	mov %rbp, 64(%rsp)\n"
	"	dec %r12\n"
	"	jne 1b\n"
	"	mov %rbx, %rsp\n"
	"	mov (%rsp), %rbx\n"
	"	mov 8(%rsp), %rbp\n"
	"	mov 16(%rsp), %r12\n"
	"	add $0x60, %rsp\n"
	"	ret\n"
	".size aligned, . - aligned\n"
	".type pushes, @function\n"
	"pushes:\n"
	"	push %rbp\n"
	"	push %r15\n"
	"	mov %rdi, %rbp\n"
	"	test %rdi, %rdi\n"
	"	jne 2f\n"
	"1:	lea -1(%rbp), %rax\n"
	"	pop %r15\n"
	"	pop %rbp\n"
	"	ret\n"
	"2:	push %rbx\n"
	"3:	lea (%rbp,%rbp), %rbx\n"
	"	imul $5, %rbx, %r15\n"
	"	dec %rbp\n"
	"	jne 3b\n"
	"	pop %rbx\n"
	"	jmp 1b\n"
	".size pushes, . - pushes\n"
	".type leaf, @function\n"
	"leaf:\n"
	"	imul $3, %rdi, %rax\n"
	"1:	imul $3, %rax\n"
	"	dec %rdi\n"
	"	jne 1b\n"
	"	ret\n"
	".size leaf, . - leaf\n");

unsigned long aligned(unsigned long n);
unsigned long pushes(unsigned long n);
unsigned long leaf(unsigned long n);

static volatile unsigned long sink;

CALLED static void run(unsigned long (*kernel)(unsigned long), double seconds)
{
	double end = seen_time() + seconds;

	while (seen_time() < end)
		sink += kernel(200000);
	sink++;
}

int main(int argc, char **argv)
{
	double seconds = (argc > 1 ? atof(argv[1]) : 1) / 3;

	run(aligned, seconds);
	run(pushes, seconds);
	run(leaf, seconds);
	return 0;
}
