/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages of protocol buffers (https://protobuf.dev/programming-guides/encoding),
 * as far as profiles need them: varints, numbers of 8 bytes, strings, packed
 * numbers, messages. All append to a buffer; a message in a message is made in a
 * buffer of its own first.
 * A number that is 0 is left out, as proto3 has it.
 */
#ifndef KAA_EXPORT_PROTOBUF_H
#define KAA_EXPORT_PROTOBUF_H

#include <stdint.h>

#include "base/strbuf.h"

void protobuf_u64(struct strbuf *out, uint32_t field, uint64_t value);
/* Of the type fixed64. */
void protobuf_fixed64(struct strbuf *out, uint32_t field, uint64_t value);
/* Foreign bytes; what is no character that may be shown becomes U+FFFD. */
void protobuf_text(struct strbuf *out, uint32_t field, const char *text);
void protobuf_message(struct strbuf *out, uint32_t field,
		      const struct strbuf *message);
/* One number of a list that is packed: the list is then a message. */
void protobuf_packed(struct strbuf *list, uint64_t value);
void protobuf_packed_fixed64(struct strbuf *list, uint64_t value);

#endif
