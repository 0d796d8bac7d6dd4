// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page with all views in one file (docs/page.md): its script and style, and
 * the profile, deflated, as base64.
 */
#include "export/html.h"

#include <string.h>
#include <zlib.h>

#include "export/format.h"
#include "export/page_assets.h"
#include "export/page_data.h"
#include "flame/flame_text.h"

#define POLICY                                                       \
	"default-src 'none'; script-src " ASSET_APP_JS_HASH          \
	"; style-src " ASSET_STYLE_CSS_HASH                          \
	"; base-uri 'none'; form-action 'none'"

const char html_file_policy[] = POLICY;
const char html_served_policy[] = POLICY "; connect-src 'self'";

/* Bytes that are base64 by themselves. */
enum { STEP = 3 << 16 };

struct html {
	FILE *out;
	const struct strbuf *title;
	const struct strbuf *data;
	struct strbuf text;
};

static struct error *put_data(struct html *h)
{
	uLongf size = compressBound(h->data->len);
	_cleanup_free_ Bytef *made = malloc(size);

	if (!made || compress2(made, &size, (const Bytef *)h->data->data,
			       h->data->len, Z_DEFAULT_COMPRESSION) != Z_OK)
		return error_no_memory();
	for (size_t at = 0; at < size; at += STEP) {
		strbuf_clear(&h->text);
		flame_text_base64(&h->text, made + at,
				  size - at < STEP ? size - at : STEP);
		fwrite(h->text.data, 1, h->text.len, h->out);
	}
	return strbuf_error(&h->text);
}

static struct error *put_part(struct html *h, const char *name, size_t n)
{
	strbuf_clear(&h->text);
	if (n == 5 && !memcmp(name, "TITLE", n)) {
		flame_text_xml(&h->text, h->title->data);
		fputs(h->text.data, h->out);
	} else if (n == 6 && !memcmp(name, "POLICY", n)) {
		fputs(h->data ? html_file_policy : html_served_policy, h->out);
	} else if (n == 5 && !memcmp(name, "STYLE", n)) {
		fputs(asset_style_css, h->out);
	} else if (n == 6 && !memcmp(name, "SCRIPT", n)) {
		fputs(asset_app_js, h->out);
	} else if (n == 4 && !memcmp(name, "DATA", n) && h->data) {
		return put_data(h);
	}
	return strbuf_error(&h->text);
}

/* @NAME@ stands for a part. */
static struct error *put_page(struct html *h)
{
	const char *at = asset_page_html;
	struct error *error = NULL;

	while (!error && *at) {
		size_t n = strcspn(at, "@");

		fwrite(at, 1, n, h->out);
		at += n;
		if (!*at)
			break;
		n = strcspn(at + 1, "@");
		error = put_part(h, at + 1, n);
		at += n + 2;
	}
	return error;
}

struct error *html_put(const struct strbuf *title, const struct strbuf *data,
		       FILE *out)
{
	struct html html = { out, title, data, STRBUF_INIT };
	struct error *error;

	if (!KAA_HAS_PAGE)
		return error_create(
			ERROR_UNSUPPORTED,
			"this kaa was built without its page: install esbuild, build kaa again, or use 'kaa flamegraph'");
	error = put_page(&html);
	strbuf_deinit(&html.text);
	return error;
}

struct error *export_html(const struct profile *profile,
			  const struct export_options *options, FILE *out)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf data = STRBUF_INIT;
	struct error *error = page_data_put(profile, options, &data, &title);

	return error ? error : html_put(&title, &data, out);
}
