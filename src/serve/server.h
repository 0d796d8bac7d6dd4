/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A few texts by HTTP, on this machine, for one user.
 *
 *  - It listens on 127.0.0.1 alone, on a port that nobody has.
 *  - SERVER_ENTER?token=... gives a cookie for a token that has not been used, and leads
 *    to the documents. They are in a folder with a secret name, which the cookie is for,
 *    and want the cookie. Without it there is nothing, not even whether a path is there.
 *  - A request with another Host, with another Origin, or by another method than GET
 *    is refused, whatever else it has.
 *  - Answers tell the browser to keep nothing, to be in no frame, and to load nothing
 *    from elsewhere.
 *
 * One thread of its own serves; nothing is written anywhere. The documents are
 * borrowed until server_destroy().
 */
#ifndef KAA_SERVE_SERVER_H
#define KAA_SERVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define SERVER_ENTER "/enter"

enum {
	/* Hex digits of a token, without its NUL. */
	SERVER_TOKEN_LENGTH = 32,
	/* Links that can be handed out; each works once. */
	SERVER_TOKENS = 2,
};

struct server_document {
	/* In the folder: "/data" */
	const char *path;
	const char *type;
	const void *data;
	size_t size;
};

struct server_options {
	const struct server_document *documents;
	size_t count;
	/* The Content-Security-Policy of all answers. */
	const char *policy;
	/* 0: any that is free. */
	uint16_t port;
};

struct server;

/* ERROR_UNSUPPORTED: there is no libmicrohttpd, or kaa was built without its header. */
struct error *server_create(const struct server_options *options,
			    struct server **ret);
void server_destroy(struct server *server);
DEFINE_CLEANUP(server, struct server *, server_destroy);
#define _cleanup_server_ _cleanup_(cleanup_server_)

uint16_t server_port(const struct server *server);
/* number is below SERVER_TOKENS. */
const char *server_token(const struct server *server, size_t number);

#endif
