/* SPDX-License-Identifier: MIT */
/* child.c - see child.h. Called from a test's main thread only. */
#include "child.h"

#include "words.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 240

static void give_up(const char *what)
{
	perror(what);
	abort();
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads once into a growing buffer; false at the end of the stream. */
static bool drain(int fd, char **data, size_t *len)
{
	ssize_t n;

	*data = need(realloc(*data, *len + 4097));
	do
		n = read(fd, *data + *len, 4096);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		*len += (size_t)n;
	(*data)[*len] = '\0';
	return n > 0;
}

static void collect(struct child *result, pid_t pid, int out, int err)
{
	struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
	long long end = now_ms() + SECONDS * 1000LL;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		long long left = end - now_ms();

		if (left <= 0) {
			kill(pid, SIGKILL);
			break;
		}
		if (poll(fds, 2, (int)left) <= 0)
			continue;
		if (fds[0].revents && !drain(out, &result->out, &result->out_len))
			fds[0].fd = -1;
		if (fds[1].revents && !drain(err, &result->err, &result->err_len))
			fds[1].fd = -1;
	}
	close(out);
	close(err);
}

void child_run(struct child *result, int (*fn)(void *arg), void *arg)
{
	int out[2], err[2], status;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	result->out = need(calloc(1, 1));
	result->err = need(calloc(1, 1));
	if (pipe(out) != 0 || pipe(err) != 0)
		give_up("pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(out[0]);
		close(out[1]);
		close(err[0]);
		close(err[1]);
		exit(fn(arg));
	}
	close(out[1]);
	close(err[1]);
	collect(result, pid, out[0], err[0]);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			give_up("waitpid");
	}
	result->exited = WIFEXITED(status);
	result->code = result->exited ? WEXITSTATUS(status) : WTERMSIG(status);
}

void child_free(struct child *result)
{
	free(result->out);
	free(result->err);
	memset(result, 0, sizeof(*result));
}

bool child_ok(const struct child *result)
{
	if (result->exited && result->code == 0)
		return true;
	fprintf(stderr, "child: %s %d\n%s%s", result->exited ? "exit code" : "signal", result->code,
		result->out, result->err);
	return false;
}

void child_deadline(unsigned seconds)
{
	signal(SIGALRM, SIG_DFL);
	alarm(seconds);
}
