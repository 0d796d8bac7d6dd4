// SPDX-License-Identifier: GPL-2.0-only
#include "view/script/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "view/script/put.h"

/* --- Registers ---------------------------------------------------------- */

static const char *x86_name(unsigned int bit, char *buffer, size_t size)
{
	static const char *const names[] = {
		"AX", "BX", "CX",    "DX", "SI", "DI", "BP", "SP",
		"IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS",
	};

	if (bit < 16)
		return names[bit];
	if (bit < 24)
		snprintf(buffer, size, "R%u", bit - 8);
	else if (bit >= 32)
		snprintf(buffer, size, "XMM%u", (bit - 32) / 2);
	else
		snprintf(buffer, size, "unknown");
	return buffer;
}

static const char *arm64_name(unsigned int bit, char *buffer, size_t size)
{
	static const char *const names[] = { "lr", "sp", "pc" };

	if (bit >= 30 && bit < 33)
		return names[bit - 30];
	if (bit < 30)
		snprintf(buffer, size, "x%u", bit);
	else
		snprintf(buffer, size, bit == 46 ? "vg" : "unknown");
	return buffer;
}

static const char *register_name(const char *arch, unsigned int bit,
				 char *buffer, size_t size)
{
	if (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64"))
		return arm64_name(bit, buffer, size);
	if (!strcmp(arch, "x86_64") || !strncmp(arch, "i", 1))
		return x86_name(bit, buffer, size);
	snprintf(buffer, size, "r%u", bit);
	return buffer;
}

void script_put_regs(struct strbuf *out, const struct record_regs *regs,
		     const char *arch)
{
	struct utsname host;
	uint32_t i = 0;

	if (!regs->abi)
		return;
	if (!arch)
		arch = uname(&host) ? "" : host.machine;
	strbuf_printf(out, " ABI:%" PRIu64 " ", regs->abi);
	for (unsigned int bit = 0; bit < 64 && i < regs->count; bit++) {
		char buffer[16];

		if (!(regs->mask >> bit & 1))
			continue;
		strbuf_printf(out, "%5s:0x%" PRIx64 " ",
			      register_name(arch, bit, buffer, sizeof(buffer)),
			      regs->values[i++]);
	}
}

/* --- Memory ------------------------------------------------------------- */

void script_put_page_size(struct strbuf *out, uint64_t size)
{
	static const char units[] = "BKMG";
	size_t unit = 0;

	if (!size) {
		strbuf_puts(out, " N/A");
		return;
	}
	for (; size / 1024 > 1 && unit < sizeof(units) - 2; unit++)
		size /= 1024;
	strbuf_printf(out, " %" PRIu64 "%c", size, units[unit]);
}

/* Appends the names of the bits that are set; false if there are none. */
static bool put_bits(struct strbuf *out, uint64_t bits, const char *const *names,
		     size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		if (!(bits >> i & 1))
			continue;
		strbuf_printf(out, "%s%s", any ? " or " : "", names[i]);
		any = true;
	}
	return any;
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void put_operation(struct strbuf *out, uint64_t op)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH",
					     "EXEC" };

	for (size_t i = 0; i < COUNT(names); i++) {
		if (!(op >> i & 1))
			continue;
		strbuf_puts(out, names[i]);
		return;
	}
	strbuf_puts(out, "No");
}

/* Where it was found, as newer kernels number it. */
static void put_level_number(struct strbuf *out,
			     const union perf_mem_data_src *src)
{
	static const char *const levels[16] = {
		[1] = "L1",	      [2] = "L2",
		[3] = "L3",	      [4] = "L4",
		[5] = "L2 MHB",	      [6] = "Memory-side Cache",
		[8] = "Uncached",     [9] = "CXL",
		[10] = "I/O",	      [11] = "Any cache",
		[12] = "LFB/MAB",     [13] = "RAM",
		[14] = "PMEM",
	};
	static const char *const hops[8] = { [1] = "core, same node",
					     [2] = "node, same socket",
					     [3] = "socket, same board",
					     [4] = "board" };
	/* Newer headers call these three bits mem_hops. */
	unsigned int hop = src->val >> 43 & 7;

	if (src->mem_remote)
		strbuf_puts(out, "Remote ");
	if (hop && hops[hop])
		strbuf_printf(out, "%s ", hops[hop]);
	if (levels[src->mem_lvl_num])
		strbuf_puts(out, levels[src->mem_lvl_num]);
	else
		strbuf_printf(out, "Unknown level %u",
			      (unsigned int)src->mem_lvl_num);
}

static void put_level(struct strbuf *out, const union perf_mem_data_src *src)
{
	static const char *const levels[] = {
		"N/A",
		"HIT",
		"MISS",
		"L1",
		"LFB/MAB",
		"L2",
		"L3",
		"Local RAM",
		"Remote RAM (1 hop)",
		"Remote RAM (2 hops)",
		"Remote Cache (1 hop)",
		"Remote Cache (2 hops)",
		"I/O",
		"Uncached",
	};
	/* Without N/A, HIT and MISS. */
	uint64_t bits = src->mem_lvl & ~7ull;

	if (src->mem_lvl_num && src->mem_lvl_num != PERF_MEM_LVLNUM_NA)
		put_level_number(out, src);
	else if (!put_bits(out, bits, levels, COUNT(levels))) {
		strbuf_puts(out, "N/A");
		return;
	}
	strbuf_puts(out, src->mem_lvl & PERF_MEM_LVL_HIT    ? " hit" :
			 src->mem_lvl & PERF_MEM_LVL_MISS ? " miss" :
							    " ");
}

