// The errors that CUDA calls return: see errors.c.
#ifndef HIRC_ERRORS_H
#define HIRC_ERRORS_H

#include "cuda_abi.h"

#include <stdatomic.h>

// The error of a kernel that failed while it ran; every call returns it until the device is reset.
extern _Atomic int hirc_device_error;

static inline int hirc_device_status(void) {
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
