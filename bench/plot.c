/* SPDX-License-Identifier: MIT */
/*
 * plot.c - writes a script for gnuplot, and runs it. See plot.h.
 *
 * Names inside the script have no folder, and gnuplot runs in the folder, so that the folder can be
 * moved and its plots.gp run again. Sizes are in pixels of the SVG; margins are fixed, so that the
 * cells of a map are as large whatever their labels say.
 *
 * It grows by a function for each kind of picture.
 */
#include "plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* The series are the colours of Okabe and Ito ("Color Universal Design", 2008) without yellow,
 * which paper swallows; the dark ones are lighter, for contrast with a dark page. */
const struct plot_color_pair plot_colors[PLOT_COLORS] = {
    [PLOT_INK] = {"ink", 0x1b1f24, 0xe4e8ed},
    [PLOT_SOFT] = {"soft", 0x59626d, 0x9ea9b6},
    [PLOT_GRID] = {"grid", 0xdfe3e8, 0x323943},
    [PLOT_PAPER] = {"paper", 0xfffffe, 0x15191e},
    [PLOT_SERIES + 0] = {"series-1", 0x0072b2, 0x4fa9e2},
    [PLOT_SERIES + 1] = {"series-2", 0xd55e00, 0xf58a3c},
    [PLOT_SERIES + 2] = {"series-3", 0x009e73, 0x33c79d},
    [PLOT_SERIES + 3] = {"series-4", 0xcc79a7, 0xe09cc2},
    [PLOT_SERIES + 4] = {"series-5", 0xb07d00, 0xe9b53a},
    [PLOT_SERIES + 5] = {"series-6", 0x56b4e9, 0x8fd0f5},
    [PLOT_SERIES + 6] = {"series-7", 0x6f5aa8, 0xa795df},
    [PLOT_SERIES + 7] = {"series-8", 0x7a4a2b, 0xc79a78},
};

struct plotter {
	char *folder;
	FILE *script;
};

/* Nothing that was written may have failed: a cut-off plot would mislead. */
static void close_written(FILE *f, const char *folder)
{
	bool failed = ferror(f) != 0;
	if (fclose(f) != 0 || failed)
		cli_fail("%s: cannot write the plots: %s", folder, strerror(errno));
}

struct plotter *plot_open(const char *folder)
{
	char path[4096];
	struct plotter *p = calloc(1, sizeof *p);
	if (!p || !(p->folder = strdup(folder)))
		cli_fail("out of memory");
	cli_folder(folder);
	snprintf(path, sizeof path, "%s/plots.gp", folder);
	p->script = fopen(path, "w");
	if (!p->script)
		cli_fail("%s: %s", path, strerror(errno));
	fprintf(p->script, "# Made by %s. Run gnuplot on it in this folder to draw again.\n",
		cli_program);
	return p;
}

/* Text between the quotes in which gnuplot takes everything as it is. */
static void quoted(FILE *f, const char *text)
{
	putc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', f);
		putc(*text, f);
	}
	putc('\'', f);
}

static void setting(FILE *f, const char *what, const char *text)
{
	fprintf(f, "set %s ", what);
	quoted(f, text);
	fprintf(f, " textcolor rgb '#%06x'\n", plot_colors[PLOT_INK].light);
}

static unsigned color_of(unsigned series)
{
	return plot_colors[PLOT_SERIES + series % (PLOT_COLORS - PLOT_SERIES)].light;
}

/* What all pictures have in common. */
static void begin(FILE *f, const char *title, const char *xlabel, const char *ylabel)
{
	fputs("\nreset\n", f);
	setting(f, "title", title);
	setting(f, "xlabel", xlabel);
	setting(f, "ylabel", ylabel);
	fprintf(f, "set tics textcolor rgb '#%06x' scale 0\n", plot_colors[PLOT_SOFT].light);
}

/* Draws what the script's variable "picture" holds, into both kinds of file. The SVG is for pages,
 * which have the title beside it. */
