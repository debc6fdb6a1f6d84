// Loading HIP's runtime, libamdhip64, which belongs to ROCm and to the driver of the machine that a
// program runs on. So no build needs it, and a program without it runs as far as its first use of a
// GPU.
//
// A copy that the process has already is taken before another one is loaded: torch, for one, brings
// its own.

#include "hip.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
    "libamdhip64.so.7",          "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so",
};
enum { NAMES = sizeof names / sizeof *names };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library;
static char fault[256];

static void *loaded(const char *path) {
  void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!found && !fault[0])
    snprintf(fault, sizeof fault, "%s", dlerror());
  return found;
}

static void load(void) {
  const char *path = getenv("HIRC_HIP");
  if (path && path[0]) {
    library = loaded(path);
    return;
  }
  for (int i = 0; i < NAMES && !library; ++i)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  for (int i = 0; i < NAMES && !library; ++i)
    library = loaded(names[i]);
}

const char *hirc_hip_fault(void) {
  pthread_once(&once, load);
  return library ? "" : fault;
}

void *hirc_hip_function(_Atomic(void *) *place, const char *name) {
  void *known = atomic_load_explicit(place, memory_order_acquire);
  if (__builtin_expect(known != NULL, 1))
    return known;
  pthread_once(&once, load);
  void *found = library ? dlsym(library, name) : NULL;
  atomic_store_explicit(place, found, memory_order_release);
  return found;
}

int hirc_hip_missing(void) {
  return *hirc_hip_fault() ? HIP_ERROR_INSUFFICIENT_DRIVER : HIP_ERROR_NOT_SUPPORTED;
}

// HIP's version is its major number times 10,000,000, its minor times 100,000, and a patch.
int hirc_hip_major(void) {
  static _Atomic int known;
  int major = atomic_load_explicit(&known, memory_order_relaxed);
  if (major != 0)
    return major;
  FOUND("hipRuntimeGetVersion", int *);
  int version = 0;
  if (!function || function(&version) != 0)
    return 0;
  major = version / 10000000;
  atomic_store_explicit(&known, major, memory_order_relaxed);
  return major;
}
