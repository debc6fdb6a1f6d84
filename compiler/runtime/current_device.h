// The number of the current device, as an index of the tables that are kept a device.
#ifndef HIRC_CURRENT_DEVICE_H
#define HIRC_CURRENT_DEVICE_H

#include "check.h"

enum { MAX_DEVICES = 64 };

static inline int current_device(const char *location) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", location);
  if (__builtin_expect(device < 0 || device >= MAX_DEVICES, 0))
    hirc_check_failed(CUDA_ERROR_INVALID_DEVICE, "cudaGetDevice", location,
                      "state is kept for the first 64 devices only");
  return device;
}

#endif
