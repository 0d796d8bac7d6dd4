// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/plural.h"
#include "flame/flame_assets.h"
#include "flame/flame_page.h"
#include "flame/flame_text.h"

enum {
	WIDTH = 1200,
	ROW = 17,
	/* Texts above the boxes: a line of the summary, and the tools. */
	HEAD_LINE = 18,
	CHARACTERS_PER_100_PIXELS = 15,
};

/* Boxes that are narrower, in pixels, stand together in one. */
static const double width_min = 0.4;

/* Where a node is drawn. */
struct place {
	/* Pixels; next_x is where its next child begins. */
	double x;
	double next_x;
	double width;
	uint32_t row;
	bool is_drawn;
	/* Of children that are too narrow. */
	uint32_t more;
	double more_width;
};

struct picture {
	const struct flame_tree *tree;
	const struct flame_head *head;
	/* By node; the last is for all samples. */
	struct place *places;
	uint32_t rows;
	double top;
	struct strbuf text;
};

/* --- Places ------------------------------------------------------------- */

static struct place *parent_place(const struct picture *p,
				  const struct flame_node *node)
{
	return &p->places[node->parent == FLAME_NONE ? p->tree->nodes.count :
						       node->parent];
}

static void place_node(struct picture *p, size_t i)
{
	const struct flame_node *node = &p->tree->nodes.data[i];
	struct place *parent = parent_place(p, node);
	double width = flame_size(p->tree, node->total) * WIDTH;
	struct place *place = &p->places[i];

	*place = (struct place){
		.x = parent->next_x,
		.next_x = parent->next_x,
		.width = width,
		.row = parent->row + 1,
		.is_drawn = parent->is_drawn && width >= width_min,
	};
	parent->next_x += width;
	if (parent->is_drawn && !place->is_drawn) {
		parent->more++;
		parent->more_width += width;
	}
	if ((place->is_drawn || parent->more_width >= width_min) &&
	    p->rows < place->row + 1)
		p->rows = place->row + 1;
}

static struct error *place_all(struct picture *p)
{
	size_t count = p->tree->nodes.count;

	p->places = calloc(count + 1, sizeof(*p->places));
	if (!p->places)
		return error_no_memory();
	p->places[count] = (struct place){ .width = WIDTH, .is_drawn = true };
	p->rows = 1;
	for (size_t i = 0; i < count; i++)
		place_node(p, i);
	return NULL;
}

/* --- Boxes -------------------------------------------------------------- */

static void put_shares(struct picture *p,
		       const struct flame_weight weight[FLAME_SIDES])
{
	double before = flame_share(p->tree, weight, FLAME_BEFORE);
	double after = flame_share(p->tree, weight, FLAME_AFTER);
	double ms = flame_run(p->tree) / 1e6;

	if (p->tree->options.compare == FLAME_ALONE)
		strbuf_printf(&p->text, "%.2f %%", 100 * after);
	else if (p->tree->options.compare == FLAME_BY_TIME &&
		 p->head->unit == EVENT_NANOSECONDS)
		strbuf_printf(&p->text, "%.1f ms before, %.1f ms after",
			      before * ms, after * ms);
	else
		strbuf_printf(&p->text, "%.2f %% before, %.2f %% after",
			      100 * before, 100 * after);
}

/* Red: more than before; blue: less. */
static void put_change(struct picture *p, const struct flame_node *node)
{
	double after = flame_share(p->tree, node->total, FLAME_AFTER);
	double before = flame_share(p->tree, node->total, FLAME_BEFORE);
	double most = after > before ? after : before;
	double change = most > 0 ? (after - before) / most : 0;
	double strength = 1.5 * (change < 0 ? -change : change);

	if (strength > 1)
		strength = 1;
	strbuf_printf(&p->text, " style=\"fill:hsl(%d,%.0f%%,%.0f%%)\"",
		      change > 0 ? 8 : 212, 15 + 75 * strength,
		      90 - 28 * strength);
}

