// Threads for device code: how many, with what stack, and that signals do not go to them.
#define _GNU_SOURCE
#include "threads.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
  MAX_WORKERS = 1024,
  STACK_BYTES = 64 << 20, // local memory of device code; pages that are not used take no memory
  GUARD_BYTES = 1 << 20,
};

unsigned hirc_threads_wanted(void) {
  const char *text = getenv("HIRC_CPU_THREADS");
  long size = text != NULL ? strtol(text, NULL, 10) : 0;
  if (size <= 0) {
    if (text != NULL && *text != 0) {
      fprintf(stderr, "warning: HIRC_CPU_THREADS=%s is no number of threads; taking all there are\n",
              text);
    }
    cpu_set_t usable;
    size = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable)
                                                            : sysconf(_SC_NPROCESSORS_ONLN);
  }
  return size < 1 ? 1 : size > MAX_WORKERS ? MAX_WORKERS : (unsigned)size;
}

// Signals that someone sends are for the program's own threads.
static void block_signals(sigset_t *before) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  sigset_t blocked;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    sigdelset(&blocked, faults[i]);
  }
  pthread_sigmask(SIG_SETMASK, &blocked, before);
}

bool hirc_thread_start(void *(*main)(void *), pthread_t *thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  pthread_attr_setguardsize(&attributes, GUARD_BYTES);
  sigset_t before;
  block_signals(&before);
  bool started = pthread_create(thread, &attributes, main, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}
