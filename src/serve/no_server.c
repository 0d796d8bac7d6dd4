// SPDX-License-Identifier: GPL-2.0-only
/* What stands for the server where kaa is built without libmicrohttpd's header. */
#include "serve/server.h"

struct error *server_create(const struct server_options *options,
			    struct server **ret)
{
	(void)options;
	(void)ret;
	return error_create(
		ERROR_UNSUPPORTED,
		"this kaa was built without libmicrohttpd; 'kaa export --format html -o FILE' writes the same page as a file");
}

void server_destroy(struct server *server)
{
	(void)server;
}

uint16_t server_port(const struct server *server)
{
	(void)server;
	return 0;
}

const char *server_token(const struct server *server, size_t number)
{
	(void)server;
	(void)number;
	return "";
}