static void draw(FILE *f, const char *file, unsigned width, unsigned height)
{
	static const char *const terminals[][2] = {{"pngcairo", "png"}, {"svg", "svg"}};
	for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
		fprintf(f,
			"%sset terminal %s size %u,%u font 'sans,%u' noenhanced background "
			"'#%06x'\nset output ",
			i ? "unset title\n" : "", terminals[i][0], width, height, i ? 13 : 10,
			plot_colors[PLOT_PAPER].light);
		char name[512];
		snprintf(name, sizeof name, "%s.%s", file, terminals[i][1]);
		quoted(f, name);
		fputs("\n@picture\n", f);
	}
}

/* ---- heat maps */

enum { MAP_LEFT = 78, MAP_RIGHT = 92, MAP_BOTTOM = 58 };

/* Where a value lies between the least and the most, as a ratio where they are far apart. */
struct scale {
	double least, most;
	bool log;
};

static struct scale scale_of(const struct plot_map *map)
{
	struct scale s = {INFINITY, -INFINITY, false};
	for (size_t k = 0; k < map->npanels; k++)
		for (size_t i = 0; i < map->nx * map->ny; i++) {
			double v = map->panels[k].values[i];
			if (isnan(v))
				continue;
			s.least = v < s.least ? v : s.least;
			s.most = v > s.most ? v : s.most;
		}
	s.log = s.least > 0 && s.most > 6 * s.least;
	return s;
}

static double place(const struct scale *s, double v)
{
	if (!(s->most > s->least))
		return 0.5;
	return s->log ? log(v / s->least) / log(s->most / s->least)
		      : (v - s->least) / (s->most - s->least);
}

/* Three digits that count, and never an exponent. */
static void short_number(char *out, size_t size, double v)
{
	double magnitude = fabs(v);
	snprintf(out, size, "%.*f", magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0, v);
}

static void names(FILE *f, char axis, const char *const *text, size_t n, size_t panels)
{
	fprintf(f, "set %ctics (", axis);
	for (size_t k = 0; k < panels; k++)
		for (size_t i = 0; i < n; i++) {
			fputs(k + i ? ", " : "", f);
			quoted(f, text[i]);
			fprintf(f, " %g", (double)i + (double)k * ((double)n + 0.5));
		}
	fputs(")\n", f);
}

