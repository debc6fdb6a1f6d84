// Allowing kernels more dynamic shared memory than CUDA grants by default.
//
// By default static and dynamic shared memory together may take 48 KB a block, so a kernel with
// static shared memory needs this below 48 KB of dynamic memory too. The limit is raised to all
// that the device has, not to what this launch asks for: the attribute belongs to the kernel, and
// a launch of the same kernel by another thread may ask for more.

#include "check.h"

#include <stdatomic.h>

enum { REMEMBERED = 64 };

// Kernels whose limit was raised, each in the slot of its hash. A cache: a kernel pushed out of its
// slot is raised once more, so every translation unit may have its own.
static _Atomic uint64_t raised[REMEMBERED];

// Addresses of functions leave the upper bits free for the device.
static uint64_t key_of(const void *stub, int device) {
  return (uint64_t)(uintptr_t)stub ^ (uint64_t)(unsigned)device << 56;
}

__attribute__((noinline)) static void raise_limit(const void *stub, int device, int64_t bytes,
                                                  const char *location) {
  struct cuda_function_attributes attributes = {0};
  int device_limit = 0;
  check(cudaDeviceGetAttribute(&device_limit, CUDA_DEVICE_MAX_SHARED_BYTES_OPT_IN, device),
        "cudaDeviceGetAttribute", location);
  check(cudaFuncGetAttributes(&attributes, stub), "cudaFuncGetAttributes", location);
  int64_t limit = device_limit - (int64_t)attributes.static_shared_bytes;
  if (bytes > limit)
    hirc_check_failed(CUDA_ERROR_INVALID_VALUE, "cudaFuncSetAttribute", location,
                      "the kernel asks for more shared memory than a block of this device has");
  check(cudaFuncSetAttribute(stub, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, (int)limit),
        "cudaFuncSetAttribute", location);
}

// Before a launch of the kernel registered under `stub` with `bytes` of dynamic shared memory.
void hirc_raise_shared_limit(const void *stub, int64_t bytes, const char *location) {
  if (bytes == 0)
    return;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", location);
  uint64_t key = key_of(stub, device);
  _Atomic uint64_t *slot = &raised[(key >> 4 ^ key >> 56) % REMEMBERED];
  if (atomic_load_explicit(slot, memory_order_acquire) == key)
    return;
  raise_limit(stub, device, bytes, location);
  atomic_store_explicit(slot, key, memory_order_release);
}
