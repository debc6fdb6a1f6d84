// Libraries that a program loads when it first needs them: NCCL, cuBLASLt, cuDNN.
#ifndef HIRC_LOADED_LIBRARY_H
#define HIRC_LOADED_LIBRARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

// A function's name, and its offset in the library's structure of functions, where an optional one
// that the library lacks is NULL.
struct symbol {
  const char *name;
  size_t place;
  bool is_optional;
};

struct loaded_library {
  const char *variable; // an environment variable, which may name another file
  const char *not_loaded, *lacking; // messages for a file that does not load, and one too old
  void *functions;
  const struct symbol *symbols;
  int symbol_count;
  void (*refuse)(const char *what, const char *why, const char *location); // does not return
  _Atomic int state;
  _Atomic int presence; // whether it is there, once that is known
};

enum { LIBRARY_NOT_LOADED, LIBRARY_LOADING, LIBRARY_LOADED };

// Returns whether the library is there, or is said to be by the variable: then loading it says what
// is wrong. On the CPU device it is where it is said to be.
int hirc_has_library(struct loaded_library *library, const char *const *names, int count);

// Loads the library and its functions, once: what the variable names, or the first of these that the
// loader finds, where a copy that the process has loaded already, such as torch's, comes first. Other
// threads wait; after a failure another one tries.
void hirc_load_library(struct loaded_library *library, const char *const *names, int count,
                       const char *location);

// Returns whether the library is loaded; its functions are then visible to this thread.
static inline int hirc_library_is_loaded(const struct loaded_library *library) {
  return atomic_load_explicit(&library->state, memory_order_acquire) == LIBRARY_LOADED;
}

#endif
