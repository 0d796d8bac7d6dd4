# SPDX-License-Identifier: GPL-2.0-only
# Prints the environment, a line each, and exits with 5: for 32 bits, without a C library.
	.globl _start
_start:	movl (%esp), %ecx		# argc
	leal 8(%esp,%ecx,4), %esi	# behind argv and its NULL
next:	movl (%esi), %ecx
	testl %ecx, %ecx
	jz done
	addl $4, %esi
	xorl %edx, %edx
length:	cmpb $0, (%ecx,%edx)
	je print
	incl %edx
	jmp length
print:	movb $10, (%ecx,%edx)		# its NUL
	incl %edx
	movl $4, %eax			# write(1, entry, size)
	movl $1, %ebx
	int $0x80
	jmp next
done:	movl $1, %eax			# exit(5)
	movl $5, %ebx
	int $0x80
