// SPDX-License-Identifier: GPL-2.0-only
#include "serve/http_library.h"

#include <dlfcn.h>

/* Its ABI of 0.9.71 and later: enum MHD_Result. */
#define LIBRARY "libmicrohttpd.so.12"
#define INSTEAD "'kaa export --format html -o FILE' writes the same page as a file"

/* False: it has no such function. */
static bool find(void *library, const char *name, void *ret)
{
	/* As dlsym(3) has it: ISO C knows no cast of one to the other. */
	*(void **)ret = dlsym(library, name);
	return *(void **)ret != NULL;
}

static bool find_all(void *library, struct http_library *ret)
{
	return find(library, "MHD_start_daemon", &ret->start_daemon) &&
	       find(library, "MHD_stop_daemon", &ret->stop_daemon) &&
	       find(library, "MHD_get_daemon_info", &ret->get_daemon_info) &&
	       find(library, "MHD_create_response_from_buffer",
		    &ret->create_response_from_buffer) &&
	       find(library, "MHD_add_response_header",
		    &ret->add_response_header) &&
	       find(library, "MHD_queue_response", &ret->queue_response) &&
	       find(library, "MHD_destroy_response", &ret->destroy_response) &&
	       find(library, "MHD_lookup_connection_value",
		    &ret->lookup_connection_value);
}

struct error *http_library_load(struct http_library *ret)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return error_create(
			ERROR_UNSUPPORTED,
			"there is no " LIBRARY " here: install libmicrohttpd, or " INSTEAD);
	if (!find_all(library, ret))
		return error_create(ERROR_UNSUPPORTED,
				    LIBRARY " lacks functions: " INSTEAD);
	return NULL;
}
