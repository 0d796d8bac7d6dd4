// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "unwind/cfi_entry.h"
#include "unwind/cfi_program.h"
#include "unwind/eh_pointer.h"

enum {
	MAX_SECTION = 1 << 28,
	/* How many FDEs that start later may hide one that covers an address. */
	MAX_OVERLAP = 8,
	/* Places tried for rules whose hash collides. */
	MAX_PROBES = 4,
	/* Of an unloaded section: what is read at once, and the largest entry. */
	WINDOW = 512,
	MAX_ENTRY = 1 << 20,
};

struct fde_index {
	uint64_t start;
	uint32_t size;
	/* Of the entry in its section. */
	uint32_t offset;
	/* Rows in table.rows, if built; none if the FDE proved damaged. */
	uint32_t first_row;
	uint32_t n_rows : 31;
	uint32_t built : 1;
};

struct fde_vec VEC_BODY(struct fde_index);

struct cfi_row {
	/* From the FDE's start. */
	uint32_t offset;
	/* In table.rule_sets. */
	uint32_t rules;
};

struct indexed_section {
	struct cfi_section section;
	/* By start. */
	struct fde_vec fdes;
};

/* An entry of a section that is not loaded. */
struct window {
	struct cfi_section section;
	uint8_t bytes[WINDOW];
	/* NULL: it is in `bytes`. */
	uint8_t *large;
};

struct cfi_table {
	/* read NULL: the sections are loaded. */
	struct cfi_source source;
	struct indexed_section eh;
	struct indexed_section debug;
	VEC(struct cfi_row) rows;
	VEC(const struct cfi_rules *) rule_sets;
	VEC(struct bytes) expressions;
	/* Hash of a set of rules to its number. */
	struct map rule_numbers;
	/* Place of an expression in memory to its number. */
	struct map expression_numbers;
	/* The rule sets. */
	struct arena arena;
};

/* The CIE read last; neighbours nearly always share it. */
struct cie_cache {
	bool valid;
	uint64_t offset;
	struct cfi_cie cie;
};

static const struct cfi_cie *get_cie(const struct cfi_section *section,
				     uint64_t offset, struct cie_cache *cache)
{
	if (!cache->valid || cache->offset != offset) {
		cache->valid = cfi_cie_read(section, offset, &cache->cie);
		cache->offset = offset;
	}
	return cache->valid ? &cache->cie : NULL;
}

/* Linkers leave FDEs of code that they dropped at address 0. */
static bool is_dropped(const struct cfi_section *section,
		       const struct cfi_fde *fde)
{
	return fde->size == 0 || (!section->eh && fde->start == 0);
}

static bool add_fde(struct indexed_section *indexed,
		    const struct cfi_entry *entry, uint64_t offset,
		    struct cie_cache *cache)
{
	const struct cfi_section *section = &indexed->section;
	const struct cfi_cie *cie = get_cie(section, entry->cie, cache);
	struct cfi_fde fde;

	if (!cie || !cfi_fde_read(section, entry, cie, &fde) ||
	    is_dropped(section, &fde) || fde.size > UINT32_MAX ||
	    fde.start + fde.size < fde.start)
		return true;
	return vec_push(&indexed->fdes,
			(struct fde_index){ .start = fde.start,
					    .size = (uint32_t)fde.size,
					    .offset = (uint32_t)offset });
}

/*
 * Adds the FDEs that stand one behind the other; *end gets the place where the
 * entries end.
 */
static bool scan_section(struct indexed_section *indexed, uint64_t *end)
{
	struct cie_cache cache = {};
	struct cfi_entry entry;
	uint64_t offset = 0;

	for (; offset < indexed->section.bytes.size &&
	       cfi_entry_read(&indexed->section, offset, &entry);
	     offset = entry.next) {
		/* .eh_frame may be followed by what is no CFI at all. */
		if (entry.kind == CFI_ENTRY_TERMINATOR && indexed->section.eh &&
		    entry.next == offset + 4)
			break;
		if (entry.kind == CFI_ENTRY_FDE &&
		    !add_fde(indexed, &entry, offset, &cache))
			return false;
	}
	*end = offset;
	return true;
}

struct hdr {
	struct reader reader;
	struct eh_pointer_bases bases;
	uint64_t eh_frame;
	uint64_t count;
	uint8_t table_encoding;
};

