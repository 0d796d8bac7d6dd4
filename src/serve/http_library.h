/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libmicrohttpd, loaded when it is needed: with it come TLS and ten libraries more,
 * which no other command of kaa is to wait for. Not thread-safe.
 */
#ifndef KAA_SERVE_HTTP_LIBRARY_H
#define KAA_SERVE_HTTP_LIBRARY_H

#include <microhttpd.h>

#include "base/error.h"

/* What the server calls of it, as microhttpd.h declares it. */
struct http_library {
	__typeof__(MHD_start_daemon) *start_daemon;
	__typeof__(MHD_stop_daemon) *stop_daemon;
	__typeof__(MHD_get_daemon_info) *get_daemon_info;
	__typeof__(MHD_create_response_from_buffer) *create_response_from_buffer;
	__typeof__(MHD_add_response_header) *add_response_header;
	__typeof__(MHD_queue_response) *queue_response;
	__typeof__(MHD_destroy_response) *destroy_response;
	__typeof__(MHD_lookup_connection_value) *lookup_connection_value;
};

/* It stays loaded. ERROR_UNSUPPORTED: it is not installed, and what to install. */
struct error *http_library_load(struct http_library *ret);

#endif
