// SPDX-License-Identifier: GPL-2.0-only
#include "profile/file_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/path_name.h"
#include "profile/installed_path.h"

/* Files of one name that are looked at, of each side. */
enum { ALIKE_MAX = 4096 };
/* Pairs that tell of a folder; each takes a look at all files. */
enum { NEIGHBOURS_MAX = 8 };

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
	bool is_paired;
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

static int compare_paths(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The paths of files, sorted; NULL for want of memory. */
static const char **sort_paths(const struct profile *profile,
			       const struct file_list *files)
{
	const char **paths = calloc(files->count + 1, sizeof(*paths));

	for (size_t i = 0; paths && i < files->count; i++)
		paths[i] = profile_string(profile, files->data[i], "");
	if (paths)
		qsort(paths, files->count, sizeof(*paths), compare_paths);
	return paths;
}

/* The first of the sorted paths that begins with these n bytes, or would stand there. */
static size_t first_below(const char **paths, size_t count, const char *folder,
			  size_t n)
{
	size_t from = 0, to = count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strncmp(paths[middle], folder, n) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* How many of the sorted paths begin with these n bytes; none does with no bytes. */
static size_t count_below(const char **paths, size_t count, const char *folder,
			  size_t n)
{
	size_t from = first_below(paths, count, folder, n), found = 0;

	while (n && from + found < count &&
	       !strncmp(paths[from + found], folder, n))
		found++;
	return found;
}

/* A folder, n bytes, has files, and not all of them are below another, m bytes. */
static bool has_file_below(const char **paths, size_t count, const char *folder,
			   size_t n, const char *other, size_t m)
{
	size_t inside = m > n && !strncmp(folder, other, n) ?
				count_below(paths, count, other, m) :
				0;

	return count_below(paths, count, folder, n) > inside;
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

static int compare_lones(const void *x, const void *y)
{
	const struct lone *a = x, *b = y;
	int order = strcmp(path_name(a->path), path_name(b->path));

	return order ? order : strcmp(a->path, b->path);
}

/* Those from `from` on that have the same last name. */
static size_t count_alike(const struct lones *lones, size_t from)
{
	const char *name = path_name(lones->data[from].path);
	size_t n = 1;

	while (from + n < lones->count &&
	       !strcmp(path_name(lones->data[from + n].path), name))
		n++;
	return n;
}

static void match_alike(struct lones *before, size_t i, size_t n,
			struct lones *after, size_t k, size_t m)
{
	for (size_t x = i; x < i + n; x++) {
		for (size_t y = k; y < k + m; y++) {
			size_t score = score_of(&before->data[x],
						&after->data[y]);

			note_match(&before->data[x], y, score);
			note_match(&after->data[y], x, score);
		}
	}
}

/* Both are in the order of their last names. */
static void find_matches(struct lones *before, struct lones *after,
			 struct file_pairs *ret)
{
	size_t i = 0, k = 0;

	while (i < before->count && k < after->count) {
		size_t n = count_alike(before, i), m = count_alike(after, k);
		int order = strcmp(path_name(before->data[i].path),
				   path_name(after->data[k].path));

		if (!order && n <= ALIKE_MAX && m <= ALIKE_MAX)
			match_alike(before, i, n, after, k, m);
		else if (!order)
			ret->left_out += n;
		i += order <= 0 ? n : 0;
		k += order >= 0 ? m : 0;
	}
}

/*
 * Neither side's folder is one that the other has files in, too, but for a copy
 * that stands below it.
 */
static bool has_moved(const struct lone *a, const struct lone *b,
		      const char **before, size_t before_count,
		      const char **after, size_t after_count)
{
	size_t names, end = common_end(a->path, b->path, &names);
	size_t n = strlen(a->path) - end, m = strlen(b->path) - end;

	return a->installed ||
	       (!has_file_below(after, after_count, a->path, n, b->path, m) &&
		!has_file_below(before, before_count, b->path, m, a->path, n));
}

static void sort_lones(struct lones *lones)
{
	if (lones->count)
		qsort(lones->data, lones->count, sizeof(*lones->data),
		      compare_lones);
}

static struct error *pair(struct file_pairs *pairs, struct lone *one,
			  struct lone *other)
{
	one->is_paired = other->is_paired = true;
	return add_pair(pairs, one->file, other->file);
}

static struct lone *find_path(struct lones *lones, const char *begin, size_t n,
			      const char *end)
{
	vec_for_each(lone, lones)
		if (!lone->is_paired && !strncmp(lone->path, begin, n) &&
		    !strcmp(lone->path + n, end))
			return lone;
	return NULL;
}

/* Of two copies of a folder, of which one pair of files tells. */
static struct error *pair_folder(struct lones *a, struct lones *b,
				 const char *before, const char *after,
				 struct file_pairs *ret)
{
	size_t names, end = common_end(before, after, &names);
	size_t n = strlen(before) - end, m = strlen(after) - end;
	struct error *error = NULL;

	vec_for_each(one, a) {
		struct lone *other;

		if (error || one->is_paired || one->installed ||
		    strncmp(one->path, before, n) != 0)
			continue;
		other = find_path(b, after, m, one->path + n);
		if (other)
			error = pair(ret, one, other);
	}
	return error;
}

/* What has as good a match elsewhere is where its neighbours are. */
static struct error *pair_neighbours(const struct profile *profile,
				     struct lones *a, struct lones *b,
				     struct file_pairs *ret)
{
	size_t count = ret->list.count, asked = 0;
	struct error *error = NULL;

	for (size_t i = 0; i < count && asked < NEIGHBOURS_MAX && !error; i++) {
		const struct file_pair known = ret->list.data[i];
		const char *before = profile_string(profile, known.before, "");
		const char *after = profile_string(profile, known.after, "");

		if (installed_path(before))
			continue;
		asked++;
		error = pair_folder(a, b, before, after, ret);
	}
	return error;
}

/* The only one that is left of the program, or NULL. */
static struct lone *only_one(struct lones *lones)
{
	struct lone *found = NULL;

	vec_for_each(lone, lones) {
		if (lone->is_paired || lone->installed)
			continue;
		if (found)
			return NULL;
		found = lone;
	}
	return found;
}

/* "old.py" and "new.py" in one folder. */
static struct error *pair_renamed(struct lones *a, struct lones *b,
				  struct file_pairs *ret)
{
	struct lone *one = only_one(a), *other = only_one(b);
	size_t n = one ? (size_t)(path_name(one->path) - one->path) : 0;

	if (!one || !other || path_name(other->path) != other->path + n ||
	    strncmp(one->path, other->path, n) != 0)
		return NULL;
	return pair(ret, one, other);
}

static struct error *pair_up(const struct profile *profile,
			     const struct file_list *before,
			     const struct file_list *after, struct lones *a,
			     struct lones *b, struct file_pairs *ret)
{
	_cleanup_free_ const char **paths_a = sort_paths(profile, before);
	_cleanup_free_ const char **paths_b = sort_paths(profile, after);
	struct error *error = find_lones(profile, before, after, a);

	if (!error)
		error = find_lones(profile, after, before, b);
	if (!error && (!paths_a || !paths_b))
		error = error_no_memory();
	if (error)
		return error;
	sort_lones(a);
	sort_lones(b);
	find_matches(a, b, ret);
	for (size_t i = 0; !error && i < a->count; i++) {
		struct lone *one = &a->data[i];
		struct lone *other = one->score ? &b->data[one->best] : NULL;

		if (other && !one->is_tie && !other->is_tie &&
		    other->best == i &&
		    has_moved(one, other, paths_a, before->count, paths_b,
			      after->count))
			error = pair(ret, one, other);
	}
	if (!error)
		error = pair_neighbours(profile, a, b, ret);
	return error ? error : pair_renamed(a, b, ret);
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