/* LSB 5.0 core, "The .eh_frame_hdr section". */
static bool read_hdr(struct bytes bytes, uint64_t vaddr, struct hdr *hdr)
{
	struct reader *r = &hdr->reader;
	uint8_t version = 0, frame_encoding = 0, count_encoding = 0;

	if (bytes.size == 0)
		return false;
	*r = reader_init(bytes.data, bytes.size);
	hdr->bases = (struct eh_pointer_bases){ .section = vaddr,
						.data = vaddr };
	hdr->count = 0;
	reader_u8(r, &version);
	reader_u8(r, &frame_encoding);
	reader_u8(r, &count_encoding);
	reader_u8(r, &hdr->table_encoding);
	if (r->failed || version != 1 ||
	    !eh_pointer_read(r, frame_encoding, &hdr->bases, &hdr->eh_frame))
		return false;
	if (count_encoding != EH_PE_OMIT &&
	    !eh_pointer_read(r, count_encoding, &hdr->bases, &hdr->count))
		hdr->count = 0;
	return true;
}

bool cfi_hdr_eh_frame(struct bytes eh_frame_hdr, uint64_t eh_frame_hdr_vaddr,
		      uint64_t *ret)
{
	struct hdr hdr;

	if (!read_hdr(eh_frame_hdr, eh_frame_hdr_vaddr, &hdr))
		return false;
	*ret = hdr.eh_frame;
	return true;
}

/*
 * Adds the FDEs that the search table lists at or behind `from`: a terminator
 * that some startup object brought along hides them from scan_section().
 */
static bool scan_hdr(struct indexed_section *indexed, struct bytes bytes,
		     uint64_t vaddr, uint64_t from)
{
	struct cie_cache cache = {};
	struct cfi_entry entry;
	struct hdr hdr;
	uint64_t start, fde;

	if (!read_hdr(bytes, vaddr, &hdr))
		return true;
	for (uint64_t i = 0; i < hdr.count; i++) {
		if (!eh_pointer_read(&hdr.reader, hdr.table_encoding,
				     &hdr.bases, &start) ||
		    !eh_pointer_read(&hdr.reader, hdr.table_encoding,
				     &hdr.bases, &fde))
			break;
		fde -= indexed->section.vaddr;
		if (fde < from || fde >= indexed->section.bytes.size ||
		    !cfi_entry_read(&indexed->section, fde, &entry) ||
		    entry.kind != CFI_ENTRY_FDE)
			continue;
		if (!add_fde(indexed, &entry, fde, &cache))
			return false;
	}
	return true;
}

