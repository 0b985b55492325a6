/* SPDX-License-Identifier: MIT */
/*
 * startup_spawn.c - starts the executed processes of cistern-startup and takes their reports. See
 * startup.h.
 *
 * A traced process stops at the begin and at the end of each system call of each of its threads.
 * What stops are counted, from the end of exec on, and halved; a call that has not come back counts
 * whole. The process ends by a trap of its own when its strings are interned.
 */
#ifdef __linux__
#include <sys/ptrace.h>
#endif
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "harness.h"
#include "startup.h"

extern char **environ;

static const char self[] = "/proc/self/exe";

static const char *name_of(const struct startup_subject *s)
{
	return s->engine ? s->engine->name : STARTUP_NOBODY;
}

/* A pipe that no child inherits unless told to. */
static void make_pipe(int ends[2])
{
	int low[2];
	if (pipe(low) != 0)
		cli_fail("cannot make a pipe: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		ends[i] = harness_descriptor(low[i]);
		if (ends[i] < 0)
			cli_fail("cannot make a pipe: %s", strerror(errno));
		close(low[i]);
	}
}

static pid_t spawn(const struct startup_subject *s, int report)
{
	char *argv[] = {(char *)(uintptr_t)cli_program, (char *)(uintptr_t) "--child",
			(char *)(uintptr_t)name_of(s), NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, s->order, STARTUP_ORDER_FD);
	posix_spawn_file_actions_adddup2(&actions, report, STARTUP_REPORT_FD);
	int error = posix_spawn(&pid, self, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		cli_fail("cannot start a process: %s", strerror(error));
	return pid;
}

bool startup_executed(const struct startup_subject *s, struct startup_figures *figures)
{
	struct startup_report report;
	int ends[2], status = 0;
	make_pipe(ends);
	uint64_t began = harness_now();
	pid_t pid = spawn(s, ends[1]);
	close(ends[1]);
	/* It is written at once, and smaller than what a pipe takes at once. */
	ssize_t got;
	while ((got = read(ends[0], &report, sizeof report)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (got != (ssize_t)sizeof report) {
		if (WIFSIGNALED(status))
			cli_warn("%s: a process was ended by signal %d (%s)", name_of(s),
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
		return false;
	}
	startup_know(figures, STARTUP_PROCESS_WALL, (double)(report.ended - began) / 1e3);
	startup_know(figures, STARTUP_PROCESS_CPU, (double)report.cpu / 1e6);
	startup_know(figures, STARTUP_PROCESS_RSS, (double)report.rss / 1024);
	if (report.counted) {
		startup_know(figures, STARTUP_PROCESS_ALLOCATIONS, (double)report.calls);
		startup_know(figures, STARTUP_PROCESS_ALLOCATED, (double)report.bytes / 1024);
	}
	return true;
}

#ifdef __linux__

enum { REFUSED = 77 };

/* The process: waits for its tracer before it executes. */
static _Noreturn void become_traced(const struct startup_subject *s)
{
	char *argv[] = {(char *)(uintptr_t)cli_program, (char *)(uintptr_t) "--child",
			(char *)(uintptr_t)name_of(s), (char *)(uintptr_t)STARTUP_TRAP, NULL};
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || raise(SIGSTOP) != 0 ||
	    dup2(s->order, STARTUP_ORDER_FD) < 0)
		_exit(REFUSED);
	execv(self, argv);
	_exit(REFUSED);
}

/* Follows the process to its trap and counts stops. False where it ended in another way. */
static bool follow(pid_t pid, uint64_t *stops)
{
	bool executed = false;
	*stops = 0;
	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0)
		return false;
	for (;;) {
		int status;
		pid_t thread = waitpid(-1, &status, __WALL);
		if (thread < 0 && errno == EINTR)
			continue;
		if (thread < 0 || (thread == pid && !WIFSTOPPED(status)))
			return false;
		if (!WIFSTOPPED(status))
			continue;
		int signal = WSTOPSIG(status), event = status >> 16, deliver = 0;
		if (signal == (SIGTRAP | 0x80))
			*stops += executed;
		else if (event != 0)
			executed = executed || event == PTRACE_EVENT_EXEC;
		else if (executed && (signal == SIGILL || signal == SIGTRAP))
			return true;
		else if (signal != SIGSTOP) /* a new thread begins with that one */
			deliver = signal;
		ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)deliver);
	}
}

bool startup_traced(const struct startup_subject *s, struct startup_figures *figures)
{
	int status;
	uint64_t stops = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		cli_fail("cannot start a process: %s", strerror(errno));
	if (pid == 0)
		become_traced(s);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSTOPPED(status))
		return true; /* not permitted */
	const long options =
	    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	bool traced = ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(intptr_t)options) == 0;
	bool good = !traced || follow(pid, &stops);
	kill(pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)
		; /* its threads, too: there are no other children */
	if (traced && good)
		startup_know(figures, STARTUP_PROCESS_SYSCALLS, (double)(stops / 2));
	if (!good)
		cli_warn("%s: a traced process ended too early", name_of(s));
	return good;
}

#else

bool startup_traced(const struct startup_subject *s, struct startup_figures *figures)
{
	(void)s;
	(void)figures;
	return true;
}

#endif
