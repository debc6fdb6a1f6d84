// What files for AMD's GPUs have: HIP's runtime (hip/runtime/), by which calls of CUDA's are answered.
#ifndef HIRC_AMD_DEVICE_H
#define HIRC_AMD_DEVICE_H

#include "cpu_device.h"
#include "dlpack_abi.h"

// Why there is no HIP runtime on this machine; "" where there is one.
IN_SOME_FILES const char *hirc_hip_fault(void);

// In files for several kinds of devices (device_choice/choose.c): whether this process uses AMD's.
IN_SOME_FILES int hirc_device_is_amd(void);

// Whether device code runs on a GPU of AMD's.
static inline bool on_amd_device(void) {
  return hirc_hip_fault && (!hirc_device_is_amd || hirc_device_is_amd());
}

// DLPack's kind of the GPUs' memory.
static inline int gpu_kind(void) { return on_amd_device() ? DL_ROCM : DL_CUDA; }

static inline bool is_gpu(int kind) { return kind == DL_CUDA || kind == DL_ROCM; }

#endif
