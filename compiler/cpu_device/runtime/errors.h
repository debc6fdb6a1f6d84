// The errors that CUDA calls return: see errors.c.
#ifndef HIRC_ERRORS_H
#define HIRC_ERRORS_H

#include "cuda_abi.h"

#include <stdatomic.h>
#include <stdbool.h>

// The error of a kernel that failed while it ran; every call returns it until the device is reset.
extern _Atomic int hirc_device_error;

// The calling thread is in a function that a stream called.
extern _Thread_local bool hirc_in_host_function;

static inline int hirc_device_status(void) {
  if (__builtin_expect(hirc_in_host_function, 0))
    return CUDA_ERROR_NOT_PERMITTED;
  return atomic_load_explicit(&hirc_device_error, memory_order_acquire);
}

// Returns the error, and remembers it for cudaGetLastError unless it is 0 or
// cudaErrorNotReady.
int hirc_report(int error);

// Makes the error of an executed command the device's, unless it has one already.
void hirc_fail_device(int error);

const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);

#endif
