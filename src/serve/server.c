// SPDX-License-Identifier: GPL-2.0-only
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "serve/http_library.h"
#include "serve/request.h"

enum {
	CONNECTIONS_MAX = 32,
	TIMEOUT_S = 30,
	/* Of a connection: the head of a request, and what is sent at once. */
	CONNECTION_BYTES = 64 << 10,
	COOKIE_NAME_BYTES = 32,
};

struct server {
	struct http_library http;
	struct server_options options;
	struct MHD_Daemon *daemon;
	uint16_t port;
	/*
	 * Cookies know no ports: the name has it. A browser would send it to the servers of
	 * other users of this machine, too, so it is for a folder that nobody else knows.
	 */
	char cookie_name[COOKIE_NAME_BYTES];
	char cookie[SERVER_TOKEN_LENGTH + 1];
	char folder[SERVER_TOKEN_LENGTH + 1];
	char tokens[SERVER_TOKENS][SERVER_TOKEN_LENGTH + 1];
	bool is_used[SERVER_TOKENS];
};

/* --- Answers ------------------------------------------------------------ */

static const char *const always[][2] = {
	{ "Cache-Control", "no-store" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

/* Takes the response. */
static enum MHD_Result answer(const struct server *server,
			      struct MHD_Connection *connection,
			      unsigned int status, const char *type,
			      struct MHD_Response *response)
{
	enum MHD_Result result = MHD_NO;
	bool is_whole = response != NULL;

	for (size_t i = 0; is_whole && i < sizeof(always) / sizeof(*always); i++)
		is_whole = server->http.add_response_header(response, always[i][0],
						   always[i][1]) == MHD_YES;
	is_whole = is_whole &&
		   server->http.add_response_header(response, "Content-Type", type) ==
			   MHD_YES &&
		   server->http.add_response_header(response, "Content-Security-Policy",
					   server->options.policy) == MHD_YES;
	/* An answer without its rules is none. */
	if (is_whole)
		result = server->http.queue_response(connection, status, response);
	if (response)
		server->http.destroy_response(response);
	return result;
}

static enum MHD_Result refuse(const struct server *server,
			      struct MHD_Connection *connection,
			      unsigned int status, const char *why)
{
	return answer(server, connection, status, "text/plain; charset=utf-8",
		      server->http.create_response_from_buffer(strlen(why), (void *)why,
						      MHD_RESPMEM_PERSISTENT));
}

/*
 * A browser sends no cookie of SameSite=Strict where a link from elsewhere leads
 * to, redirected or not: so this page goes on by itself.
 */
static enum MHD_Result let_in(struct server *server,
			      struct MHD_Connection *connection)
{
	char page[SERVER_TOKEN_LENGTH + 128];
	char cookie[COOKIE_NAME_BYTES + 2 * SERVER_TOKEN_LENGTH + 64];
	struct MHD_Response *response;

	snprintf(page, sizeof(page),
		 "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url=/%s/\"><title>kaa</title>",
		 server->folder);
	response = server->http.create_response_from_buffer(
		strlen(page), page, MHD_RESPMEM_MUST_COPY);
	snprintf(cookie, sizeof(cookie),
		 "%s=%s; Path=/%s/; HttpOnly; SameSite=Strict",
		 server->cookie_name, server->cookie, server->folder);
	if (response && server->http.add_response_header(response, "Set-Cookie",
						cookie) != MHD_YES) {
		server->http.destroy_response(response);
		return MHD_NO;
	}
	return answer(server, connection, MHD_HTTP_OK,
		      "text/html; charset=utf-8", response);
}

/* --- Requests ----------------------------------------------------------- */

static bool is_for_us(const struct server *server,
		      struct MHD_Connection *connection)
{
	return request_is_host(server->http.lookup_connection_value(connection,
							   MHD_HEADER_KIND,
							   "Host"),
			       server->port) &&
	       request_is_origin(server->http.lookup_connection_value(connection,
							     MHD_HEADER_KIND,
							     "Origin"),
				 server->port);
}

/* A token works once. */
static bool take_token(struct server *server, struct MHD_Connection *connection)
{
	const char *given = server->http.lookup_connection_value(
		connection, MHD_GET_ARGUMENT_KIND, "token");

	for (size_t i = 0; i < SERVER_TOKENS; i++) {
		if (server->is_used[i] ||
		    !request_is_secret(given, server->tokens[i]))
			continue;
		server->is_used[i] = true;
		return true;
	}
	return false;
}

static bool has_cookie(const struct server *server,
		       struct MHD_Connection *connection)
{
	return request_is_secret(
		server->http.lookup_connection_value(connection, MHD_COOKIE_KIND,
					    server->cookie_name),
		server->cookie);
}

/* What is behind the folder, from its '/' on; NULL: the path leads elsewhere. */
static const char *inside_folder(const struct server *server, const char *path)
{
	char given[SERVER_TOKEN_LENGTH + 1];

	if (strlen(path) < SERVER_TOKEN_LENGTH + 2 ||
	    path[SERVER_TOKEN_LENGTH + 1] != '/')
		return NULL;
	memcpy(given, path + 1, SERVER_TOKEN_LENGTH);
	given[SERVER_TOKEN_LENGTH] = '\0';
	return request_is_secret(given, server->folder) ?
		       path + SERVER_TOKEN_LENGTH + 1 :
		       NULL;
}

static enum MHD_Result give(const struct server *server,
			    struct MHD_Connection *connection, const char *path)
{
	for (size_t i = 0; i < server->options.count; i++) {
		const struct server_document *document =
			&server->options.documents[i];

		if (!strcmp(document->path, path))
			return answer(server, connection, MHD_HTTP_OK,
				      document->type,
				      server->http.create_response_from_buffer(
					      document->size,
					      (void *)document->data,
					      MHD_RESPMEM_PERSISTENT));
	}
	return refuse(server, connection, MHD_HTTP_NOT_FOUND,
		      "There is no such page.\n");
}

static enum MHD_Result handle(void *arg, struct MHD_Connection *connection,
			      const char *path, const char *method,
			      const char *version, const char *body,
			      size_t *body_size, void **state)
{
	struct server *server = arg;
	const char *inside;

	(void)version;
	(void)body;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 || *body_size)
		return refuse(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "Only GET is known here.\n");
	if (!is_for_us(server, connection))
		return refuse(server, connection, MHD_HTTP_FORBIDDEN,
			      "This request is not for kaa.\n");
	if (!strcmp(path, SERVER_ENTER) && take_token(server, connection))
		return let_in(server, connection);
	inside = inside_folder(server, path);
	if (!inside || !has_cookie(server, connection))
		return refuse(
			server, connection, MHD_HTTP_FORBIDDEN,
			"Open the link that kaa view printed. It works once: for another, start kaa view again.\n");
	return give(server, connection, inside);
}

/* --- The server --------------------------------------------------------- */

static struct error *make_secret(char ret[SERVER_TOKEN_LENGTH + 1])
{
	unsigned char bytes[SERVER_TOKEN_LENGTH / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return error_os(errno, NULL, "cannot get random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return NULL;
}

static struct error *make_secrets(struct server *server)
{
	struct error *error = make_secret(server->cookie);

	if (!error)
		error = make_secret(server->folder);
	for (size_t i = 0; !error && i < SERVER_TOKENS; i++)
		error = make_secret(server->tokens[i]);
	return error;
}

static struct error *listen_here(struct server *server)
{
	const struct sockaddr_in here = {
		.sin_family = AF_INET,
		.sin_port = htons(server->options.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const union MHD_DaemonInfo *info;

	errno = 0;
	server->daemon = server->http.start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD, server->options.port, NULL,
		NULL, handle, server, MHD_OPTION_SOCK_ADDR, &here,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_END);
	if (!server->daemon)
		return error_os(errno ? errno : EADDRINUSE, NULL,
				"cannot listen on 127.0.0.1, port %u",
				server->options.port);
	info = server->http.get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : server->options.port;
	snprintf(server->cookie_name, sizeof(server->cookie_name), "kaa-%u",
		 server->port);
	return NULL;
}

struct error *server_create(const struct server_options *options,
			    struct server **ret)
{
	_cleanup_server_ struct server *server = calloc(1, sizeof(*server));
	struct error *error = server ? NULL : error_no_memory();

	if (error)
		return error;
	server->options = *options;
	error = http_library_load(&server->http);
	if (!error)
		error = make_secrets(server);
	if (!error)
		error = listen_here(server);
	if (!error)
		*ret = take_ptr(server);
	return error;
}

void server_destroy(struct server *server)
{
	if (!server)
		return;
	if (server->daemon)
		server->http.stop_daemon(server->daemon);
	free(server);
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

const char *server_token(const struct server *server, size_t number)
{
	return server->tokens[number];
}