static int compare_fdes(const void *va, const void *vb)
{
	const struct fde_index *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* The smaller one last: it is found first. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_fdes(struct fde_vec *fdes)
{
	for (size_t i = 1; i < fdes->count; i++) {
		if (fdes->data[i].start <= fdes->data[i - 1].start) {
			qsort(fdes->data, fdes->count, sizeof(*fdes->data),
			      compare_fdes);
			return;
		}
	}
}

static bool index_sections(struct cfi_table *table,
			   const struct cfi_sections *sections)
{
	uint64_t end;

	table->eh.section = (struct cfi_section){
		.bytes = sections->eh_frame,
		.eh = true,
		.vaddr = sections->eh_frame_vaddr,
		.text_vaddr = sections->text_vaddr,
		.got_vaddr = sections->got_vaddr,
	};
	table->debug.section = (struct cfi_section){
		.bytes = sections->debug_frame,
	};
	if (!scan_section(&table->eh, &end) ||
	    !scan_hdr(&table->eh, sections->eh_frame_hdr,
		      sections->eh_frame_hdr_vaddr, end) ||
	    !scan_section(&table->debug, &end))
		return false;
	sort_fdes(&table->eh.fdes);
	sort_fdes(&table->debug.fdes);
	return true;
}

struct error *cfi_table_create(const struct cfi_sections *sections,
			       struct cfi_table **ret)
{
	_cleanup_cfi_table_ struct cfi_table *table = NULL;

	if (sections->eh_frame.size > MAX_SECTION ||
	    sections->debug_frame.size > MAX_SECTION)
		return error_at(ERROR_LIMIT, sections->path, 0,
				"more call frame information than %d bytes",
				MAX_SECTION);
	table = calloc(1, sizeof(*table));
	if (!table || !index_sections(table, sections))
		return error_no_memory();
	*ret = take_ptr(table);
	return NULL;
}

/* What is left of growing is given back; without memory for that it stays. */
static void trim_fdes(struct fde_vec *fdes)
{
	struct fde_index *data =
		fdes->count ? realloc(fdes->data,
				      fdes->count * sizeof(*fdes->data)) :
			      NULL;

	if (!data)
		return;
	fdes->data = data;
	fdes->capacity = fdes->count;
}

void cfi_table_unload(struct cfi_table *table, const struct cfi_source *source)
{
	table->source = *source;
	table->eh.section.bytes.data = NULL;
	table->debug.section.bytes.data = NULL;
	trim_fdes(&table->eh.fdes);
	trim_fdes(&table->debug.fdes);
}

void cfi_table_destroy(struct cfi_table *table)
{
	if (!table)
		return;
	vec_deinit(&table->eh.fdes);
	vec_deinit(&table->debug.fdes);
	vec_deinit(&table->rows);
	vec_deinit(&table->rule_sets);
	vec_deinit(&table->expressions);
	map_deinit(&table->rule_numbers);
	map_deinit(&table->expression_numbers);
	arena_deinit(&table->arena);
	free(table);
}

static uint64_t hash_rules(const struct cfi_rules *rules)
{
	const uint8_t *at = (const uint8_t *)rules;
	uint64_t hash = 0, word;

	_Static_assert(sizeof(*rules) % sizeof(word) == 0, "hashed by words");
	for (size_t i = 0; i < sizeof(*rules); i += sizeof(word)) {
		memcpy(&word, at + i, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	return hash;
}

static bool add_rules(struct cfi_table *table, const struct cfi_rules *rules,
		      uint32_t *ret)
{
	struct cfi_rules *copy = arena_alloc(&table->arena, sizeof(*copy));

	if (!copy || !vec_push(&table->rule_sets, copy))
		return false;
	*copy = *rules;
	*ret = (uint32_t)table->rule_sets.count - 1;
	return true;
}

/* The number of these rules; new ones are stored. */
static bool number_rules(struct cfi_table *table,
			 const struct cfi_rules *rules, uint32_t *ret)
{
	uint64_t hash = hash_rules(rules);
	uint64_t next = table->rule_sets.count;

	for (uint64_t i = 0; i < MAX_PROBES; i++) {
		bool is_new;
		uint64_t *number = map_insert(&table->rule_numbers, hash + i,
					      next, &is_new);

		if (!number)
			return false;
		if (is_new)
			break;
		if (*number < next && !memcmp(table->rule_sets.data[*number],
					      rules, sizeof(*rules))) {
			*ret = (uint32_t)*number;
			return true;
		}
	}
	return add_rules(table, rules, ret);
}

struct build {
	struct cfi_table *table;
	struct fde_index *fde;
	/* What expressions lie in, if the section is not loaded. */
	const struct window *entry;
	const struct window *cie;
};

static bool build_row(void *arg, uint64_t offset, const struct cfi_rules *rules)
{
	struct build *build = arg;
	struct cfi_table *table = build->table;
	uint32_t number = 0;

	if (!number_rules(table, rules, &number))
		return false;
	if (build->fde->n_rows > 0 && vec_last(&table->rows)->rules == number)
		return true;
	if (table->rows.count >= INT32_MAX ||
	    !vec_push(&table->rows,
		      (struct cfi_row){ (uint32_t)offset, number }))
		return false;
	build->fde->n_rows++;
	return true;
}

static bool place_in(const struct window *window, const uint8_t *data,
		     uint64_t *ret)
{
	const struct cfi_section *section = &window->section;
	uint64_t offset = (uint64_t)(data - section->bytes.data);

	*ret = hash_combine(section->eh, section->base + offset);
	return data >= section->bytes.data && offset < section->bytes.size;
}

/* What stands for an expression: where it is. */
static uint64_t expression_key(const struct build *build,
			       const uint8_t *data)
{
	uint64_t key;

	if (build->entry && (place_in(build->entry, data, &key) ||
			     place_in(build->cie, data, &key)))
		return key;
	return (uint64_t)(uintptr_t)data;
}

/* The window will be another's. */
static bool keep_expression(struct cfi_table *table, struct bytes *expression)
{
	uint8_t *copy = arena_alloc(&table->arena, expression->size + 1);

	if (!copy)
		return false;
	memcpy(copy, expression->data, expression->size);
	expression->data = copy;
	return true;
}

static bool build_expression(void *arg, struct bytes expression, int32_t *ret)
{
	const struct build *build = arg;
	struct cfi_table *table = build->table;
	uint64_t key = expression_key(build, expression.data);
	size_t next = table->expressions.count;
	const uint64_t *number = map_find(&table->expression_numbers, key);

	if (number) {
		*ret = (int32_t)*number;
		return true;
	}
	if (build->entry && !keep_expression(table, &expression))
		return false;
	if (next >= INT32_MAX || !vec_push(&table->expressions, expression) ||
	    !map_insert(&table->expression_numbers, key, next, NULL))
		return false;
	*ret = (int32_t)next;
	return true;
}

static bool run_entry(struct build *build, const struct cfi_section *section,
		      const struct cfi_section *cie_section)
{
	struct cfi_sink sink = { .row = build_row,
				 .expression = build_expression,
				 .table = build->table,
				 .arg = build };
	struct cfi_entry entry;
	struct cfi_cie cie;
	struct cfi_fde fde;

	return cfi_entry_read(section, build->fde->offset, &entry) &&
	       entry.kind == CFI_ENTRY_FDE &&
	       cfi_cie_read(cie_section, entry.cie, &cie) &&
	       cfi_fde_read(section, &entry, &cie, &fde) &&
	       fde.start == build->fde->start &&
	       cfi_program_run(section, &cie, &fde, &sink);
}

static bool read_source(const struct cfi_table *table,
			const struct cfi_section *section, uint64_t offset,
			void *buf, size_t size)
{
	uint64_t start = section->eh ? table->source.eh_frame :
				       table->source.debug_frame;

	return table->source.read(table->source.arg, start + offset, buf, size);
}

/* How long the entry says that it is, with the length itself; 0: too long. */
static size_t entry_size(const uint8_t *bytes, size_t have)
{
	uint64_t wide = 0;
	uint32_t narrow = 0;

	if (have < sizeof(narrow))
		return 0;
	memcpy(&narrow, bytes, sizeof(narrow));
	if (narrow != UINT32_MAX)
		return narrow <= MAX_ENTRY ? narrow + sizeof(narrow) : 0;
	if (have < sizeof(narrow) + sizeof(wide))
		return 0;
	memcpy(&wide, bytes + sizeof(narrow), sizeof(wide));
	return wide <= MAX_ENTRY ? wide + sizeof(narrow) + sizeof(wide) : 0;
}

/* Reads the entry at an offset of a section that is not loaded. */
static bool open_window(const struct cfi_table *table,
			const struct cfi_section *section, uint64_t offset,
			struct window *window)
{
	uint64_t left = section->bytes.size - offset;
	size_t have = left < WINDOW ? (size_t)left : WINDOW, size;

	window->large = NULL;
	if (offset >= section->bytes.size ||
	    !read_source(table, section, offset, window->bytes, have))
		return false;
	size = entry_size(window->bytes, have);
	if (!size || size > left)
		return false;
	window->section = *section;
	window->section.base = offset;
	window->section.bytes = (struct bytes){ window->bytes, size };
	if (size <= have)
		return true;
	window->large = malloc(size);
	window->section.bytes.data = window->large;
	return window->large &&
	       read_source(table, section, offset, window->large, size);
}

static bool run_windows(struct build *build, const struct cfi_section *section,
			struct window *fde, struct window *cie)
{
	struct cfi_entry entry;

	if (!open_window(build->table, section, build->fde->offset, fde) ||
	    !cfi_entry_read(&fde->section, build->fde->offset, &entry) ||
	    entry.kind != CFI_ENTRY_FDE ||
	    !open_window(build->table, section, entry.cie, cie))
		return false;
	build->entry = fde;
	build->cie = cie;
	return run_entry(build, &fde->section, &cie->section);
}

static bool run_fde(struct build *build, const struct cfi_section *section)
{
	struct window fde = {}, cie = {};
	bool good;

	if (!build->table->source.read)
		return run_entry(build, section, section);
	good = run_windows(build, section, &fde, &cie);
	free(fde.large);
	free(cie.large);
	return good;
}

static void build_fde(struct cfi_table *table,
		      const struct cfi_section *section, struct fde_index *fde)
{
	struct build build = { .table = table, .fde = fde };

	fde->built = 1;
	fde->first_row = (uint32_t)table->rows.count;
	if (!run_fde(&build, section)) {
		table->rows.count = fde->first_row;
		fde->n_rows = 0;
	}
}

static bool covers(const struct fde_index *fde, uint64_t vaddr)
{
	return vaddr - fde->start < fde->size;
}

static struct fde_index *find_fde(const struct indexed_section *indexed,
				  uint64_t vaddr)
{
	struct fde_index *fdes = indexed->fdes.data;
	size_t next = vec_upper_bound(&indexed->fdes, start, vaddr);

	for (size_t i = next; i > 0 && next - i < MAX_OVERLAP; i--) {
		if (covers(&fdes[i - 1], vaddr))
			return &fdes[i - 1];
	}
	return NULL;
}

/* An FDE has a row from its very start, so that one is always found. */
static const struct cfi_rules *find_row(const struct cfi_table *table,
					const struct fde_index *fde,
					uint64_t vaddr)
{
	const struct cfi_row *rows = table->rows.data + fde->first_row;
	uint64_t offset = vaddr - fde->start;
	size_t low = 0, high = fde->n_rows;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (rows[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return table->rule_sets.data[rows[low].rules];
}

static const struct cfi_rules *find_in(struct cfi_table *table,
				       const struct indexed_section *indexed,
				       uint64_t vaddr)
{
	struct fde_index *fde = find_fde(indexed, vaddr);

	if (!fde)
		return NULL;
	if (!fde->built)
		build_fde(table, &indexed->section, fde);
	return fde->n_rows ? find_row(table, fde, vaddr) : NULL;
}

const struct cfi_rules *cfi_find(struct cfi_table *table, uint64_t vaddr)
{
	const struct cfi_rules *rules = find_in(table, &table->eh, vaddr);

	return rules ? rules : find_in(table, &table->debug, vaddr);
}

bool cfi_is_empty(const struct cfi_table *table)
{
	return table->eh.fdes.count == 0 && table->debug.fdes.count == 0;
}

bool cfi_find_range(const struct cfi_table *table, uint64_t vaddr,
		    struct cfi_range *ret)
{
	const struct fde_index *fde = find_fde(&table->eh, vaddr);

	if (!fde)
		fde = find_fde(&table->debug, vaddr);
	if (!fde)
		return false;
	*ret = (struct cfi_range){ fde->start, fde->start + fde->size };
	return true;
}

static void narrow(const struct fde_vec *fdes, uint64_t vaddr,
		   struct cfi_range *range)
{
	size_t next = vec_upper_bound(fdes, start, vaddr);

	if (next < fdes->count && fdes->data[next].start < range->end)
		range->end = fdes->data[next].start;
	if (next) {
		const struct fde_index *last = &fdes->data[next - 1];
		uint64_t end = last->start + last->size;

		if (end <= vaddr && end > range->start)
			range->start = end;
	}
}

void cfi_narrow_gap(const struct cfi_table *table, uint64_t vaddr,
		    struct cfi_range *range)
{
	narrow(&table->eh.fdes, vaddr, range);
	narrow(&table->debug.fdes, vaddr, range);
}

struct bytes cfi_expression(const struct cfi_table *table, int32_t number)
{
	if (number < 0 || (size_t)number >= table->expressions.count)
		return (struct bytes){};
	return table->expressions.data[number];
}

static size_t count_built(const struct fde_vec *fdes)
{
	size_t count = 0;

	for (size_t i = 0; i < fdes->count; i++)
		count += fdes->data[i].built;
	return count;
}

size_t cfi_table_memory(const struct cfi_table *table)
{
	size_t fdes = table->eh.fdes.capacity + table->debug.fdes.capacity;
	size_t map_slots = table->rule_numbers.capacity +
			   table->expression_numbers.capacity;

	return sizeof(*table) + fdes * sizeof(struct fde_index) +
	       table->rows.capacity * sizeof(*table->rows.data) +
	       table->rule_sets.capacity * sizeof(*table->rule_sets.data) +
	       table->expressions.capacity * sizeof(struct bytes) +
	       map_slots * (sizeof(struct map_entry) + 1) + table->arena.held;
}

void cfi_table_stats(const struct cfi_table *table, struct cfi_stats *ret)
{
	*ret = (struct cfi_stats){
		.fdes = table->eh.fdes.count + table->debug.fdes.count,
		.fdes_built = count_built(&table->eh.fdes) +
			      count_built(&table->debug.fdes),
		.rows = table->rows.count,
		.rule_sets = table->rule_sets.count,
		.memory = cfi_table_memory(table),
	};
}

struct cfi_range cfi_fde_at(const struct cfi_table *table, size_t i)
{
	const struct fde_vec *fdes = &table->eh.fdes;

	if (i >= fdes->count) {
		i -= fdes->count;
		fdes = &table->debug.fdes;
	}
	return (struct cfi_range){ fdes->data[i].start,
				   fdes->data[i].start + fdes->data[i].size };
}
