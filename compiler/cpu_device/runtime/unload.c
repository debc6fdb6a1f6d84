// The end of a library that this runtime is part of. Where it is unloaded, its threads end first, for
// their code goes; signal handlers, and memory that is not in use, go with it. Where the process
// exits, everything stays as it is: kernels that run and destructors of the program may need it.
#define _GNU_SOURCE
#include "unload.h"
#include "allocation.h"
#include "checks/checks.h"
#include "engine.h"
#include "ordered_memory.h"
#include "pool.h"
#include "registration.h"
#include "stream.h"
#include "trace.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

static bool is_unloaded, exits;
// Called in this order, before anything else ends; NULL: nothing.
enum { FIRST = 4 };
static _Atomic(void (*)(void)) first[FIRST];

// Called by compiler/runtime/weights.c and state.c, which keep memory that nobody else frees; twice
// with the same function is once.
void hirc_cpu_device_at_unload(void (*function)(void));
void hirc_cpu_device_at_unload(void (*function)(void)) {
  for (int i = 0; i < FIRST; ++i) {
    void (*present)(void) = NULL;
    if (atomic_compare_exchange_strong(&first[i], &present, function) || present == function) {
      return;
    }
  }
}

// Called last of all, in this order: they release what no linker put beside this.
struct release {
  void (*function)(void *, void *);
  void *arguments[2];
};
enum { LAST = 8 };
static struct release last[LAST];
static int last_count;

void hirc_cpu_device_at_end(void (*function)(void *, void *), void *one, void *other);
void hirc_cpu_device_at_end(void (*function)(void *, void *), void *one, void *other) {
  if (last_count < LAST) {
    last[last_count++] = (struct release){function, {one, other}};
  }
}

bool hirc_is_unloaded(void) { return is_unloaded; }

// At exit, before any destructor: from now on the library stays, whoever closes it. Where it is
// unloaded this is called too, but between the two destructors below.
static void begin_exit(void) {
  Dl_info found;
  exits = !is_unloaded;
  if (exits && dladdr((void *)begin_exit, &found)) {
    dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
}

__attribute__((constructor(101))) static void watch_exit(void) { atexit(begin_exit); }

__attribute__((destructor)) static void begin_end(void) { is_unloaded = !exits; }

// After the program's own destructors, which may use the device.
__attribute__((destructor(101))) static void end(void) {
  if (!is_unloaded) {
    return;
  }
  for (int i = 0; i < FIRST; ++i) {
    void (*function)(void) = first[i];
    if (function != NULL) {
      function();
    }
  }
  hirc_pool_end();
  hirc_trace_end();
  hirc_faults_remove();
  hirc_settle_frees();
  hirc_allocation_end();
  hirc_checks_end();
  hirc_streams_release();
  hirc_registration_release();
  hirc_arenas_release();
  for (int i = 0; i < last_count; ++i) {
    last[i].function(last[i].arguments[0], last[i].arguments[1]);
  }
}
