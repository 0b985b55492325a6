/* SPDX-License-Identifier: MIT */
/*
 * plot_map.c - a heat map, with its figures in the cells. See plot.h.
 *
 * It is half as wide as a page, so that two stand side by side. The figures are in every cell, so
 * it needs no bar of colours; white ones on dark cells.
 */
#include <math.h>

#include "plot_script.h"

enum { MAP_WIDTH = 496, MAP_LEFT = 64, MAP_RIGHT = 6, MAP_TOP = 28, MAP_BOTTOM = 54, MAP_ROW = 32 };

/* Where a value lies between the least and the most, as a ratio where they are far apart. */
static double place(const struct plot_map *map, double v)
{
	double least = map->least, most = map->most;
	if (!(most > least))
		return 0.5;
	return least > 0 && most > 6 * least ? log(v / least) / log(most / least)
					     : (v - least) / (most - least);
}

static void names(FILE *f, char axis, const char *const *text, size_t n)
{
	fprintf(f, "set %crange [-0.5:%.1f]\nset %ctics (", axis, (double)n - 0.5, axis);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", f);
		script_quoted(f, text[i]);
		fprintf(f, " %zu", i);
	}
	fputs(")\n", f);
}

/* Black figures on light cells, then white ones on dark cells: a block of data each. */
static void cells(FILE *f, const struct plot_map *map)
{
	fputs("$data << END\n", f);
	for (unsigned dark = 0; dark < 2; dark++) {
		bool any = false;
		for (size_t i = 0; i < map->nx * map->ny; i++) {
			double v = map->values[i], at = place(map, v);
			if (isnan(v) || (at > 0.55) != dark)
				continue;
			/* Three digits that count, and never an exponent. */
			int digits = fabs(v) < 9.995 ? 2 : fabs(v) < 99.95 ? 1 : 0;
			fprintf(f, "%zu %zu %.4f %.*f\n", i % map->nx, i / map->nx, at, digits, v);
			any = true;
		}
		/* gnuplot counts no empty block. */
		fputs(any ? "\n\n" : "-9 -9 0 -\n\n\n", f);
	}
	fputs("END\n", f);
}

void plot_heat_map(struct plotter *p, const struct plot_map *map)
{
	FILE *f = p->script;
	struct script_area area = {MAP_WIDTH, MAP_TOP + MAP_ROW * (double)map->ny + MAP_BOTTOM,
				   MAP_LEFT,  MAP_RIGHT,
				   MAP_TOP,   MAP_BOTTOM};
	script_begin(f, map->xlabel, map->ylabel, area);
	fputs("unset key\nunset colorbox\nset cbrange [0:1]\n", f);
	names(f, 'x', map->xnames, map->nx);
	names(f, 'y', map->ynames, map->ny);
	/* One hue each, from light to dark: no eye takes them for each other or for their reverse.
	 */
	fprintf(f, "set palette maxcolors 48 defined (0 '%s', 1 '%s', 2 '%s', 3 '%s')\n",
		map->cost ? "#fff1e2" : "#eef4fb", map->cost ? "#fdba7c" : "#a9cfea",
		map->cost ? "#e06a1c" : "#3d8cc6", map->cost ? "#7c2a05" : "#0a3a72");
	if (map->framed < map->nx * map->ny) {
		double x = (double)(map->framed % map->nx), y = (double)(map->framed / map->nx);
		bool dark = place(map, map->values[map->framed]) > 0.55;
		fprintf(f,
			"set object rectangle from %g,%g to %g,%g front fillstyle empty border rgb "
			"'%s' linewidth 3\n",
			x - 0.46, y - 0.44, x + 0.46, y + 0.44, dark ? "#fdfdfd" : "#101418");
	}
	cells(f, map);
	fputs("picture = \"plot for [i=0:1] $data index i using 1:2:(0.48):(0.47):3 with "
	      "boxxyerror fillstyle solid 1 noborder fillcolor palette, $data index 0 using "
	      "1:2:4 with labels textcolor rgb '#101418', $data index 1 using 1:2:4 with "
	      "labels textcolor rgb '#fdfdfd'\"\n",
	      f);
	script_draw(f, map->file, map->title, map->panel, area);
}
