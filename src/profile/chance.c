// SPDX-License-Identifier: GPL-2.0-only
#include "profile/chance.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum {
	/* Steps of a continued fraction; it needs about the root of the counts. */
	STEPS_MAX = 20000,
	/* Counts from which on the normal distribution is as good. */
	EXACT_MAX = 1000000,
	HALVINGS = 60,
};

/* --- Distributions ------------------------------------------------------ */

/* Keeps a divisor off 0, as Lentz's method asks for. */
static double not_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/*
 * The continued fraction of the incomplete beta function, by Lentz's method
 * (Abramowitz and Stegun 26.5.8).
 */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), f = d;

	for (int i = 1; i < STEPS_MAX; i++) {
		double m = i, step;
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
			     ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		f *= d * c;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-13)
			break;
	}
	return f;
}

/* The regularized incomplete beta function; a and b above 0, x from 0 to 1. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
		    b * log1p(-x));
	/* The fraction converges fast on this side of the mean. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

static double at_most_one(double p)
{
	return p < 1 ? p : 1;
}

double chance_of_counts(double a, double b, double p)
{
	double n = a + b, below, above;

	if (n <= 0 || p <= 0 || p >= 1)
		return 1;
	if (n > EXACT_MAX)
		return erfc(fabs(a - n * p) / sqrt(2 * n * p * (1 - p)));
	/* As many as a, or more; as few as a, or fewer. */
	above = a > 0 ? incomplete_beta(a, b + 1, p) : 1;
	below = b > 0 ? incomplete_beta(b, a + 1, 1 - p) : 1;
	return at_most_one(2 * fmin(above, below));
}

double chance_of_t(double t, double df)
{
	if (isinf(df))
		return erfc(fabs(t) / sqrt(2));
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double chance_half_width(double df)
{
	/* One degree of freedom has 12.7. */
	double low = 0, high = 16;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (chance_of_t(middle, df) > 0.05)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- Many at once ------------------------------------------------------- */

static int compare(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

struct error *chance_find_real(const double *p, size_t n, double level,
			       bool *real)
{
	_cleanup_free_ double *sorted = calloc(n + 1, sizeof(*sorted));
	size_t count = 0;
	double limit = -1;

	if (!sorted)
		return error_no_memory();
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			sorted[count++] = p[i];
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++)
		if (sorted[i] <= level * (double)(i + 1) / (double)count)
			limit = sorted[i];
	for (size_t i = 0; i < n; i++)
		real[i] = !isnan(p[i]) && p[i] <= limit;
	return NULL;
}