void plot_heat_map(struct plotter *p, const struct plot_map *map)
{
	FILE *f = p->script;
	struct scale scale = scale_of(map);
	double span = (double)(map->nx * map->npanels) + 0.5 * (double)(map->npanels - 1);
	double cell = 780 / span < 74 ? 780 / span : 74;
	double width = MAP_LEFT + cell * span + MAP_RIGHT;
	/* The names of the panels need a line of their own under the title. */
	double top = map->npanels > 1 ? 48 : 30;
	double height = top + 36 * (double)map->ny + MAP_BOTTOM;

	begin(f, map->title, map->xlabel, map->ylabel);
	setting(f, "cblabel", map->unit);
	fprintf(f,
		"set border 0\nunset key\nset lmargin at screen %.4f\nset rmargin at screen %.4f\n"
		"set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
		MAP_LEFT / width, 1 - MAP_RIGHT / width, 1 - top / height, MAP_BOTTOM / height);
	fprintf(f, "set xrange [-0.5:%.2f]\nset yrange [-0.5:%.2f]\n", span - 0.5,
		(double)map->ny - 0.5);
	names(f, 'x', map->xnames, map->nx, map->npanels);
	names(f, 'y', map->ynames, map->ny, 1);
	/* One hue each, from light to dark: no eye takes them for each other or for their reverse.
	 */
	fprintf(f,
		"set palette maxcolors 48 defined (0 '%s', 1 '%s', 2 '%s', 3 '%s')\n"
		"set cbrange [0:1]\nset colorbox user origin screen %.4f,%.4f size screen "
		"%.4f,%.4f noborder\nset cbtics (",
		map->cost ? "#fff1e2" : "#eef4fb", map->cost ? "#fdba7c" : "#a9cfea",
		map->cost ? "#e06a1c" : "#3d8cc6", map->cost ? "#7c2a05" : "#0a3a72",
		1 - (MAP_RIGHT - 16) / width, MAP_BOTTOM / height, 12 / width,
		1 - (top + MAP_BOTTOM) / height);
	for (unsigned i = 0; i <= 4; i++) {
		char text[32];
		double at = i / 4.0;
		double v = scale.log ? scale.least * pow(scale.most / scale.least, at)
				     : scale.least + at * (scale.most - scale.least);
		if (!(scale.most > scale.least) && i != 2)
			continue;
		short_number(text, sizeof text, scale.most > scale.least ? v : scale.least);
		fprintf(f, "%s'%s' %g", i && scale.most > scale.least ? ", " : "", text, at);
	}
	fputs(")\n", f);
	for (size_t k = 0; k < map->npanels && map->npanels > 1; k++) {
		fputs("set label ", f);
		quoted(f, map->panels[k].title);
		fprintf(f, " at first %.2f, screen %.4f center textcolor rgb '#%06x'\n",
			(double)k * ((double)map->nx + 0.5) + ((double)map->nx - 1) / 2,
			1 - (top - 14) / height, plot_colors[PLOT_INK].light);
	}

	/* Black numbers on light cells, then white ones on dark cells. */
	fputs("$data << END\n", f);
	for (unsigned dark = 0; dark < 2; dark++) {
		bool any = false;
		for (size_t k = 0; k < map->npanels; k++)
			for (size_t i = 0; i < map->nx * map->ny; i++) {
				double v = map->panels[k].values[i], at = place(&scale, v);
				char text[32];
				if (isnan(v) || (at > 0.55) != dark)
					continue;
				short_number(text, sizeof text, v);
				fprintf(f, "%g %zu %.4f %s\n",
					(double)(i % map->nx) + (double)k * ((double)map->nx + 0.5),
					i / map->nx, at, text);
				any = true;
			}
		/* gnuplot counts no empty block. */
		fputs(any ? "\n\n" : "-9 -9 0 -\n\n\n", f);
	}
	fprintf(f, "END\npicture = \"plot for [i=0:1] $data index i using 1:2:(0.48):(0.47):3 with "
		   "boxxyerror fillstyle solid 1 noborder fillcolor palette, $data index 0 using "
		   "1:2:4 with labels textcolor rgb '#101418', $data index 1 using 1:2:4 with "
		   "labels textcolor rgb '#fdfdfd'\"\n");
	draw(f, map->file, (unsigned)width, (unsigned)height);
}

/* ---- lines and points */

/* Where the values of x lie; false where there are none. */
static bool x_span(const struct plot_xy *plot, double *least, double *most)
{
	*least = INFINITY;
	*most = -INFINITY;
	for (size_t s = 0; s < plot->nseries; s++)
		for (size_t i = 0; i < plot->series[s].n; i++) {
			double x = plot->series[s].x[i];
			*least = x < *least ? x : *least;
			*most = x > *most ? x : *most;
		}
	return *least <= *most;
}

static void ticks(FILE *f, const struct plot_xy *plot)
{
	double least, most;
	const char *comma = "";
	if (!x_span(plot, &least, &most))
		return;
	if (plot->ticks_at_values) {
		fputs("set logscale x 2\nset xtics (", f);
		for (size_t s = 0; s < plot->nseries; s++)
			for (size_t i = 0; i < plot->series[s].n; i++, comma = ", ")
				fprintf(f, "%s'%g' %g", comma, plot->series[s].x[i],
					plot->series[s].x[i]);
		fprintf(f, ")\nset xrange [%g:%g]\n", least / 1.15, most * 1.15);
	} else if (plot->log_x && least > 0 && most > 4 * least) {
		static const double steps[] = {1, 2, 5};
		fputs("set logscale x\nset xtics (", f);
		for (double ten = pow(10, floor(log10(least))); ten <= most; ten *= 10)
			for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
				double at = ten * steps[k];
				if (at < least / 1.6 || at > most * 1.15)
					continue;
				fprintf(f, "%s'%g' %g", comma, at, at);
				comma = ", ";
			}
		fprintf(f, ")\nset xrange [%g:%g]\n", least / 1.6, most * 1.15);
	} else {
		double margin = 0.06 * (most - least) + 1e-9;
		fprintf(f, "set xrange [%g:%g]\n", least - 3 * margin, most + margin);
	}
}

