// How the support library's own sources check a CUDA call.
#ifndef HIRC_CHECK_H
#define HIRC_CHECK_H

#include "cuda_runtime_abi.h"
#include "hirc_runtime.h"

// Reports that `call` returned `rc` and ends the program. `note` says what to do about it in one
// line, or is NULL.
_Noreturn void hirc_check_failed(int rc, const char *call, const char *location, const char *note);

static inline void check(int rc, const char *call, const char *location) {
  if (__builtin_expect(rc != 0, 0))
    hirc_check_failed(rc, call, location, NULL);
}

#endif
