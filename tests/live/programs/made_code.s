# SPDX-License-Identifier: GPL-2.0-only
# Functions that live/programs/made_code.c copies into memory of no file. Each turns %rdi times, or calls %rdi.

	.text

	# Uses the frame pointer as it likes, as a compiler without frame pointers does.
	.globl bare_outer
	.type bare_outer, @function
bare_outer:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	push %rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
	sub $40, %rsp
	.cfi_def_cfa_offset 64
	lea 8(%rsp), %rbp
	call bare_inner
	add $40, %rsp
	.cfi_def_cfa_offset 24
	pop %rbx
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size bare_outer, .-bare_outer

	.globl bare_inner
	.type bare_inner, @function
bare_inner:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	sub $64, %rsp
	.cfi_def_cfa_offset 80
1:	dec %rdi
	jnz 1b
	add $64, %rsp
	.cfi_def_cfa_offset 16
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size bare_inner, .-bare_inner

	.globl bare_call
	.type bare_call, @function
bare_call:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	sub $80, %rsp
	.cfi_def_cfa_offset 96
	lea 8(%rsp), %rbp
	call *%rdi
	add $80, %rsp
	.cfi_def_cfa_offset 16
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size bare_call, .-bare_call

	.globl framed_outer
	.type framed_outer, @function
framed_outer:
	push %rbp
	mov %rsp, %rbp
	sub $16, %rsp
	movq $0, (%rsp)
	movq $0, 8(%rsp)
	call framed_inner
	leave
	ret
	.size framed_outer, .-framed_outer

	.globl framed_inner
	.type framed_inner, @function
framed_inner:
	push %rbp
	mov %rsp, %rbp
1:	dec %rdi
	jnz 1b
	pop %rbp
	ret
	.size framed_inner, .-framed_inner

	# Leaves the frame pointer to its caller, but has a frame.
	.globl frameless
	.type frameless, @function
frameless:
	sub $24, %rsp
1:	dec %rdi
	jnz 1b
	add $24, %rsp
	ret
	.size frameless, .-frameless

	.section .note.GNU-stack, "", @progbits
