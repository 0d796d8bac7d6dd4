/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call frame information of one ELF file as rows: for a range of addresses,
 * how to find the canonical frame address (CFA: the stack pointer in the
 * caller right after the call returned), the return address and the caller's
 * registers.
 *
 * Sources of the format: DWARF 5 section 6.4 (.debug_frame), Linux Standard
 * Base 5.0 core "Exception Frames" (.eh_frame, .eh_frame_hdr), System V x86-64
 * psABI section 3.7 (pointer encodings, registers).
 *
 * A table indexes all FDEs when it is created, and interprets an FDE when a
 * first address in it is looked up; rows stay. Equal sets of rules are stored
 * once, so that a row takes 8 bytes. A table may hold the sections or read of them
 * what it needs (cfi_table_unload()). Where .eh_frame has nothing for an
 * address, .debug_frame is asked.
 *
 * Not thread-safe, lookups included. Rules that a lookup returned live as long
 * as the table.
 */
#ifndef KAA_UNWIND_CFI_H
#define KAA_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "unwind/regs.h"

/*
 * The sections of one file. An absent one has size 0. All bytes are borrowed
 * and must outlive the table. Addresses are those of the file (vaddr), before
 * any load bias.
 */
struct cfi_sections {
	struct bytes eh_frame;
	uint64_t eh_frame_vaddr;
	struct bytes eh_frame_hdr;
	uint64_t eh_frame_hdr_vaddr;
	struct bytes debug_frame;
	/* Bases of DW_EH_PE_textrel and datarel pointers; 0 if unknown. */
	uint64_t text_vaddr;
	uint64_t got_vaddr;
	/* For error messages; borrowed, may be NULL. */
	const char *path;
};

enum cfi_kind {
	/* Registers only: the value of the caller is the one here. */
	CFI_SAME,
	/* Not known; for the return address: this is the outermost frame. */
	CFI_UNDEFINED,
	/* Register: saved at CFA + value. CFA: register `reg` + value. */
	CFI_OFFSET,
	/* Registers only: the value is CFA + value. */
	CFI_VAL_OFFSET,
	/* Registers only: the value is in register `reg`. */
	CFI_REGISTER,
	/* `value` numbers an expression that gives the address of the value. */
	CFI_EXPRESSION,
	/* `value` numbers an expression that gives the value (the CFA's too). */
	CFI_VAL_EXPRESSION,
};

/* How to find one thing: the CFA or a register of the caller. */
struct cfi_rule {
	uint8_t kind;
	/* The register that CFI_REGISTER, or CFI_OFFSET of a CFA, refers to. */
	uint8_t reg;
	/* 0; named so that rules compare as bytes. */
	uint16_t reserved;
	int32_t value;
};

struct cfi_table;

/* All rules that hold at an address. */
struct cfi_rules {
	/* Whose expressions the rules number. */
	const struct cfi_table *table;
	/* CFI_OFFSET or CFI_VAL_EXPRESSION, or CFI_UNDEFINED: no way up. */
	struct cfi_rule cfa;
	/* The frame is one that the kernel made to run a signal handler. */
	uint8_t signal_frame;
	uint8_t reserved[7];
	/*
	 * Per register of the caller; [UNWIND_RIP] is the return address. What the
	 * file says nothing about is filled in as the psABI has it: rbx, rbp and
	 * r12 to r15 are CFI_SAME, rsp is the CFA, others are CFI_UNDEFINED.
	 */
	struct cfi_rule reg[UNWIND_REGS];
};

/* The function-like piece of code (FDE) that an address lies in. */
struct cfi_range {
	uint64_t start;
	uint64_t end;
};

/*
 * Indexes the sections. Damaged entries are left out, as far as the next ones
 * can still be found; a table may be empty. Fails only for want of memory or
 * with ERROR_LIMIT (more than 2^28 bytes of CFI).
 */
struct error *cfi_table_create(const struct cfi_sections *sections,
			       struct cfi_table **ret);
void cfi_table_destroy(struct cfi_table *table);

/*
 * The rules at vaddr, or NULL: not covered, damaged, or memory ran out.
 */
const struct cfi_rules *cfi_find(struct cfi_table *table, uint64_t vaddr);

/* Where the bytes of the sections can be read again. */
struct cfi_source {
	/* Exactly size bytes at an offset of what it reads; else false. */
	bool (*read)(void *arg, uint64_t offset, void *buf, size_t size);
	void *arg;
	/* Where the sections begin in it. */
	uint64_t eh_frame;
	uint64_t debug_frame;
};

/*
 * From now on the bytes of the sections are not the table's: an entry is read when
 * a first address in it is looked up.
 */
void cfi_table_unload(struct cfi_table *table, const struct cfi_source *source);

/* True if nothing is covered. */
bool cfi_is_empty(const struct cfi_table *table);

/* The extent of the FDE that covers vaddr; false if none does. */
bool cfi_find_range(const struct cfi_table *table, uint64_t vaddr,
		    struct cfi_range *ret);

/*
 * The code around vaddr, which no FDE covers: narrows *range to what lies
 * behind the FDE before it and before the FDE behind it.
 */
void cfi_narrow_gap(const struct cfi_table *table, uint64_t vaddr,
		    struct cfi_range *range);

/* The bytes of expression `number` of a rule of this table. */
struct bytes cfi_expression(const struct cfi_table *table, int32_t number);

/*
 * Where .eh_frame starts according to .eh_frame_hdr, for files whose section
 * headers are stripped. false if the header does not say.
 */
bool cfi_hdr_eh_frame(struct bytes eh_frame_hdr, uint64_t eh_frame_hdr_vaddr,
		      uint64_t *ret);

struct cfi_stats {
	/* FDEs known, and those interpreted so far. */
	size_t fdes;
	size_t fdes_built;
	size_t rows;
	/* Distinct sets of rules. */
	size_t rule_sets;
	/* Memory held, in bytes. */
	size_t memory;
};

void cfi_table_stats(const struct cfi_table *table, struct cfi_stats *ret);
/* cfi_stats.memory alone. */
size_t cfi_table_memory(const struct cfi_table *table);

/* The i-th FDE in order of addresses (i < stats.fdes): for tests, dumps. */
struct cfi_range cfi_fde_at(const struct cfi_table *table, size_t i);

DEFINE_CLEANUP(cfi_table, struct cfi_table *, cfi_table_destroy);
#define _cleanup_cfi_table_ _cleanup_(cleanup_cfi_table_)

#endif
