// AMD's HIP runtime as far as it is called here: its functions by name, and what its structs hold.
//
// Source of every prototype and number: the HIP Runtime API reference, of HIP 5.2 to 7. Errors,
// kinds of copies, flags of streams, events and captures have CUDA's numbers; what differs is here.
#ifndef HIRC_HIP_H
#define HIRC_HIP_H

#include "../../runtime/amd_device.h"
#include "../../runtime/cuda_runtime_abi.h"

#include <stdatomic.h>

enum {
  HIP_ERROR_INVALID_VALUE = 1,
  HIP_ERROR_INSUFFICIENT_DRIVER = 35,
  HIP_ERROR_NOT_SUPPORTED = 801,

  // hipDeviceAttribute_t.
  HIP_DEVICE_COMPUTE_CAPABILITY_MAJOR = 23,
  HIP_DEVICE_COMPUTE_CAPABILITY_MINOR = 61,
  HIP_DEVICE_MAX_SHARED_BYTES = 74,

  // hipMemoryType of HIP 5; later ones have CUDA's numbers.
  HIP_5_MEMORY_HOST = 0,
  HIP_5_MEMORY_DEVICE = 1,
};

// hipFuncAttributes.
struct hip_function_attributes {
  int binary_version;
  int cache_mode;
  size_t constant_bytes;
  size_t local_bytes;
  int max_dynamic_shared_bytes;
  int max_threads_per_block;
  int registers;
  int preferred_carveout;
  int ptx_version;
  size_t shared_bytes;
};

// hipPointerAttribute_t, and room for what later versions append.
struct hip_pointer_attributes {
  int type;
  int device;
  void *device_pointer;
  void *host_pointer;
  int is_managed;
  unsigned flags;
  long reserved[8];
};

// hipKernelNodeParams.
struct hip_kernel_node_parameters {
  struct cuda_extent block;
  void **others;
  void *stub;
  struct cuda_extent grid;
  void **arguments;
  unsigned dynamic_shared_bytes;
};

// A function of the library, found at its first call; NULL where it has none, or there is none.
void *hirc_hip_function(_Atomic(void *) *place, const char *name);

// What a call returns that found no function: that there is no library, or that it is too old.
int hirc_hip_missing(void);

// The version of the library's interface, 5 for HIP 5.2; 0 where there is no library.
int hirc_hip_major(void);

// FOUND(name, parameters) is the library's function as `function`, which may be NULL.
#define FOUND(name, ...)                                                                           \
  static _Atomic(void *) place_;                                                                   \
  int (*const function)(__VA_ARGS__) = (int (*)(__VA_ARGS__))hirc_hip_function(&place_, name)

#endif
