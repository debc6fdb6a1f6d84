// Loading cuBLASLt, and what its calls return.
//
// A copy that the process has already is taken before another one is loaded: torch, for one, brings
// its own.

#include "matmul_library.h"
#include "calls.h"
#include "cpu_device.h"
#include "current_device.h"
#include "failure.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct matmul_handles {
  _Atomic(cublaslt_handle) of[MAX_DEVICES];
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct matmul_handles hirc_state_matmul_handles_1;

// The names of the versions that cublaslt_abi.h is of, newest first.
static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};

enum { NOT_LOADED, LOADING, LOADED };

static struct cublaslt functions;
static _Atomic int state;

static const struct {
  const char *name;
  size_t place;
} symbols[] = {
#define SYMBOL(name) {"cublasLt" #name, offsetof(struct cublaslt, name)}
    SYMBOL(GetStatusName),
    SYMBOL(GetVersion),
    SYMBOL(Create),
    SYMBOL(Destroy),
    SYMBOL(MatmulDescCreate),
    SYMBOL(MatmulDescDestroy),
    SYMBOL(MatmulDescSetAttribute),
    SYMBOL(MatrixLayoutCreate),
    SYMBOL(MatrixLayoutDestroy),
    SYMBOL(MatrixLayoutSetAttribute),
    SYMBOL(MatmulPreferenceCreate),
    SYMBOL(MatmulPreferenceDestroy),
    SYMBOL(MatmulPreferenceSetAttribute),
    SYMBOL(MatmulAlgoGetHeuristic),
    SYMBOL(Matmul),
#undef SYMBOL
};

__attribute__((cold, noinline)) static _Noreturn void refuse_library(const char *what,
                                                                     const char *why,
                                                                     const char *location) {
  hirc_error_begin(location);
  hirc_error_add(
      "this program calls cuBLASLt for its matrix products, and %s: %s\n"
      "note: install cuBLAS, with the CUDA toolkit or by 'pip install nvidia-cublas', and set "
      "HIRC_CUBLASLT to the path of its libcublasLt.so.13 where the loader does not find it; "
      "or build the program with --products=own",
      what, why);
  hirc_fail(hirc_end_program);
}

__attribute__((cold, noinline)) _Noreturn void
hirc_cublaslt_failed(const struct cublaslt *library, int status, const char *call,
                     const char *note, const char *location) {
  hirc_error_begin(location);
  hirc_error_add("%s failed: %s (%d), of cuBLASLt %zu", call, library->GetStatusName(status),
                 status, library->GetVersion());
  if (note)
    hirc_error_add("\nnote: %s", note);
  hirc_fail(hirc_end_after_device);
}

static const char *path_given(void) {
  const char *path = getenv("HIRC_CUBLASLT");
  return path && path[0] ? path : NULL;
}

// The library where it is looked for; NULL where it is not, and why.
static void *find_library(char *why, size_t bytes) {
  for (size_t i = 0; i < COUNT(names); ++i) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
      return library;
  }
  for (size_t i = 0; i < COUNT(names); ++i) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library)
      return library;
    // Says of the newest why it could not be loaded; of the others that they are not there either.
    const char *reason = dlerror();
    if (i == 0)
      snprintf(why, bytes, "%s", reason ? reason : names[i]);
  }
  return dlopen("/usr/local/cuda/lib64/libcublasLt.so", RTLD_NOW | RTLD_LOCAL);
}

static void *open_library(const char *location) {
  const char *path = path_given();
  if (path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      refuse_library("what HIRC_CUBLASLT names cannot be loaded", dlerror(), location);
    return library;
  }
  char why[512] = "";
  void *library = find_library(why, sizeof why);
  if (!library)
    refuse_library("it cannot be loaded", why, location);
  return library;
}

static void load(const char *location) {
  void *library = open_library(location);
  for (size_t i = 0; i < COUNT(symbols); ++i) {
    void *function = dlsym(library, symbols[i].name);
    if (!function) {
      const char *why = dlerror();
      refuse_library("the one found lacks a function", why ? why : symbols[i].name, location);
    }
    memcpy((char *)&functions + symbols[i].place, &function, sizeof function);
  }
}

// A thread that failed to load it lets another one try.
static void give_up(void *loading, void *stream) {
  (void)stream;
  atomic_store_explicit((_Atomic int *)loading, NOT_LOADED, memory_order_release);
}

// One thread loads it, others wait.
__attribute__((cold, noinline)) static void load_once(const char *location) {
  for (;;) {
    int found = NOT_LOADED;
    if (atomic_compare_exchange_strong(&state, &found, LOADING)) {
      hirc_own(&state, give_up, HIRC_OBJECT, location);
      load(location);
      hirc_disown(&state, HIRC_OBJECT);
      atomic_store_explicit(&state, LOADED, memory_order_release);
    }
    if (found == LOADED)
      return;
    sched_yield();
  }
}

enum { NOT_LOOKED, ABSENT, PRESENT };

int hirc_has_cublaslt(void) {
  static _Atomic int looked;
  int found = atomic_load_explicit(&looked, memory_order_relaxed);
  if (__builtin_expect(found == NOT_LOOKED, 0)) {
    char why[512];
    // What is found stays loaded: the call that follows takes it.
    bool is_there = path_given() || (!on_cpu_device() && find_library(why, sizeof why));
    found = is_there ? PRESENT : ABSENT;
    atomic_store_explicit(&looked, found, memory_order_relaxed);
  }
  return found == PRESENT;
}

const struct cublaslt *hirc_cublaslt(const char *location) {
  if (__builtin_expect(atomic_load_explicit(&state, memory_order_acquire) != LOADED, 0))
    load_once(location);
  return &functions;
}

__attribute__((cold, noinline)) static cublaslt_handle
create_handle(const struct cublaslt *library, _Atomic(cublaslt_handle) *slot,
              const char *location) {
  cublaslt_handle created = NULL, present = NULL;
  cublaslt_check(library, library->Create(&created), "cublasLtCreate", location);
  if (atomic_compare_exchange_strong(slot, &present, created))
    return created;
  library->Destroy(created);
  return present;
}

cublaslt_handle hirc_cublaslt_handle(const struct cublaslt *library, int device,
                                     const char *location) {
  _Atomic(cublaslt_handle) *slot = &hirc_state_matmul_handles_1.of[device];
  cublaslt_handle handle = atomic_load_explicit(slot, memory_order_acquire);
  return handle ? handle : create_handle(library, slot, location);
}