/* One part of the plot command. */
static void series(FILE *f, const struct plot_series *s, size_t index)
{
	static const unsigned points[] = {7, 5, 9, 11, 13, 6, 4, 8};
	unsigned color = color_of(s->color);
	unsigned point = points[s->color % (sizeof points / sizeof *points)];
	const char *columns = s->low ? "1:2:3:4" : "1:2";

	fprintf(f, "%s$data index %zu using %s ", index ? ", " : "", index, columns);
	switch (s->style) {
	case PLOT_LINES:
		fprintf(f, "with %s linewidth 2 linecolor rgb '#%06x' pointtype %u pointsize 0.7",
			s->low ? "yerrorlines" : "linespoints", color, point);
		break;
	case PLOT_POINTS:
		fprintf(f, "with points linecolor rgb '#%06x' pointtype %u pointsize 0.75", color,
			point);
		break;
	case PLOT_STEPS:
		fprintf(f, "with steps linewidth 2 linecolor rgb '#%06x'", color);
		break;
	case PLOT_MARK:
		fprintf(f, "with %s linewidth 2 linecolor rgb '#%06x' pointtype 6 pointsize 1.7",
			s->low ? "yerrorbars" : "points", color);
		break;
	}
	/* Inside the variable's quotes a quote that is doubled stays doubled. */
	fputs(" title ", f);
	quoted(f, s->name);
	if (s->labels)
		fprintf(f,
			", $data index %zu using 1:2:5 with labels right offset -0.8,0.6 textcolor "
			"rgb '#%06x' notitle",
			index, plot_colors[PLOT_INK].light);
}

void plot_xy(struct plotter *p, const struct plot_xy *plot)
{
	FILE *f = p->script;
	begin(f, plot->title, plot->xlabel, plot->ylabel);
	fprintf(
	    f,
	    "set border 0\nset grid linewidth 1 linetype 1 linecolor rgb '#%06x'\n"
	    "set key above left horizontal Left reverse samplen 2 width 2 textcolor rgb '#%06x'\n"
	    "set rmargin 4\n",
	    plot_colors[PLOT_GRID].light, plot_colors[PLOT_INK].light);
	ticks(f, plot);
	if (plot->from_zero)
		fputs("set yrange [0:]\n", f);
	fputs("$data << END\n", f);
	for (size_t s = 0; s < plot->nseries; s++) {
		const struct plot_series *one = &plot->series[s];
		for (size_t i = 0; i < one->n; i++)
			fprintf(f, "%.6g %.6g %.6g %.6g \"%s\"\n", one->x[i], one->y[i],
				one->low ? one->low[i] : one->y[i],
				one->high ? one->high[i] : one->y[i],
				one->labels && one->labels[i] ? one->labels[i] : "");
		fputs("\n\n", f);
	}
	fputs("END\npicture = \"plot ", f);
	for (size_t s = 0; s < plot->nseries; s++)
		series(f, &plot->series[s], s);
	fputs("\"\n", f);
	if (plot->small)
		draw(f, plot->file, 540, 360);
	else
		draw(f, plot->file, 760, 460);
}

/* ---- drawing */

/* Runs gnuplot in the folder; its exit code, 127 where there is none. */
static int run_gnuplot(const char *folder)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		if (chdir(folder) == 0)
			execlp("gnuplot", "gnuplot", "plots.gp", (char *)NULL);
		_exit(errno == ENOENT ? 127 : 126);
	}
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool plot_close(struct plotter *p)
{
	fputs("\nset output\n", p->script);
	close_written(p->script, p->folder);
	int code = run_gnuplot(p->folder);
	if (code == 127)
		cli_warn("no plots: gnuplot is not installed (Debian: gnuplot-nox); %s/plots.gp is "
			 "ready for it",
			 p->folder);
	else if (code != 0)
		cli_warn("no plots: gnuplot failed on %s/plots.gp", p->folder);
	free(p->folder);
	free(p);
	return code == 0;
}
