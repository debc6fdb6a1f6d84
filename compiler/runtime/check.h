// How the support library's own sources check a CUDA call.
#ifndef HIRC_CHECK_H
#define HIRC_CHECK_H

#include "cuda_runtime_abi.h"
#include "hirc_runtime.h"
#include "program_end.h"

// Fails because `call` returned `rc`. `note` says what to do about it in one line, or is NULL.
_Noreturn void hirc_check_failed(int rc, const char *call, const char *location, const char *note);

static inline void check(int rc, const char *call, const char *location) {
  if (__builtin_expect(rc != 0, 0))
    hirc_check_failed(rc, call, location, NULL);
}

// Prints the last message, and what the device still has to say, and ends the process.
void hirc_end_after_device(void);

void hirc_wait_for_device(const char *location);

// The device's first use: from now on the end of the program waits for it.
void hirc_device_used(void);

static inline void wait_at_end(void) {
  if (__builtin_expect(!__atomic_load_n(&hirc_state_wait_at_end_1, __ATOMIC_RELAXED), 0))
    hirc_device_used();
}

#endif
