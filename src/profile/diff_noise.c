// SPDX-License-Identifier: GPL-2.0-only
#include "profile/diff_noise.h"

#include <math.h>

#include "profile/chance.h"

/* What the runs of one side say. */
struct side {
	double runs;
	/* Means of the value, and of all. */
	double value;
	double all;
	double samples;
	/* Squared deviations from the mean, added up. */
	double squares;
	/*
	 * The variance of the mean, for each unit of it, if samples fell
	 * independently of each other.
	 */
	double unit;
	/* What is not in the value may be by chance, too. */
	bool is_measured;
	bool is_share;
};

static struct side side_of(const struct diff_run *runs, size_t count,
			   const double *values, const double *squares,
			   bool is_after)
{
	struct side s = { .is_measured = squares };
	double variance = 0;

	for (size_t i = 0; i < count; i++) {
		if (runs[i].is_after != is_after)
			continue;
		s.runs++;
		s.is_share = runs[i].is_share;
		s.value += values[i];
		s.all += runs[i].all;
		s.samples += runs[i].samples;
		s.unit += runs[i].sample;
		variance += squares ? squares[i] : 0;
	}
	if (variance > 0)
		s.unit = variance / (s.value / s.runs);
	s.value /= s.runs;
	s.all /= s.runs;
	s.unit /= s.runs * s.runs;
	for (size_t i = 0; i < count; i++)
		if (runs[i].is_after == is_after)
			s.squares += (values[i] - s.value) *
				     (values[i] - s.value);
	return s;
}

/*
 * How many samples there are is no chance: of a function that has nearly all of
 * them only the few others vary. One more than there are, since none is chance,
 * too.
 */
static double rest_of(const struct side *s)
{
	double rest = s->all > 0 && !s->is_measured ? 1 - s->value / s->all : 1;

	if (s->samples > 0)
		rest += 1 / s->samples;
	return rest < 1 ? rest : 1;
}

/* Of the mean, and never 0. */
static double sampling_variance(const struct side *s, double rest)
{
	return s->unit * rest * (s->value + s->unit * rest);
}

/* Of one run, by what runs of a program differ. */
static double run_variance(const struct side *s)
{
	double error = DIFF_NOISE_RUNS * s->value;

	if (s->is_share)
		error *= 1 - s->value;
	return error * error;
}

/* One run of each: as if there were fewer samples, by what runs add to their chance. */
static void measure_samples(const struct side *a, const struct side *b,
			    struct diff_value *ret)
{
	double rest_a = rest_of(a), rest_b = rest_of(b);
	double by_samples = sampling_variance(a, rest_a) +
			    sampling_variance(b, rest_b);
	double by_runs = run_variance(a) + run_variance(b);
	double rest = fmax(rest_a, rest_b);
	double by_counts = rest * (a->unit * a->value + b->unit * b->value);
	double fewer = by_counts > 0 ? 1 + by_runs / by_counts : 1;
	double one_a = a->unit * rest * fewer, one_b = b->unit * rest * fewer;

	ret->half_width = chance_half_width(INFINITY) *
			  sqrt(by_samples + by_runs);
	ret->chance = chance_of_counts(a->value / one_a, b->value / one_b,
				       one_b / (one_a + one_b));
}

/* Runs of both sides tell the variance: that of the same program is the same. */
static void measure_runs(const struct side *a, const struct side *b,
			 struct diff_value *ret)
{
	double df = a->runs + b->runs - 2;
	double by_runs = (a->squares + b->squares) / df *
			 (1 / a->runs + 1 / b->runs);
	double by_samples = sampling_variance(a, rest_of(a)) +
			    sampling_variance(b, rest_of(b));
	double error = sqrt(fmax(by_runs, by_samples));

	ret->half_width = chance_half_width(df) * error;
	ret->chance = error > 0 ? chance_of_t((b->value - a->value) / error, df) :
				  1;
}

static bool each_has(const struct diff_run *runs, size_t count,
		     const double *values, bool is_after)
{
	for (size_t i = 0; i < count; i++)
		if (runs[i].is_after == is_after &&
		    values[i] < DIFF_NOISE_SAMPLES_ALWAYS * runs[i].sample)
			return false;
	return true;
}

/* By how much runs differ is no question of what one side does in each, and the other never. */
static void measure_presence(const struct diff_run *runs, size_t count,
			     const double *values, const struct side *a,
			     const struct side *b, struct diff_value *ret)
{
	struct diff_value by_counts = {};
	bool is_new = a->value == 0, is_gone = b->value == 0;

	if (is_new == is_gone || !each_has(runs, count, values, is_new))
		return;
	measure_samples(a, b, &by_counts);
	if (!(by_counts.chance < ret->chance))
		return;
	ret->chance = by_counts.chance;
	ret->half_width = by_counts.half_width;
}

struct diff_value diff_noise_measure(const struct diff_run *runs, size_t count,
				     const double *values,
				     const double *squares, uint64_t samples)
{
	struct side a = side_of(runs, count, values, squares, false);
	struct side b = side_of(runs, count, values, squares, true);
	struct diff_value value = { .before = a.value, .after = b.value };

	if (count > 2) {
		measure_runs(&a, &b, &value);
		measure_presence(runs, count, values, &a, &b, &value);
	} else {
		measure_samples(&a, &b, &value);
	}
	if (samples < DIFF_NOISE_SAMPLES_MIN)
		value.chance = NAN;
	return value;
}
