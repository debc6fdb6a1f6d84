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
};

enum { LIBRARY_NOT_LOADED, LIBRARY_LOADING, LIBRARY_LOADED };

// Returns the file that the variable names; NULL where it is unset.
const char *hirc_library_given(const struct loaded_library *library);

// Returns the first of these libraries that the loader finds; a copy that the process has loaded
// already, such as torch's, comes first. Returns NULL where there is none, and writes to `why` the
// reason for the first name.
void *hirc_find_library(const char *const *names, int count, char *why, size_t bytes);

// Loads the library and its functions, once. Other threads wait; after a failure another one tries.
void hirc_load_library(struct loaded_library *library, const char *const *names, int count,
                       const char *location);

// Returns whether the library is loaded; its functions are then visible to this thread.
static inline int hirc_library_is_loaded(const struct loaded_library *library) {
  return atomic_load_explicit(&library->state, memory_order_acquire) == LIBRARY_LOADED;
}

#endif
