// Errors of calls and of the device.
//
// A call that fails returns its error, and cudaGetLastError in the same thread returns that error
// once; cudaErrorNotReady is an answer and not remembered. A kernel that fails while it runs (codes
// 700 to 799) fails the device: what was enqueued is dropped, every later call in every thread that
// needs the device returns the kernel's error, and only cudaDeviceReset makes it usable again.
// Which calls these are, and which errors of their own come first, is as observed with CUDA 13.0 on
// an H200.
//
// A function that a stream calls may not call CUDA: most calls are not permitted in it, as none
// could be that waits.

#include "errors.h"

_Atomic int hirc_device_error;

static _Thread_local int last_error;
_Thread_local bool hirc_in_host_function;

int hirc_report(int error) {
  if (__builtin_expect(error != 0, 0) && error != CUDA_ERROR_NOT_READY)
    last_error = error;
  return error;
}

void hirc_fail_device(int error) {
  int none = 0;
  atomic_compare_exchange_strong(&hirc_device_error, &none, error);
}

int cudaPeekAtLastError(void) { return last_error; }

int cudaGetLastError(void) {
  int error = last_error;
  last_error = 0;
  return error;
}
