// SPDX-License-Identifier: GPL-2.0-only
#include "flame/flame_page.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "flame/flame_assets.h"
#include "flame/flame_text.h"
#include "view/json_text.h"

/* Nothing but the page's own script and style; nothing is loaded. */
#define POLICY                                                       \
	"default-src 'none'; script-src " ASSET_PAGE_JS_HASH         \
	"; style-src " ASSET_PAGE_CSS_HASH                           \
	"; base-uri 'none'; form-action 'none'"

struct page {
	const struct flame_tree *tree;
	const struct flame_head *head;
	struct strbuf text;
};

/* --- The tree as text --------------------------------------------------- */

static size_t side_count(const struct flame_tree *tree)
{
	return tree->options.compare ? FLAME_SIDES : 1;
}

/* All periods of that side are so many times their samples; else 0. */
static uint64_t fixed_period(const struct flame_tree *tree, size_t side)
{
	const struct flame_weight *all = &tree->all[side];
	uint64_t each = all->samples ? all->period / all->samples : 0;

	vec_for_each(node, &tree->nodes)
		if (node->own[side].period != node->own[side].samples * each)
			return 0;
	return each;
}

/*
 * Of each node: how many levels it is above the node before it, plus 1 (of the
 * first nothing); its function; and for each side its own samples, and if there
 * are any their period, unless that follows.
 */
static void put_nodes(const struct flame_tree *tree, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	const struct flame_node *nodes = tree->nodes.data;
	bool is_fixed[FLAME_SIDES];

	for (size_t side = 0; side < FLAME_SIDES; side++)
		is_fixed[side] = fixed_period(tree, side);
	for (size_t i = 0; i < tree->nodes.count; i++) {
		uint32_t up = 0;

		for (uint32_t at = (uint32_t)i - 1;
		     i && at != FLAME_NONE && at != nodes[i].parent; up++)
			at = nodes[at].parent;
		if (i)
			flame_text_number(&bytes, up);
		flame_text_number(&bytes, nodes[i].function);
		for (size_t side = 0; side < side_count(tree); side++) {
			const struct flame_weight *own = &nodes[i].own[side];

			flame_text_number(&bytes, own->samples);
			if (own->samples && !is_fixed[side])
				flame_text_number(&bytes, own->period);
		}
	}
	if (bytes.failed)
		out->failed = true;
	flame_text_base64(out, (const uint8_t *)bytes.data, bytes.len);
}

static void put_columns(const struct flame_tree *tree, struct strbuf *out)
{
	static const struct {
		const char *name;
		size_t offset;
	} columns[] = {
		{ "name", offsetof(struct flame_function, name) },
		{ "file", offsetof(struct flame_function, file) },
		{ "place", offsetof(struct flame_function, place) },
		{ "line", offsetof(struct flame_function, line) },
		{ "kind", offsetof(struct flame_function, kind) },
	};

	for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++) {
		strbuf_printf(out, "%s\"%s\":[", c ? "," : "", columns[c].name);
		for (size_t i = 0; i < tree->functions.count; i++) {
			const char *function =
				(const char *)&tree->functions.data[i];
			uint32_t value;

			memcpy(&value, function + columns[c].offset,
			       sizeof(value));
			strbuf_printf(out, "%s%" PRIu32, i ? "," : "", value);
		}
		strbuf_putc(out, ']');
	}
}

static void put_periods(const struct flame_tree *tree, struct strbuf *out)
{
	for (size_t side = 0; side < side_count(tree); side++) {
		uint64_t each = fixed_period(tree, side);

		if (side)
			strbuf_putc(out, ',');
		if (each)
			strbuf_printf(out, "%" PRIu64, each);
		else
			strbuf_puts(out, "null");
	}
}

static const char *unit_name(enum event_unit unit)
{
	return unit == EVENT_NANOSECONDS ? "ns" :
	       unit == EVENT_BYTES	 ? "bytes" :
					   "";
}

static const char *compare_name(enum flame_compare compare)
{
	return compare == FLAME_BY_TIME	 ? "time" :
	       compare == FLAME_BY_SHARE ? "share" :
					   "";
}

static const char *json_bool(bool value)
{
	return value ? "true" : "false";
}

static void put_data(struct page *p)
{
	const struct flame_tree *tree = p->tree;
	struct strbuf *out = &p->text;

	strbuf_printf(
		out,
		"{\"unit\":\"%s\",\"native\":%s,\"flame\":%s,\"threads\":%s,\"compare\":\"%s\",\"runs\":[%" PRIu32 ",%" PRIu32 "],\"count\":%zu,\"rest\":%zu,\"period\":[",
		unit_name(p->head->unit), json_bool(p->head->native),
		json_bool(p->head->flame), json_bool(p->head->threads),
		compare_name(tree->options.compare), tree->runs[FLAME_AFTER],
		tree->runs[FLAME_BEFORE], tree->nodes.count, tree->rest_nodes);
	put_periods(tree, out);
	strbuf_puts(out, "],\n\"functions\":{");
	put_columns(tree, out);
	strbuf_puts(out, "},\n\"strings\":[");
	for (size_t i = 0; i < tree->texts.all.count; i++) {
		if (i)
			strbuf_putc(out, ',');
		json_text(out, tree->texts.all.data[i]);
	}
	strbuf_puts(out, "],\n\"nodes\":\"");
	put_nodes(tree, out);
	strbuf_puts(out, "\"}");
}

/* --- The page ----------------------------------------------------------- */

static void put_title(struct page *p)
{
	flame_text_xml(&p->text, p->head->title);
}

static void put_summary(struct page *p)
{
	flame_text_xml(&p->text, p->head->summary);
}

static void put_notes(struct page *p)
{
	flame_text_xml(&p->text, p->head->notes);
	if (p->tree->rest_nodes)
		strbuf_printf(
			&p->text,
			"%zu box%s of the least weight %s together in boxes named [smaller boxes].",
			p->tree->rest_nodes,
			p->tree->rest_nodes == 1 ? "" : "es",
			p->tree->rest_nodes == 1 ? "stands" : "stand");
}

static void put_policy(struct page *p)
{
	strbuf_puts(&p->text, POLICY);
}

static void put_style(struct page *p)
{
	strbuf_puts(&p->text, asset_page_css);
}

static void put_script(struct page *p)
{
	strbuf_puts(&p->text, asset_page_js);
}

/* What stands for @NAME@ in page.html. */
static const struct {
	const char *name;
	void (*put)(struct page *p);
} parts[] = {
	{ "TITLE", put_title },	  { "SUMMARY", put_summary },
	{ "NOTES", put_notes },	  { "POLICY", put_policy },
	{ "STYLE", put_style },	  { "SCRIPT", put_script },
	{ "DATA", put_data },
};

static void put_part(struct page *p, const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strlen(parts[i].name) == n &&
		    !memcmp(parts[i].name, name, n))
			parts[i].put(p);
}

struct error *flame_page_write(const struct flame_tree *tree,
			       const struct flame_head *head, FILE *out)
{
	struct page p = { tree, head, STRBUF_INIT };
	const char *at = asset_page_html;
	struct error *error;

	while (*at) {
		size_t n = strcspn(at, "@");

		strbuf_append(&p.text, at, n);
		at += n;
		if (!*at)
			break;
		n = strcspn(at + 1, "@");
		put_part(&p, at + 1, n);
		at += n + 2;
	}
	error = strbuf_error(&p.text);
	if (!error && fwrite(p.text.data, 1, p.text.len, out) != p.text.len)
		error = error_os(errno, NULL, "cannot write the page");
	strbuf_deinit(&p.text);
	return error;
}
