/* SPDX-License-Identifier: MIT */
/*
 * plot.c - writes data and a script for gnuplot, and runs it. See plot.h.
 *
 * Paths inside the script are relative, and gnuplot runs in the folder, so that the folder can be
 * moved and its plots.gp run again.
 */
#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

struct plotter {
	char *folder;
	FILE *script;
	size_t maps;
};

static FILE *open_in(const char *folder, const char *name, const char *ending)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s%s", folder, name, ending);
	FILE *f = fopen(path, "w");
	if (!f)
		cli_fail("%s: %s", path, strerror(errno));
	return f;
}

/* Nothing that was written may have failed: a cut-off plot would mislead. */
static void close_written(FILE *f, const char *folder)
{
	bool failed = ferror(f) != 0;
	if (fclose(f) != 0 || failed)
		cli_fail("%s: cannot write the plots: %s", folder, strerror(errno));
}

struct plotter *plot_open(const char *folder)
{
	struct plotter *p = calloc(1, sizeof *p);
	if (!p || !(p->folder = strdup(folder)))
		cli_fail("out of memory");
	cli_folder(folder);
	p->script = open_in(folder, "plots", ".gp");
	fputs("# Made by cistern-sweep. Run gnuplot on it in this folder to draw again.\n"
	      "set style fill solid\nunset key\nset border 0\nset tics scale 0\n",
	      p->script);
	return p;
}

static void names(FILE *f, char axis, const char *const *text, size_t n)
{
	fprintf(f, "set %ctics (", axis);
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s'%s' %zu", i ? ", " : "", text[i], i);
	fputs(")\n", f);
}

void plot_heat_map(struct plotter *p, const struct plot_map *map)
{
	FILE *data = open_in(p->folder, map->file, ".dat");
	for (size_t y = 0; y < map->ny; y++)
		for (size_t x = 0; x < map->nx; x++)
			fprintf(data, "%.4f%c", map->values[y * map->nx + x],
				x + 1 < map->nx ? ' ' : '\n');
	close_written(data, p->folder);

	FILE *f = p->script;
	fprintf(f, "\nset title \"%s\"\nset xlabel '%s'\nset ylabel '%s'\nset cblabel '%s'\n",
		map->title, map->xlabel, map->ylabel, map->unit);
	names(f, 'x', map->xnames, map->nx);
	names(f, 'y', map->ynames, map->ny);
	/* Orange is bad and blue good: told apart by all eyes, and light enough for black numbers.
	 */
	fprintf(f, "set palette defined (0 '%s', 1 '#f7f7f7', 2 '%s')\n",
		map->high_is_good ? "#f4a582" : "#7fb3d5",
		map->high_is_good ? "#7fb3d5" : "#f4a582");
	fprintf(f, "set xrange [-0.5:%zu.5]\nset yrange [-0.5:%zu.5]\n", map->nx - 1, map->ny - 1);
	static const char *const terminals[][2] = {{"pngcairo size 900,620 font 'sans,11'", "png"},
						   {"svg size 900,620 font 'sans,11'", "svg"}};
	for (size_t i = 0; i < 2; i++)
		fprintf(
		    f,
		    "set terminal %s\nset output '%s.%s'\n"
		    "plot '%s.dat' matrix with image, '' matrix using 1:2:(sprintf('%%.3g', $3)) "
		    "with labels font ',10'\n",
		    terminals[i][0], map->file, terminals[i][1], map->file);
	p->maps++;
}

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