static void put_name(const struct flame_tree *tree,
		     const struct flame_function *function, struct strbuf *out)
{
	const char *place = flame_text(tree, function->place);

	strbuf_puts(out, flame_text(tree, function->name));
	if (*place)
		strbuf_printf(out, "  %s", place);
	if (*place && function->line)
		strbuf_printf(out, ":%" PRIu32, function->line);
}

static double y_of(const struct picture *p, uint32_t row)
{
	return p->top + ROW * (p->head->flame ? p->rows - 1 - row : row);
}

/* The box up to the class of its rectangle; the title is still open. */
static void open_box(struct picture *p, const struct place *place,
		     const char *name)
{
	strbuf_printf(
		&p->text,
		"<g data-x=\"%.3f\" data-w=\"%.3f\" data-row=\"%" PRIu32
		"\"><title>",
		place->x, place->width, place->row);
	flame_text_xml(&p->text, name);
}

static void close_box(struct picture *p, const struct place *place,
		      const char *name, const char *class, unsigned int tint,
		      const struct flame_node *changed)
{
	size_t room = place->width > 6 ?
			      (size_t)((place->width - 6) *
				       CHARACTERS_PER_100_PIXELS / 100) :
			      0;

	strbuf_printf(&p->text,
		      "</title><rect class=\"%s t%u\" x=\"%.2f\" y=\"%.0f\" "
		      "width=\"%.2f\" height=\"%d\"",
		      class, tint, place->x, y_of(p, place->row),
		      place->width > 1 ? place->width - 0.5 : place->width,
		      ROW - 1);
	if (changed)
		put_change(p, changed);
	strbuf_printf(&p->text, "/><text x=\"%.2f\" y=\"%.0f\">", place->x + 3,
		      y_of(p, place->row) + 12);
	if (room > 2)
		flame_text_xml_max(&p->text, name, room);
	strbuf_puts(&p->text, "</text></g>\n");
}

static void put_node(struct picture *p, size_t i, struct strbuf *name)
{
	const struct flame_node *node = &p->tree->nodes.data[i];
	const struct flame_function *function =
		&p->tree->functions.data[node->function];
	const char *file = flame_text(p->tree, function->file);
	char class[16];

	strbuf_clear(name);
	put_name(p->tree, function, name);
	open_box(p, &p->places[i], name->data);
	strbuf_puts(&p->text, "\ntotal ");
	put_shares(p, node->total);
	strbuf_puts(&p->text, "\nown ");
	put_shares(p, node->own);
	strbuf_printf(&p->text, "\n%" PRIu64 " sample%s",
		      node->total[FLAME_AFTER].samples,
		      plural(node->total[FLAME_AFTER].samples));
	snprintf(class, sizeof(class), "k%" PRIu32, function->kind);
	close_box(p, &p->places[i], name->data, class,
		  (unsigned int)(hash_string(file) % 4),
		  p->tree->options.compare ? node : NULL);
}

/* The children of a node that are too narrow, as one box at their end. */
static void put_more(struct picture *p, const struct place *parent,
		     struct strbuf *name)
{
	struct place place = { .x = parent->next_x - parent->more_width,
			       .width = parent->more_width,
			       .row = parent->row + 1 };

	if (!parent->is_drawn || parent->more_width < width_min)
		return;
	strbuf_clear(name);
	strbuf_printf(name, "%" PRIu32 " more", parent->more);
	open_box(p, &place, name->data);
	strbuf_printf(&p->text, "\ntotal %.2f %%, in boxes too narrow to be drawn",
		      100 * place.width / WIDTH);
	close_box(p, &place, name->data, "k12", 0, NULL);
}

