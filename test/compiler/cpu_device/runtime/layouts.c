// The runtime's structs and numbers are CUDA's: compiled, not run.

#include <cuda_runtime_api.h>

#include "cuda_abi.h"
#include "device.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define SAME_PLACE(ours, our_field, theirs, their_field)                                           \
  _Static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field), #their_field)
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

SAME_SIZE(struct cuda_device_properties, struct cudaDeviceProp);
#define PROPERTY(ours, theirs)                                                                     \
  SAME_PLACE(struct cuda_device_properties, ours, struct cudaDeviceProp, theirs)
PROPERTY(uuid, uuid);
PROPERTY(luid_node_mask, luidDeviceNodeMask);
PROPERTY(global_bytes, totalGlobalMem);
PROPERTY(warp_size, warpSize);
PROPERTY(max_block, maxThreadsDim);
PROPERTY(major, major);
PROPERTY(multiprocessors, multiProcessorCount);
PROPERTY(can_map_host_memory, canMapHostMemory);
PROPERTY(textures_and_surfaces, maxTexture1D);
PROPERTY(surface_alignment, surfaceAlignment);
PROPERTY(async_engines, asyncEngineCount);
PROPERTY(l2_bytes, l2CacheSize);
PROPERTY(shared_bytes_per_multiprocessor, sharedMemPerMultiprocessor);
PROPERTY(managed_memory, managedMemory);
PROPERTY(concurrent_managed_access, concurrentManagedAccess);
PROPERTY(cooperative_launch, cooperativeLaunch);
PROPERTY(shared_bytes_per_block_opt_in, sharedMemPerBlockOptin);
PROPERTY(max_blocks_per_multiprocessor, maxBlocksPerMultiProcessor);
PROPERTY(reserved_shared_bytes_per_block, reservedSharedMemPerBlock);
PROPERTY(memory_pools, memoryPoolsSupported);
PROPERTY(cluster_launch, clusterLaunch);
PROPERTY(host_numa_id, hostNumaId);
PROPERTY(host_numa_multinode_ipc, hostNumaMultinodeIpcSupported);

SAME_SIZE(struct cuda_function_attributes, struct cudaFuncAttributes);
#define ATTRIBUTE(ours, theirs)                                                                    \
  SAME_PLACE(struct cuda_function_attributes, ours, struct cudaFuncAttributes, theirs)
ATTRIBUTE(local_bytes, localSizeBytes);
ATTRIBUTE(max_threads_per_block, maxThreadsPerBlock);
ATTRIBUTE(max_dynamic_shared_bytes, maxDynamicSharedSizeBytes);
ATTRIBUTE(required_cluster, requiredClusterWidth);
ATTRIBUTE(non_portable_cluster_allowed, nonPortableClusterSizeAllowed);

SAME_SIZE(struct cuda_pointer_attributes, struct cudaPointerAttributes);
SAME_PLACE(struct cuda_pointer_attributes, host_pointer, struct cudaPointerAttributes, hostPointer);
SAME_SIZE(struct cuda_memcpy_3d, struct cudaMemcpy3DParms);
SAME_PLACE(struct cuda_memcpy_3d, dst, struct cudaMemcpy3DParms, dstPtr);
SAME_PLACE(struct cuda_memcpy_3d, kind, struct cudaMemcpy3DParms, kind);
SAME_SIZE(struct cuda_launch_configuration, cudaLaunchConfig_t);
SAME_PLACE(struct cuda_launch_configuration, attributes, cudaLaunchConfig_t, attrs);
SAME_SIZE(struct cuda_launch_attribute, cudaLaunchAttribute);
SAME_PLACE(struct cuda_launch_attribute, value, cudaLaunchAttribute, val);
SAME_SIZE(union cuda_launch_attribute_value, cudaLaunchAttributeValue);
SAME_SIZE(struct cuda_memory_location, struct cudaMemLocation);
SAME_SIZE(struct cuda_pitched_pointer, struct cudaPitchedPtr);

SAME(CUDA_ERROR_INVALID_PITCH_VALUE, cudaErrorInvalidPitchValue);
SAME(CUDA_ERROR_INVALID_SYMBOL, cudaErrorInvalidSymbol);
SAME(CUDA_ERROR_INVALID_MEMCPY_DIRECTION, cudaErrorInvalidMemcpyDirection);
SAME(CUDA_ERROR_INVALID_DEVICE_FUNCTION, cudaErrorInvalidDeviceFunction);
SAME(CUDA_ERROR_INVALID_RESOURCE_HANDLE, cudaErrorInvalidResourceHandle);
SAME(CUDA_ERROR_ILLEGAL_STATE, cudaErrorIllegalState);
SAME(CUDA_ERROR_NOT_READY, cudaErrorNotReady);
SAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cudaErrorHostMemoryAlreadyRegistered);
SAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cudaErrorHostMemoryNotRegistered);
SAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cudaErrorCooperativeLaunchTooLarge);
SAME(CUDA_ERROR_CAPTURE_UNSUPPORTED, cudaErrorStreamCaptureUnsupported);
SAME(CUDA_ERROR_CAPTURE_UNJOINED, cudaErrorStreamCaptureUnjoined);
SAME(CUDA_ERROR_CAPTURE_IMPLICIT, cudaErrorStreamCaptureImplicit);
SAME(CUDA_ERROR_CAPTURED_EVENT, cudaErrorCapturedEvent);
SAME(CUDA_ERROR_INVALID_CLUSTER_SIZE, cudaErrorInvalidClusterSize);
SAME(CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME(CUDA_FUNCTION_NON_PORTABLE_CLUSTER_ALLOWED, cudaFuncAttributeNonPortableClusterSizeAllowed);
SAME(CUDA_LAUNCH_COOPERATIVE, cudaLaunchAttributeCooperative);
SAME(CUDA_LAUNCH_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension);
