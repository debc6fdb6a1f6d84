// The address under which the device reaches memory of the host that is registered with it.
//
// Names and ABI are those of MLIR's own runtime library for ROCm, which its GPU programs declare.

#include "check.h"

struct memref_1d {
  void *allocated;
  void *aligned;
  int64_t offset, size, stride;
};

static struct memref_1d on_device(void *aligned, int64_t offset, int64_t size, int64_t stride) {
  void *device = NULL;
  check(cudaHostGetDevicePointer(&device, aligned, 0), "cudaHostGetDevicePointer", NULL);
  return (struct memref_1d){device, device, offset, size, stride};
}

struct memref_1d mgpuMemGetDeviceMemRef1dFloat(float *allocated, float *aligned, int64_t offset,
                                               int64_t size, int64_t stride);
struct memref_1d mgpuMemGetDeviceMemRef1dFloat(float *allocated, float *aligned, int64_t offset,
                                               int64_t size, int64_t stride) {
  (void)allocated;
  return on_device(aligned, offset, size, stride);
}

struct memref_1d mgpuMemGetDeviceMemRef1dInt32(int32_t *allocated, int32_t *aligned, int64_t offset,
                                               int64_t size, int64_t stride);
struct memref_1d mgpuMemGetDeviceMemRef1dInt32(int32_t *allocated, int32_t *aligned, int64_t offset,
                                               int64_t size, int64_t stride) {
  (void)allocated;
  return on_device(aligned, offset, size, stride);
}
