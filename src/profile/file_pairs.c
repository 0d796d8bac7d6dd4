// SPDX-License-Identifier: GPL-2.0-only
#include "profile/file_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "profile/installed_path.h"

/* A file that only one side has. */
struct lone {
	uint32_t file;
	const char *path;
	/* In an installation, or NULL. */
	const char *installed;
	/* The index of the best match, how good it is, and whether it is alone. */
	size_t best;
	size_t score;
	bool is_tie;
};

struct lones VEC_BODY(struct lone);

void file_pairs_deinit(struct file_pairs *pairs)
{
	vec_deinit(&pairs->list);
	map_deinit(&pairs->after_of);
}

static struct error *add_pair(struct file_pairs *pairs, uint32_t before,
			      uint32_t after)
{
	struct file_pair pair = { before, after };

	return map_insert(&pairs->after_of, before, after, NULL) &&
			       vec_push(&pairs->list, pair) ?
		       NULL :
		       error_no_memory();
}

static struct error *find_lones(const struct profile *profile,
				const struct file_list *files,
				const struct file_list *others,
				struct lones *ret)
{
	_cleanup_(map_deinit) struct map seen = {};

	vec_for_each(other, others)
		if (!map_insert(&seen, *other, 0, NULL))
			return error_no_memory();
	vec_for_each(file, files) {
		const char *path = profile_string(profile, *file, "");
		struct lone lone = { .file = *file,
				     .path = path,
				     .installed = installed_path(path) };

		/* "<string>" is no file. */
		if (map_find(&seen, *file) || path[0] == '<')
			continue;
		if (!vec_push(ret, lone))
			return error_no_memory();
	}
	return NULL;
}

/* --- How well two paths match ------------------------------------------- */

/* Bytes at the end of both that are whole equal names; *names: how many. */
static size_t common_end(const char *a, const char *b, size_t *names)
{
	size_t na = strlen(a), nb = strlen(b), n = 0, whole = 0;

	*names = 0;
	while (n < na && n < nb && a[na - n - 1] == b[nb - n - 1]) {
		if (a[na - ++n] != '/')
			continue;
		whole = n - 1;
		++*names;
	}
	/* One of them begins where the other has a '/'. */
	if ((n == na && (n == nb || b[nb - n - 1] == '/')) ||
	    (n == nb && n < na && a[na - n - 1] == '/')) {
		whole = n;
		++*names;
	}
	return whole;
}

static bool has_file_below(const struct profile *profile,
			   const struct file_list *files, const char *folder,
			   size_t n)
{
	vec_for_each(file, files)
		if (n &&
		    !strncmp(profile_string(profile, *file, ""), folder, n))
			return true;
	return false;
}

static size_t score_of(const struct lone *a, const struct lone *b)
{
	size_t names;

	if (a->installed && b->installed)
		return !strcmp(a->installed, b->installed);
	if (a->installed || b->installed)
		return 0;
	common_end(a->path, b->path, &names);
	return names;
}

static void note_match(struct lone *one, size_t other, size_t score)
{
	if (!score || score < one->score)
		return;
	one->is_tie = score == one->score;
	one->score = score;
	one->best = other;
}

static void find_matches(struct lones *before, struct lones *after)
{
	for (size_t i = 0; i < before->count; i++) {
		for (size_t k = 0; k < after->count; k++) {
			size_t score = score_of(&before->data[i],
						&after->data[k]);

			note_match(&before->data[i], k, score);
			note_match(&after->data[k], i, score);
		}
	}
}

/* Neither side's folder is one that the other has files in, too. */
static bool has_moved(const struct profile *profile, const struct lone *a,
		      const struct lone *b, const struct file_list *before,
		      const struct file_list *after)
{
	size_t names, end = common_end(a->path, b->path, &names);

	return a->installed ||
	       (!has_file_below(profile, after, a->path,
				strlen(a->path) - end) &&
		!has_file_below(profile, before, b->path,
				strlen(b->path) - end));
}

static struct error *pair_up(const struct profile *profile,
			     const struct file_list *before,
			     const struct file_list *after, struct lones *a,
			     struct lones *b, struct file_pairs *ret)
{
	struct error *error = find_lones(profile, before, after, a);

	if (!error)
		error = find_lones(profile, after, before, b);
	if (error)
		return error;
	find_matches(a, b);
	for (size_t i = 0; !error && i < a->count; i++) {
		const struct lone *one = &a->data[i];
		const struct lone *other = one->score ? &b->data[one->best] :
							NULL;

		if (other && !one->is_tie && !other->is_tie &&
		    other->best == i &&
		    has_moved(profile, one, other, before, after))
			error = add_pair(ret, one->file, other->file);
	}
	return error;
}

struct error *file_pairs_find(const struct profile *profile,
			      const struct file_list *before,
			      const struct file_list *after,
			      struct file_pairs *ret)
{
	struct lones a = {}, b = {};
	struct error *error =
		pair_up(profile, before, after, &a, &b, ret);

	vec_deinit(&a);
	vec_deinit(&b);
	return error;
}

uint32_t file_pairs_after(const struct file_pairs *pairs, uint32_t before)
{
	const uint64_t *after = map_find(&pairs->after_of, before);

	return after ? (uint32_t)*after : before;
}
