// Libraries that a program loads when it first needs them: NCCL, cuBLASLt.
#ifndef HIRC_LOADED_LIBRARY_H
#define HIRC_LOADED_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>

// A function, and where in the library's structure of functions it is written to.
struct symbol {
  const char *name;
  size_t place;
};

struct loaded_library {
  const char *variable; // of the environment, which may name another file
  const char *not_loaded, *lacking; // what is wrong with what that names, and with an older one
  void *functions;
  const struct symbol *symbols;
  int symbol_count;
  void (*refuse)(const char *what, const char *why, const char *location); // does not return
  _Atomic int state;
};

enum { LIBRARY_NOT_LOADED, LIBRARY_LOADING, LIBRARY_LOADED };

// What the variable names; NULL where that is nothing.
const char *hirc_library_given(const struct loaded_library *library);

// The first of these names that the loader finds: a copy that the process has already is taken
// before another one is loaded; torch, for one, brings its own. NULL where there is none, and why
// the first is not there.
void *hirc_find_library(const char *const *names, int count, char *why, size_t bytes);

// Loads it and its functions. One thread does, others wait; one that fails lets another one try.
void hirc_load_library(struct loaded_library *library, const char *const *names, int count,
                       const char *location);

// Whether it is loaded, and all that it wrote is seen.
static inline int hirc_library_is_loaded(const struct loaded_library *library) {
  return atomic_load_explicit(&library->state, memory_order_acquire) == LIBRARY_LOADED;
}

#endif
