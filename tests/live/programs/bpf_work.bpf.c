// SPDX-License-Identifier: GPL-2.0-only
/* Two functions that only take time, for bpf_work.c to run. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

enum { ROUNDS = 20000 };

__attribute__((noinline))
int kaa_inner_function(volatile long sum)
{
	for (int i = 0; i < ROUNDS; i++)
		sum += i;
	return (int)sum;
}

SEC("tc")
int kaa_outer_function_name(struct __sk_buff *skb)
{
	volatile long sum = skb->len;

	for (int i = 0; i < ROUNDS; i++)
		sum += i;
	return (sum + kaa_inner_function(sum)) & 1;
}

char LICENSE[] SEC("license") = "GPL";
