// Loads a library when it is first needed.

#include "loaded_library.h"
#include "calls.h"
#include "cpu_device.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the file that the variable names; NULL where it is unset.
static const char *given_path(const struct loaded_library *library) {
  const char *path = getenv(library->variable);
  return path && path[0] ? path : NULL;
}

// Returns the first of these libraries that the loader finds. Returns NULL where there is none, and
// writes to `why` the reason for the first name.
static void *find(const char *const *names, int count, char *why, size_t bytes) {
  for (int i = 0; i < 2 * count; ++i) {
    const char *name = names[i % count];
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | (i < count ? RTLD_NOLOAD : 0));
    if (library)
      return library;
    // For the other names the loader reports the same.
    const char *reason = dlerror();
    if (i == count)
      snprintf(why, bytes, "%s", reason ? reason : name);
  }
  return NULL;
}

enum { NOT_LOOKED, ABSENT, PRESENT };

int hirc_has_library(struct loaded_library *library, const char *const *names, int count) {
  int found = atomic_load_explicit(&library->presence, memory_order_relaxed);
  if (__builtin_expect(found == NOT_LOOKED, 0)) {
    char why[512];
    // What is found stays loaded: the call that follows takes it.
    bool is_there = given_path(library) ||
                    (!on_cpu_device() && find(names, count, why, sizeof why));
    found = is_there ? PRESENT : ABSENT;
    atomic_store_explicit(&library->presence, found, memory_order_relaxed);
  }
  return found == PRESENT;
}

static void load(const struct loaded_library *library, const char *const *names, int count,
                 const char *location) {
  char why[512] = "";
  const char *path = given_path(library);
  void *found = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                     : find(names, count, why, sizeof why);
  if (!found && path)
    library->refuse(library->not_loaded, dlerror(), location);
  if (!found)
    library->refuse("it cannot be loaded", why, location);
  for (int i = 0; i < library->symbol_count; ++i) {
    const struct symbol *symbol = &library->symbols[i];
    void *function = dlsym(found, symbol->name);
    if (!function && !symbol->is_optional) {
      const char *reason = dlerror();
      library->refuse(library->lacking, reason ? reason : symbol->name, location);
    }
    memcpy((char *)library->functions + symbol->place, &function, sizeof function);
  }
}

static void give_up(void *state, void *stream) {
  (void)stream;
  atomic_store_explicit((_Atomic int *)state, LIBRARY_NOT_LOADED, memory_order_release);
}

__attribute__((cold, noinline)) void hirc_load_library(struct loaded_library *library,
                                                       const char *const *names, int count,
                                                       const char *location) {
  for (;;) {
    int found = LIBRARY_NOT_LOADED;
    if (atomic_compare_exchange_strong(&library->state, &found, LIBRARY_LOADING)) {
      hirc_own(&library->state, give_up, HIRC_OBJECT, location);
      load(library, names, count, location);
      hirc_disown(&library->state, HIRC_OBJECT);
      atomic_store_explicit(&library->state, LIBRARY_LOADED, memory_order_release);
    }
    if (found == LIBRARY_LOADED)
      return;
    sched_yield();
  }
}
