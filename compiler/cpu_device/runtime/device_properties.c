// What the device says about itself: that of compute capability 9.0 where programs are compiled by
// it, and of a card with memory of its own where they decide how to move data, so that a program
// takes the way here that it takes on such a card; the machine's own elsewhere. There are
// no textures, surfaces, peers or other processes.

#include "device.h"
#include "allocation_limit.h"
#include "errors.h"
#include "execution.h"
#include "launch.h"

#include <string.h>

#define NAME "hirc CPU device"

enum { L2_BYTES = 50 << 20, CONSTANT_BYTES = 64 << 10, ALIGNMENT = 512 };

int cudaGetDeviceProperties(struct cuda_device_properties *properties, int device) {
  if (!properties)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (device != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  *properties = (struct cuda_device_properties){
      .name = NAME,
      .uuid = NAME,
      .global_bytes = hirc_memory_limit(),
      .shared_bytes_per_block = HIRC_SHARED_BYTES,
      .registers_per_block = HIRC_REGISTERS,
      .warp_size = HIRC_WARP_SIZE,
      .max_pitch = CUDA_MAX_PITCH,
      .max_threads_per_block = HIRC_MAX_THREADS,
      .max_block = {HIRC_MAX_THREADS, HIRC_MAX_THREADS, HIRC_MAX_BLOCK_Z},
      .max_grid = {INT32_MAX, HIRC_MAX_GRID_YZ, HIRC_MAX_GRID_YZ},
      .constant_bytes = CONSTANT_BYTES,
      .major = 9,
      .texture_alignment = ALIGNMENT,
      .texture_pitch_alignment = 32,
      .multiprocessors = (int)hirc_pool_size(),
      .can_map_host_memory = 1,
      .surface_alignment = ALIGNMENT,
      .concurrent_kernels = 1,
      .async_engines = 1,
      .unified_addressing = 1,
      .memory_bus_width = 64,
      .l2_bytes = L2_BYTES,
      .max_threads_per_multiprocessor = HIRC_THREADS_MULTIPROCESSOR,
      .stream_priorities = 1,
      .global_l1_cache = 1,
      .local_l1_cache = 1,
      .shared_bytes_per_multiprocessor = HIRC_SHARED_BYTES_MULTIPROCESSOR,
      .registers_per_multiprocessor = HIRC_REGISTERS,
      .managed_memory = 1,
      .concurrent_managed_access = 1,
      .can_use_host_pointer_for_registered = 1,
      .cooperative_launch = 1,
      .shared_bytes_per_block_opt_in = HIRC_SHARED_BYTES_OPT_IN,
      .max_blocks_per_multiprocessor = HIRC_BLOCKS_MULTIPROCESSOR,
      .reserved_shared_bytes_per_block = HIRC_SHARED_BYTES_RESERVED,
      .host_register = 1,
      .host_register_read_only = 1,
      .memory_pools = 1,
      .cluster_launch = 1,
      .host_numa_id = -1,
  };
  return 0;
}

// The attribute's value; attributes without a line here are 0.
static int attribute_value(int attribute) {
  switch (attribute) {
  case 1:   // cudaDevAttrMaxThreadsPerBlock
  case 2:   // cudaDevAttrMaxBlockDimX
  case 3:   // cudaDevAttrMaxBlockDimY
    return HIRC_MAX_THREADS;
  case 4: // cudaDevAttrMaxBlockDimZ
    return HIRC_MAX_BLOCK_Z;
  case 5: // cudaDevAttrMaxGridDimX
    return INT32_MAX;
  case 6: // cudaDevAttrMaxGridDimY
  case 7: // cudaDevAttrMaxGridDimZ
    return HIRC_MAX_GRID_YZ;
  case 8: // cudaDevAttrMaxSharedMemoryPerBlock
    return HIRC_SHARED_BYTES;
  case 9: // cudaDevAttrTotalConstantMemory
    return CONSTANT_BYTES;
  case 10: // cudaDevAttrWarpSize
    return HIRC_WARP_SIZE;
  case 11: // cudaDevAttrMaxPitch
    return (int)CUDA_MAX_PITCH;
  case 12: // cudaDevAttrMaxRegistersPerBlock
  case 82: // cudaDevAttrMaxRegistersPerMultiprocessor
    return HIRC_REGISTERS;
  case 13: // cudaDevAttrClockRate
  case 36: // cudaDevAttrMemoryClockRate
    return 1000000; // kHz
  case 14: // cudaDevAttrTextureAlignment
  case 30: // cudaDevAttrSurfaceAlignment
    return ALIGNMENT;
  case 51: // cudaDevAttrTexturePitchAlignment
    return 32;
  case 16: // cudaDevAttrMultiProcessorCount
    return (int)hirc_pool_size();
  case 37: // cudaDevAttrGlobalMemoryBusWidth
    return 64;
  case 38: // cudaDevAttrL2CacheSize
    return L2_BYTES;
  case 39: // cudaDevAttrMaxThreadsPerMultiProcessor
    return HIRC_THREADS_MULTIPROCESSOR;
  case 75: // cudaDevAttrComputeCapabilityMajor
    return 9;
  case 76: // cudaDevAttrComputeCapabilityMinor
    return 0;
  case 81: // cudaDevAttrMaxSharedMemoryPerMultiprocessor
    return HIRC_SHARED_BYTES_MULTIPROCESSOR;
  case 87: // cudaDevAttrSingleToDoublePrecisionPerfRatio
    return 2;
  case 97: // cudaDevAttrMaxSharedMemoryPerBlockOptin
    return HIRC_SHARED_BYTES_OPT_IN;
  case 106: // cudaDevAttrMaxBlocksPerMultiprocessor
    return HIRC_BLOCKS_MULTIPROCESSOR;
  case 111: // cudaDevAttrReservedSharedMemoryPerBlock
    return HIRC_SHARED_BYTES_RESERVED;
  case 126: // cudaDevAttrMemSyncDomainCount
    return 1;
  case 134: // cudaDevAttrHostNumaId
    return -1;
  case 15:  // cudaDevAttrGpuOverlap
  case 19:  // cudaDevAttrCanMapHostMemory
  case 31:  // cudaDevAttrConcurrentKernels
  case 40:  // cudaDevAttrAsyncEngineCount
  case 41:  // cudaDevAttrUnifiedAddressing
  case 78:  // cudaDevAttrStreamPrioritiesSupported
  case 79:  // cudaDevAttrGlobalL1CacheSupported
  case 80:  // cudaDevAttrLocalL1CacheSupported
  case 83:  // cudaDevAttrManagedMemory
  case 89:  // cudaDevAttrConcurrentManagedAccess
  case 91:  // cudaDevAttrCanUseHostPointerForRegisteredMem
  case 95:  // cudaDevAttrCooperativeLaunch
  case 99:  // cudaDevAttrHostRegisterSupported
  case 113: // cudaDevAttrHostRegisterReadOnlySupported
  case 115: // cudaDevAttrMemoryPoolsSupported
  case 120: // cudaDevAttrClusterLaunch
    return 1;
  default:
    return 0;
  }
}

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  enum { END = 148 }; // of the attributes of CUDA 13.0
  if (!value || attribute < 1 || attribute >= END)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (device != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  *value = attribute_value(attribute);
  return 0;
}
