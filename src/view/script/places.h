/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a sample hit, or what it hit: its chain, a function, an address in memory. */
#ifndef KAA_VIEW_SCRIPT_PLACES_H
#define KAA_VIEW_SCRIPT_PLACES_H

#include "view/script/printer.h"

/* The chain, a line each frame; or the place on the sample's own line. */
struct error *script_print_place(struct script_printer *printer,
				 const struct convert_sample *sample,
				 uint64_t fields, struct strbuf *out);
/* The sample's address, with what is there if the event is of such a kind. */
struct error *script_print_address(struct script_printer *printer,
				   const struct convert_sample *sample,
				   uint64_t fields, struct strbuf *out);

#endif
