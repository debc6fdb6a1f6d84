// How the support library's own sources check a CUDA call.
#ifndef HIRC_CHECK_H
#define HIRC_CHECK_H

#include "cuda_runtime_abi.h"
#include "hirc_runtime.h"
#include "program_end.h"

// Reports that `call` returned `rc` and ends the program. `note` says what to do about it in one
// line, or is NULL.
_Noreturn void hirc_check_failed(int rc, const char *call, const char *location, const char *note);

static inline void check(int rc, const char *call, const char *location) {
  if (__builtin_expect(rc != 0, 0))
    hirc_check_failed(rc, call, location, NULL);
}

void hirc_wait_for_device(const char *location);

// From now on the end of the program waits for the device.
static inline void wait_at_end(void) {
  __atomic_store_n(&hirc_state_wait_at_end_1, &hirc_wait_for_device, __ATOMIC_RELEASE);
}

#endif
