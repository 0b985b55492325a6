/* SPDX-License-Identifier: MIT */
/*
 * plot.c - a script for gnuplot: what all pictures have in common, and the drawing. See plot.h.
 *
 * Names inside the script have no folder, and gnuplot runs in the folder, so that the folder can be
 * moved and its plots.gp run again. A kind of picture is a file of its own: plot_map.c, plot_xy.c.
 */
#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "plot_script.h"

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

void script_quoted(FILE *f, const char *text)
{
	putc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', f);
		putc(*text, f);
	}
	putc('\'', f);
}

void script_color(FILE *f, const char *what, enum plot_color color)
{
	fprintf(f, "%s rgb '#%06x'", what, plot_colors[color].light);
}

void script_begin(FILE *f, const char *xlabel, const char *ylabel, struct script_area area)
{
	fputs("\nreset\nset border 0\n", f);
	fputs("set xlabel ", f);
	script_quoted(f, xlabel);
	script_color(f, " offset 0,0.4 textcolor", PLOT_SOFT);
	/* As a label, which has its place whatever the numbers beside it. */
	fputs("\nset label 998 ", f);
	script_quoted(f, ylabel);
	fprintf(f, " at screen %.5f, graph 0.5 center rotate", 10 / area.width);
	script_color(f, " textcolor", PLOT_SOFT);
	putc('\n', f);
	script_color(f, "set tics scale 0 textcolor", PLOT_SOFT);
	fprintf(f,
		"\nset lmargin at screen %.5f\nset rmargin at screen %.5f\nset tmargin at screen "
		"%.5f\nset bmargin at screen %.5f\n",
		area.left / area.width, 1 - area.right / area.width, 1 - area.top / area.height,
		area.bottom / area.height);
}

void script_draw(FILE *f, const char *file, const char *title, const char *panel,
		 struct script_area area)
{
	static const char *const terminals[][2] = {{"pngcairo", "png"}, {"svg", "svg"}};
	const char *const titles[] = {title, panel};
	for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
		fprintf(f,
			"set terminal %s size %.0f,%.0f font 'sans,%u' noenhanced background "
			"'#%06x'\nset label 999 ",
			terminals[i][0], area.width, area.height, i ? 13 : 10,
			plot_colors[PLOT_PAPER].light);
		script_quoted(f, titles[i] ? titles[i] : "");
		fprintf(f, " at screen %.5f, screen %.5f left", area.left / area.width,
			1 - 14 / area.height);
		script_color(f, " textcolor", PLOT_INK);
		fputs("\nset output ", f);
		char name[512];
		snprintf(name, sizeof name, "%s.%s", file, terminals[i][1]);
		script_quoted(f, name);
		fputs("\n@picture\n", f);
	}
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
