/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `kaa script`: the samples and records of a converter, printed as they come.
 *
 *	struct script_printer printer = { ... options ... };
 *	script_printer_start(&printer, converter);
 *	... converter_run(converter, script_print_sample, &printer) ...
 *	script_printer_end(&printer);
 *	script_printer_deinit(&printer);
 *
 * Text goes to a file, or, with per_event, into one for each event beside the
 * recording.
 */
#ifndef KAA_VIEW_SCRIPT_PRINT_H
#define KAA_VIEW_SCRIPT_PRINT_H

#include "view/script/printer.h"

/* Looks at the events; errors are about what -F and others ask of them. */
struct error *script_printer_start(struct script_printer *printer,
				   struct converter *converter);
/* A convert_sample_fn. */
struct error *script_print_sample(const struct convert_sample *sample,
				  void *printer);
/* Writes what is left, and says what files there are now. */
struct error *script_printer_end(struct script_printer *printer);
void script_printer_deinit(struct script_printer *printer);

#endif
