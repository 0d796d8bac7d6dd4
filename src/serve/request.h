/* SPDX-License-Identifier: GPL-2.0-only */
/* What a request may have: words of its head, looked at without any I/O. */
#ifndef KAA_SERVE_REQUEST_H
#define KAA_SERVE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* Equal texts; how long it takes does not tell where they differ. NULL equals nothing. */
bool request_is_secret(const char *given, const char *secret);
/* A Host header that is this server: 127.0.0.1:PORT or localhost:PORT. */
bool request_is_host(const char *host, uint16_t port);
/* An Origin header that is this server; there need be none. */
bool request_is_origin(const char *origin, uint16_t port);

#endif
