// Loading NCCL.
//
// A copy that the process has already is taken before another one is loaded: torch, for one, brings
// its own.

#include "nccl_library.h"
#include "amd_device.h"
#include "calls.h"
#include "failure.h"
#include "hirc_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// RCCL has the same interface for AMD's GPUs.
static const char *const nvidia_names[] = {"libnccl.so.2", "libnccl.so"};
static const char *const amd_names[] = {"librccl.so.1", "librccl.so"};

static struct nccl functions;
static _Atomic(const struct nccl *) loaded;
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static const struct {
  const char *name;
  size_t place;
} symbols[] = {
#define SYMBOL(name) {"nccl" #name, offsetof(struct nccl, name)}
    SYMBOL(GetUniqueId),   SYMBOL(CommInitRankConfig), SYMBOL(CommAbort),
    SYMBOL(CommGetAsyncError), SYMBOL(GetErrorString), SYMBOL(GetLastError),
    SYMBOL(AllReduce),     SYMBOL(Reduce),             SYMBOL(ReduceScatter),
    SYMBOL(AllGather),     SYMBOL(Broadcast),          SYMBOL(Send),
    SYMBOL(Recv),          SYMBOL(GroupStart),         SYMBOL(GroupEnd),
#undef SYMBOL
};

enum { NAMES = 2, SYMBOLS = sizeof symbols / sizeof *symbols };

__attribute__((cold, noinline)) static _Noreturn void refuse(const char *what, const char *why,
                                                             const char *location) {
  hirc_error_begin(location);
  bool is_amd = on_amd_device();
  hirc_error_add("this program communicates by %s, and %s: %s\nnote: install it, by %s, and set "
                 "HIRC_NCCL to the path of its %s where the loader does not find it",
                 is_amd ? "RCCL" : "NCCL", what, why ? why : "it is not there",
                 is_amd ? "your system's packages or with ROCm"
                        : "'pip install nvidia-nccl-cu13' or your system's packages",
                 is_amd ? amd_names[0] : nvidia_names[0]);
  hirc_fail(hirc_end_program);
}

static void *open_library(const char *location) {
  const char *path = getenv("HIRC_NCCL");
  if (path && path[0]) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      refuse("what HIRC_NCCL names cannot be loaded", dlerror(), location);
    return library;
  }
  const char *const *names = on_amd_device() ? amd_names : nvidia_names;
  for (int i = 0; i < 2 * NAMES; ++i) {
    int present = i < NAMES ? RTLD_NOLOAD : 0;
    void *library = dlopen(names[i % NAMES], RTLD_NOW | RTLD_LOCAL | present);
    if (library)
      return library;
  }
  refuse("it cannot be loaded", dlerror(), location);
}

static void unlock(void *mutex, void *stream) {
  (void)stream;
  pthread_mutex_unlock(mutex);
}

static const struct nccl *load(const char *location) {
  void *library = open_library(location);
  for (int i = 0; i < SYMBOLS; ++i) {
    void *function = dlsym(library, symbols[i].name);
    if (!function)
      refuse("the one found is older than 2.14", dlerror(), location);
    memcpy((char *)&functions + symbols[i].place, &function, sizeof function);
  }
  return &functions;
}

const struct nccl *hirc_nccl(const char *location) {
  const struct nccl *found = atomic_load_explicit(&loaded, memory_order_acquire);
  if (__builtin_expect(found != NULL, 1))
    return found;
  pthread_mutex_lock(&loading);
  hirc_own(&loading, unlock, HIRC_OBJECT, location);
  found = atomic_load_explicit(&loaded, memory_order_acquire);
  if (!found)
    found = on_cpu_device() ? hirc_cpu_device_nccl() : load(location);
  atomic_store_explicit(&loaded, found, memory_order_release);
  hirc_disown(&loading, HIRC_OBJECT);
  pthread_mutex_unlock(&loading);
  return found;
}
