/* SPDX-License-Identifier: MIT */
/* latency_figures.c - the figures of cistern-latency: a function and a line for each. See
 * latency_figures.h. */
#include "latency_figures.h"

#include "ticks.h"

static double quantile_ns(const struct calls_record *r, unsigned per_million)
{
	return ticks_ns(histogram_quantile(&r->times, per_million));
}

static double p50(const struct calls_figures *f)
{
	return quantile_ns(&f->calls, 500000);
}

static double p99(const struct calls_figures *f)
{
	return quantile_ns(&f->calls, 990000);
}

static double p999(const struct calls_figures *f)
{
	return quantile_ns(&f->calls, 999000);
}

static double p9999(const struct calls_figures *f)
{
	return quantile_ns(&f->calls, 999900);
}

static double longest(const struct calls_figures *f)
{
	return ticks_ns(f->calls.times.max) / 1e3;
}

static double over(const struct calls_figures *f)
{
	return ticks_ns(f->calls.over_ticks) / 1e3;
}

static double over_calls(const struct calls_figures *f)
{
	return (double)f->calls.over;
}

static double mean(const struct calls_figures *f)
{
	return ticks_ns(f->calls.times.sum) / (double)f->calls.times.total;
}

static double idle_p9999(const struct calls_figures *f)
{
	return quantile_ns(&f->idle, 999900);
}

static double idle_longest(const struct calls_figures *f)
{
	return ticks_ns(f->idle.times.max) / 1e3;
}

static double idle_over(const struct calls_figures *f)
{
	return ticks_ns(f->idle.over_ticks) / 1e3;
}

static double switches(const struct calls_figures *f)
{
	return (double)f->events.switches;
}

static double idle_switches(const struct calls_figures *f)
{
	return (double)f->idle_events.switches;
}

static double faults(const struct calls_figures *f)
{
	return (double)f->events.faults;
}

static double hit_rate(const struct calls_figures *f)
{
	return f->rate;
}

static double kept(const struct calls_figures *f)
{
	return f->kept;
}

static double inserting(const struct calls_figures *f)
{
	return f->inserting;
}

const struct latency_figure latency_figures[LATENCY_FIGURES] = {
    {"mean_ns", mean, FIGURE_RATIO},
    {"p50_ns", p50, FIGURE_SHOWN | FIGURE_RATIO},
    {"p99_ns", p99, FIGURE_SHOWN | FIGURE_RATIO},
    {"p99.9_ns", p999, FIGURE_SHOWN | FIGURE_RATIO | FIGURE_RATIO_SHOWN},
    {"p99.99_ns", p9999, FIGURE_SHOWN | FIGURE_RATIO | FIGURE_RATIO_SHOWN},
    {"max_us", longest, FIGURE_SHOWN | FIGURE_RATIO},
    {"over50_us", over, FIGURE_SHOWN | FIGURE_RATIO | FIGURE_RATIO_SHOWN},
    {"over50_calls", over_calls, 0},
    {"idle_p99.99_ns", idle_p9999, FIGURE_SHOWN},
    {"idle_max_us", idle_longest, FIGURE_SHOWN},
    {"idle_over50_us", idle_over, FIGURE_SHOWN},
    {"switches", switches, FIGURE_SHOWN},
    {"idle_switches", idle_switches, 0},
    {"faults", faults, FIGURE_SHOWN},
    {"m_s", hit_rate, FIGURE_SHOWN | FIGURE_RATIO | FIGURE_OPTIONAL},
    {"kept", kept, FIGURE_SHOWN | FIGURE_OPTIONAL},
    {"inserting_m_s", inserting, FIGURE_OPTIONAL | FIGURE_RATIO},
};
