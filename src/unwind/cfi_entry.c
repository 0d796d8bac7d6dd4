// SPDX-License-Identifier: GPL-2.0-only
#include "unwind/cfi_entry.h"

#include <string.h>

#include "unwind/eh_pointer.h"

static struct reader section_reader(const struct cfi_section *section)
{
	return reader_init(section->bytes.data, section->bytes.size);
}

/* The id field says CIE by 0 in .eh_frame, by all ones in .debug_frame. */
static bool read_id(const struct cfi_section *section, struct cfi_entry *entry,
		    bool wide)
{
	uint64_t at = section->base + reader_offset(&entry->body);
	uint64_t id = 0, cie_id;
	uint32_t narrow = 0;

	if (wide) {
		reader_u64(&entry->body, &id);
	} else {
		reader_u32(&entry->body, &narrow);
		id = narrow;
	}
	if (entry->body.failed)
		return false;
	cie_id = section->eh ? 0 : wide ? UINT64_MAX : UINT32_MAX;
	if (id == cie_id) {
		entry->kind = CFI_ENTRY_CIE;
		return true;
	}
	entry->kind = CFI_ENTRY_FDE;
	entry->cie = section->eh ? at - id : id;
	return !section->eh || id <= at;
}

bool cfi_entry_read(const struct cfi_section *section, uint64_t offset,
		    struct cfi_entry *ret)
{
	struct reader r = section_reader(section);
	struct cfi_entry entry = {};
	uint64_t length = 0;
	uint32_t narrow = 0;
	bool wide;

	if (offset < section->base ||
	    offset - section->base > section->bytes.size ||
	    !reader_skip(&r, offset - section->base) ||
	    !reader_u32(&r, &narrow))
		return false;
	length = narrow;
	wide = narrow == UINT32_MAX;
	if ((wide && !reader_u64(&r, &length)) || length > reader_left(&r))
		return false;
	r.end = r.pos + length;
	entry.next = section->base + (uint64_t)(r.end - r.start);
	entry.body = r;
	if (length == 0 || !read_id(section, &entry, wide))
		entry.kind = CFI_ENTRY_TERMINATOR;
	*ret = entry;
	return true;
}

static bool read_augmentation_data(struct reader *r, const char *letters,
				   struct cfi_cie *cie)
{
	uint8_t encoding = 0;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'P':
			if (!reader_u8(r, &encoding) ||
			    !eh_pointer_skip(r, encoding))
				return false;
			break;
		case 'L':
			reader_u8(r, &encoding);
			break;
		case 'R':
			reader_u8(r, &cie->fde_encoding);
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B':
		case 'G':
			/* aarch64: how return addresses are signed; no data. */
			break;
		default:
			return false;
		}
	}
	return !r->failed;
}

static bool read_augmentation(struct reader *r, const char *letters,
			      struct cfi_cie *cie)
{
	const uint8_t *end;
	uint64_t size = 0;

	if (*letters != 'z') {
		/* Without 'z' nothing but 'S' is known to carry no data. */
		cie->signal_frame = !strcmp(letters, "S");
		return !*letters || cie->signal_frame;
	}
	if (!reader_uleb128(r, &size) || size > reader_left(r))
		return false;
	cie->has_augmentation_data = true;
	end = r->pos + size;
	if (!read_augmentation_data(r, letters + 1, cie) || r->pos > end)
		return false;
	r->pos = end;
	return true;
}

static bool read_return_reg(struct reader *r, uint8_t version, uint64_t *ret)
{
	uint8_t narrow = 0;

	if (version != 1)
		return reader_uleb128(r, ret);
	reader_u8(r, &narrow);
	*ret = narrow;
	return !r->failed;
}

/* Version 4 adds the sizes of an address and of a segment selector. */
static bool read_sizes(struct reader *r, uint8_t version)
{
	uint8_t address = 8, segment = 0;

	if (version >= 4) {
		reader_u8(r, &address);
		reader_u8(r, &segment);
	}
	return !r->failed && address == 8 && segment == 0;
}

bool cfi_cie_read(const struct cfi_section *section, uint64_t offset,
		  struct cfi_cie *ret)
{
	struct cfi_entry entry;
	struct cfi_cie cie = { .fde_encoding = EH_PE_ABSPTR };
	struct reader *r = &entry.body;
	const char *letters;
	uint8_t version = 0;

	if (!cfi_entry_read(section, offset, &entry) ||
	    entry.kind != CFI_ENTRY_CIE)
		return false;
	reader_u8(r, &version);
	letters = reader_cstr(r, NULL);
	if (!letters || version < 1 || version > 5)
		return false;
	if (!strcmp(letters, "eh")) {
		/* GCC 2: a word that points to exception tables. */
		reader_skip(r, 8);
		letters = "";
	}
	if (!read_sizes(r, version) || !reader_uleb128(r, &cie.code_align) ||
	    !reader_sleb128(r, &cie.data_align) ||
	    !read_return_reg(r, version, &cie.return_reg) ||
	    !read_augmentation(r, letters, &cie))
		return false;
	cie.instructions = *r;
	*ret = cie;
	return true;
}

bool cfi_fde_read(const struct cfi_section *section,
		  const struct cfi_entry *entry, const struct cfi_cie *cie,
		  struct cfi_fde *ret)
{
	struct eh_pointer_bases bases = { .section = section->vaddr +
						     section->base,
					  .text = section->text_vaddr,
					  .data = section->got_vaddr };
	struct reader r = entry->body;
	struct cfi_fde fde = {};
	uint64_t size = 0;

	if (!eh_pointer_read(&r, cie->fde_encoding, &bases, &fde.start) ||
	    !eh_pointer_read(&r, cie->fde_encoding & 0xf, &bases, &fde.size))
		return false;
	if (cie->has_augmentation_data &&
	    (!reader_uleb128(&r, &size) || size > reader_left(&r) ||
	     !reader_skip(&r, size)))
		return false;
	fde.instructions = r;
	*ret = fde;
	return true;
}