static void put_snoop(struct strbuf *out, const union perf_mem_data_src *src)
{
	static const char *const names[] = { "N/A", "None", "Hit", "Miss",
					     "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	bool any = put_bits(out, src->mem_snoop, names, COUNT(names));

	if (any && src->mem_snoopx)
		strbuf_puts(out, " or ");
	any |= put_bits(out, src->mem_snoopx, more, COUNT(more));
	if (!any)
		strbuf_puts(out, "N/A");
}

static void put_tlb(struct strbuf *out, const union perf_mem_data_src *src)
{
	static const char *const names[] = { "N/A", "HIT", "MISS",   "L1",
					     "L2",  "Walker", "Fault" };
	uint64_t bits = src->mem_dtlb &
			~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS);

	if (!put_bits(out, bits, names, COUNT(names)))
		strbuf_puts(out, "N/A");
	if (src->mem_dtlb & PERF_MEM_TLB_HIT)
		strbuf_puts(out, " hit");
	if (src->mem_dtlb & PERF_MEM_TLB_MISS)
		strbuf_puts(out, " miss");
}

static void put_blocked(struct strbuf *out, uint64_t blocked)
{
	if (!blocked || (blocked & 1)) {
		strbuf_puts(out, " N/A");
		return;
	}
	if (blocked & 2)
		strbuf_puts(out, " Data");
	if (blocked & 4)
		strbuf_puts(out, " Addr");
}

void script_put_data_src(struct strbuf *out, uint64_t data_src)
{
	const union perf_mem_data_src src = { .val = data_src };

	script_put_hex(out, data_src, 16);
	strbuf_puts(out, " |OP ");
	put_operation(out, src.mem_op);
	strbuf_puts(out, "|LVL ");
	put_level(out, &src);
	strbuf_puts(out, "|SNP ");
	put_snoop(out, &src);
	strbuf_puts(out, "|TLB ");
	put_tlb(out, &src);
	strbuf_puts(out, "|LCK ");
	strbuf_puts(out, src.mem_lock & PERF_MEM_LOCK_NA     ? "N/A" :
			 src.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes" :
							       "No");
	strbuf_puts(out, "|BLK ");
	/* Newer headers call these three bits mem_blk. */
	put_blocked(out, data_src >> 40 & 7);
}

/* --- BPF output --------------------------------------------------------- */

enum { LINE_BYTES = 8 };

static char printable(uint8_t byte)
{
	return byte < 0x80 && isprint(byte) ? (char)byte : '.';
}

static void put_line(struct strbuf *out, const uint8_t *data, size_t at,
		     size_t n)
{
	strbuf_printf(out, "%17s %04zx:", at ? "" : "BPF output:", at);
	for (size_t i = 0; i < LINE_BYTES; i++) {
		if (i < n)
			strbuf_printf(out, " %02x", data[at + i]);
		else
			strbuf_puts(out, "   ");
	}
	strbuf_puts(out, "  ");
	for (size_t i = 0; i < n; i++)
		strbuf_putc(out, printable(data[at + i]));
	strbuf_fill(out, ' ', LINE_BYTES - n);
	strbuf_putc(out, '\n');
}

/* Printable, and nothing but NULs behind. */
static bool is_text(const uint8_t *data, size_t n)
{
	size_t length = strnlen((const char *)data, n);

	for (size_t i = 0; i < n; i++)
		if (i < length ? printable(data[i]) == '.' && data[i] != '.' :
				 data[i] != 0)
			return false;
	return length < n;
}

void script_put_bpf_output(struct strbuf *out, const uint8_t *data, size_t n)
{
	strbuf_putc(out, '\n');
	for (size_t at = 0; at < n; at += LINE_BYTES)
		put_line(out, data, at,
			 n - at < LINE_BYTES ? n - at : LINE_BYTES);
	if (is_text(data, n))
		strbuf_printf(out, "%17s \"%s\"\n",
			      "BPF string:", (const char *)data);
}

/* --- Flags and times ---------------------------------------------------- */

/* The letter of what a record of this type may have; 0: nothing. */
static const char *type_letters(const struct record *record)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return record->misc & PERF_RECORD_MISC_MMAP_DATA ? "M" : "";
	case PERF_RECORD_COMM:
		return record->misc & PERF_RECORD_MISC_COMM_EXEC ? "E" : "";
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (!(record->misc & PERF_RECORD_MISC_SWITCH_OUT))
			return "";
		return record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ?
			       "Sp" :
			       "S";
	default:
		return "";
	}
}

/* As in perf, modes whose bits are among the mode's count, too. */
void script_misc_letters(const struct record *record, char ret[16])
{
	static const char letters[] = "KUHGg";
	size_t n = 0;

	for (unsigned int mode = 1; mode < sizeof(letters); mode++)
		if ((record->misc & mode) == mode)
			ret[n++] = letters[mode - 1];
	snprintf(ret + n, 16 - n, "%s", type_letters(record));
}

void script_time_of_day(const struct features *features, uint64_t time,
			bool ns, char *ret, size_t size)
{
	uint64_t wall = features->clock_wall_ns + (time - features->clock_ns);
	time_t seconds = (time_t)(wall / 1000000000);
	uint64_t rest = wall % 1000000000;
	struct tm local;
	char date[64];

	*ret = '\0';
	if (!features_have(features, FEATURE_CLOCK_DATA) ||
	    !localtime_r(&seconds, &local))
		return;
	strftime(date, sizeof(date), "%F %H:%M:%S", &local);
	if (ns)
		snprintf(ret, size, "%s.%09" PRIu64, date, rest);
	else
		snprintf(ret, size, "%s.%06" PRIu64, date, rest / 1000);
}