static void put_boxes(struct picture *p)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	const struct place *all = &p->places[p->tree->nodes.count];

	strbuf_puts(&p->text, "<g id=\"boxes\">\n");
	open_box(p, all, "all samples");
	strbuf_printf(&p->text, "\n%" PRIu64 " sample%s",
		      p->tree->all[FLAME_AFTER].samples,
		      plural(p->tree->all[FLAME_AFTER].samples));
	close_box(p, all, "all samples", "k10", 0, NULL);
	for (size_t i = 0; i < p->tree->nodes.count; i++)
		if (p->places[i].is_drawn)
			put_node(p, i, &name);
	for (size_t i = 0; i <= p->tree->nodes.count; i++)
		put_more(p, &p->places[i], &name);
	strbuf_puts(&p->text, "</g>\n");
	if (name.failed)
		p->text.failed = true;
}

/* --- The picture -------------------------------------------------------- */

/* Returns the lines. */
static unsigned int count_lines(const char *text)
{
	unsigned int lines = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		lines++;
	return lines;
}

static double put_lines(struct picture *p, const char *text, double y)
{
	enum { COLUMNS = 170 };
	const char *class = "head";

	while (*text) {
		size_t n = strcspn(text, "\n");
		_cleanup_free_ char *line = strndup(text, n);

		strbuf_printf(&p->text, "<text class=\"%s\" x=\"4\" y=\"%.0f\">",
			      class, y);
		flame_text_xml_max(&p->text, line ? line : "", COLUMNS);
		strbuf_puts(&p->text, "</text>\n");
		if (!line)
			p->text.failed = true;
		class = "head more";
		y += HEAD_LINE;
		text += n + (text[n] == '\n');
	}
	return y;
}

static void put_head(struct picture *p)
{
	double y = put_lines(p, p->head->summary, HEAD_LINE);

	y = put_lines(p, p->head->notes, y);
	if (p->tree->options.compare != FLAME_ALONE)
		put_lines(
			p,
			"Red: more than before; blue: less. Widths are the mean of both.",
			y);
	strbuf_printf(
		&p->text,
		"<g id=\"tools\" style=\"display:none\">"
		"<text id=\"found\" class=\"head\" x=\"900\" y=\"%d\" text-anchor=\"end\"></text>"
		"<text id=\"search\" class=\"tool\" x=\"1000\" y=\"%d\">Search (/)</text>"
		"<text id=\"out\" class=\"tool\" x=\"1100\" y=\"%d\">Zoom out</text></g>\n",
		HEAD_LINE, HEAD_LINE, HEAD_LINE);
}

static void put_picture(struct picture *p)
{
	unsigned int lines = count_lines(p->head->summary) +
			     count_lines(p->head->notes) +
			     (p->tree->options.compare != FLAME_ALONE);
	double height;

	p->top = HEAD_LINE * (lines + 0.5);
	height = p->top + ROW * p->rows + 4;
	strbuf_printf(
		&p->text,
		FLAME_MARK " -->\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
		"width=\"%d\" height=\"%.0f\" style=\"max-width:100%%;height:auto\">\n<title>",
		WIDTH, height, WIDTH, height);
	flame_text_xml(&p->text, p->head->title);
	strbuf_printf(&p->text,
		      "</title>\n<style>%s</style>\n"
		      "<rect id=\"back\" width=\"%d\" height=\"%.0f\"/>\n",
		      asset_picture_css, WIDTH, height);
	put_head(p);
	put_boxes(p);
	strbuf_printf(&p->text, "<script><![CDATA[%s]]></script>\n</svg>\n",
		      asset_picture_js);
}

struct error *flame_picture_write(const struct flame_tree *tree,
				  const struct flame_head *head, FILE *out)
{
	struct picture p = { .tree = tree,
			     .head = head,
			     .text = STRBUF_INIT };
	struct error *error = place_all(&p);

	if (!error) {
		put_picture(&p);
		error = strbuf_error(&p.text);
	}
	if (!error && fwrite(p.text.data, 1, p.text.len, out) != p.text.len)
		error = error_os(errno, NULL, "cannot write the picture");
	free(p.places);
	strbuf_deinit(&p.text);
	return error;
}
