// The calls of CUDA's runtime that compiled host code and the support library make, answered by
// HIP's runtime: host code is one and the same for every device.

#include "hip.h"

#include <stdbool.h>
#include <string.h>

#define ANSWERED(cuda, hip, parameters, ...)                                                       \
  int cuda parameters {                                                                            \
    static _Atomic(void *) place;                                                                  \
    int(*const function) parameters = (int(*) parameters)hirc_hip_function(&place, hip);           \
    return function ? function(__VA_ARGS__) : hirc_hip_missing();                                  \
  }

// CUDA's number of the default stream, which callers may give; HIP has none before 6.2.
static cuda_stream stream_of(cuda_stream stream) { return (uintptr_t)stream == 1 ? NULL : stream; }

// --- devices and errors ------------------------------------------------------------------------------

ANSWERED(cudaGetLastError, "hipGetLastError", (void))
ANSWERED(cudaDriverGetVersion, "hipDriverGetVersion", (int *version), version)
ANSWERED(cudaRuntimeGetVersion, "hipRuntimeGetVersion", (int *version), version)
ANSWERED(cudaGetDevice, "hipGetDevice", (int *device), device)
ANSWERED(cudaGetDeviceCount, "hipGetDeviceCount", (int *count), count)
ANSWERED(cudaSetDevice, "hipSetDevice", (int device), device)
ANSWERED(cudaDeviceSynchronize, "hipDeviceSynchronize", (void))

static const char *error_text(_Atomic(void *) *place, const char *name, int error,
                              const char *without) {
  const char *(*function)(int) = (const char *(*)(int))hirc_hip_function(place, name);
  return function ? function(error) : without;
}

const char *cudaGetErrorName(int error) {
  static _Atomic(void *) place;
  const char *without =
      error == HIP_ERROR_INSUFFICIENT_DRIVER ? "hipErrorInsufficientDriver" : "hipErrorUnknown";
  return error_text(&place, "hipGetErrorName", error, without);
}

const char *cudaGetErrorString(int error) {
  static _Atomic(void *) place;
  return error_text(&place, "hipGetErrorString", error, "there is no HIP runtime");
}

int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  static const int attributes[][2] = {
      {CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR, HIP_DEVICE_COMPUTE_CAPABILITY_MAJOR},
      {CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR, HIP_DEVICE_COMPUTE_CAPABILITY_MINOR},
      {CUDA_DEVICE_MAX_SHARED_BYTES_OPT_IN, HIP_DEVICE_MAX_SHARED_BYTES},
  };
  FOUND("hipDeviceGetAttribute", int *, int, int);
  if (!function)
    return hirc_hip_missing();
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; ++i)
    if (attributes[i][0] == attribute)
      return function(value, attributes[i][1], device);
  return HIP_ERROR_INVALID_VALUE;
}

// What finds functions of NVIDIA's driver; AMD's chips have none of them.
int cudaGetDriverEntryPointByVersion(const char *name, void **found, unsigned version,
                                     unsigned long long flags, int *status) {
  (void)name, (void)version, (void)flags;
  *found = NULL;
  if (status)
    *status = 1;
  return HIP_ERROR_NOT_SUPPORTED;
}

// --- streams and events ------------------------------------------------------------------------------

ANSWERED(cudaStreamCreateWithFlags, "hipStreamCreateWithFlags",
         (cuda_stream * stream, unsigned flags), stream, flags)
ANSWERED(cudaStreamCreateWithPriority, "hipStreamCreateWithPriority",
         (cuda_stream * stream, unsigned flags, int priority), stream, flags, priority)
ANSWERED(cudaStreamDestroy, "hipStreamDestroy", (cuda_stream stream), stream)
ANSWERED(cudaStreamSynchronize, "hipStreamSynchronize", (cuda_stream stream), stream_of(stream))
ANSWERED(cudaStreamWaitEvent, "hipStreamWaitEvent",
         (cuda_stream stream, cuda_event event, unsigned flags), stream_of(stream), event, flags)
ANSWERED(cudaStreamIsCapturing, "hipStreamIsCapturing", (cuda_stream stream, int *status),
         stream_of(stream), status)
ANSWERED(cudaStreamBeginCapture, "hipStreamBeginCapture", (cuda_stream stream, int mode),
         stream_of(stream), mode)
ANSWERED(cudaStreamEndCapture, "hipStreamEndCapture", (cuda_stream stream, cuda_graph *graph),
         stream_of(stream), graph)
ANSWERED(cudaEventCreateWithFlags, "hipEventCreateWithFlags", (cuda_event * event, unsigned flags),
         event, flags)
ANSWERED(cudaEventDestroy, "hipEventDestroy", (cuda_event event), event)
ANSWERED(cudaEventRecord, "hipEventRecord", (cuda_event event, cuda_stream stream), event,
         stream_of(stream))
ANSWERED(cudaEventQuery, "hipEventQuery", (cuda_event event), event)
ANSWERED(cudaEventSynchronize, "hipEventSynchronize", (cuda_event event), event)
ANSWERED(cudaEventElapsedTime, "hipEventElapsedTime",
         (float *milliseconds, cuda_event start, cuda_event end), milliseconds, start, end)

// HIP 5.6 is the first to tell a stream's device; before, streams are of the current one.
int cudaStreamGetDevice(cuda_stream stream, int *device) {
  FOUND("hipStreamGetDevice", cuda_stream, int *);
  return function ? function(stream_of(stream), device) : cudaGetDevice(device);
}

// HIP's streams have no numbers.
int cudaStreamGetId(cuda_stream stream, unsigned long long *id) {
  (void)stream;
  *id = 0;
  return HIP_ERROR_NOT_SUPPORTED;
}

int cudaStreamGetCaptureInfo(cuda_stream stream, int *status, unsigned long long *id,
                             cuda_graph *graph, const cuda_graph_node **dependencies,
                             const void **edges, size_t *count) {
  FOUND("hipStreamGetCaptureInfo_v2", cuda_stream, int *, unsigned long long *, cuda_graph *,
        const cuda_graph_node **, size_t *);
  if (edges)
    *edges = NULL;
  return function ? function(stream_of(stream), status, id, graph, dependencies, count)
                  : hirc_hip_missing();
}

// --- memory ------------------------------------------------------------------------------------------

ANSWERED(cudaMalloc, "hipMalloc", (void **memory, size_t bytes), memory, bytes)
ANSWERED(cudaMallocAsync, "hipMallocAsync", (void **memory, size_t bytes, cuda_stream stream),
         memory, bytes, stream_of(stream))
ANSWERED(cudaMallocManaged, "hipMallocManaged", (void **memory, size_t bytes, unsigned flags),
         memory, bytes, flags)
ANSWERED(cudaFree, "hipFree", (void *memory), memory)
ANSWERED(cudaFreeAsync, "hipFreeAsync", (void *memory, cuda_stream stream), memory,
         stream_of(stream))
ANSWERED(cudaFreeHost, "hipHostFree", (void *memory), memory)
ANSWERED(cudaHostRegister, "hipHostRegister", (void *start, size_t bytes, unsigned flags), start,
         bytes, flags)
ANSWERED(cudaHostUnregister, "hipHostUnregister", (void *start), start)
ANSWERED(cudaHostGetDevicePointer, "hipHostGetDevicePointer",
         (void **device, void *host, unsigned flags), device, host, flags)
ANSWERED(cudaDeviceGetDefaultMemPool, "hipDeviceGetDefaultMemPool",
         (cuda_memory_pool * pool, int device), pool, device)
ANSWERED(cudaMemPoolSetAttribute, "hipMemPoolSetAttribute",
         (cuda_memory_pool pool, int attribute, void *value), pool, attribute, value)
ANSWERED(cudaMemcpy, "hipMemcpy", (void *dst, const void *src, size_t bytes, int kind), dst, src,
         bytes, kind)
ANSWERED(cudaMemcpyAsync, "hipMemcpyAsync",
         (void *dst, const void *src, size_t bytes, int kind, cuda_stream stream), dst, src, bytes,
         kind, stream_of(stream))
ANSWERED(cudaMemcpy2DAsync, "hipMemcpy2DAsync",
         (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
          size_t height, int kind, cuda_stream stream),
         dst, dst_pitch, src, src_pitch, width, height, kind, stream_of(stream))
ANSWERED(cudaMemsetAsync, "hipMemsetAsync",
         (void *start, int value, size_t bytes, cuda_stream stream), start, value, bytes,
         stream_of(stream))
ANSWERED(cudaMemset2DAsync, "hipMemset2DAsync",
         (void *start, size_t pitch, int value, size_t width, size_t height, cuda_stream stream),
         start, pitch, value, width, height, stream_of(stream))

int cudaMallocHost(void **memory, size_t bytes) {
  FOUND("hipHostMalloc", void **, size_t, unsigned);
  return function ? function(memory, bytes, 0) : hirc_hip_missing();
}

// HIP 5 numbers kinds of memory otherwise, and has an error for memory that it does not know.
static int memory_type(const struct hip_pointer_attributes *found) {
  if (found->is_managed)
    return CUDA_MEMORY_MANAGED;
  if (hirc_hip_major() >= 6)
    return found->type <= CUDA_MEMORY_MANAGED ? found->type : CUDA_MEMORY_UNREGISTERED;
  if (found->type == HIP_5_MEMORY_HOST)
    return CUDA_MEMORY_HOST;
  return found->type == HIP_5_MEMORY_DEVICE ? CUDA_MEMORY_DEVICE : CUDA_MEMORY_UNREGISTERED;
}

int cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer) {
  FOUND("hipPointerGetAttributes", struct hip_pointer_attributes *, const void *);
  if (!function)
    return hirc_hip_missing();
  struct hip_pointer_attributes found = {0};
  int rc = function(&found, pointer);
  *attributes = (struct cuda_pointer_attributes){.type = CUDA_MEMORY_UNREGISTERED, .device = -1};
  if (rc == HIP_ERROR_INVALID_VALUE) {
    cudaGetLastError();
    return 0;
  }
  if (rc != 0)
    return rc;
  attributes->type = memory_type(&found);
  attributes->device = found.device;
  attributes->device_pointer = found.device_pointer;
  attributes->host_pointer = found.host_pointer;
  return 0;
}

// --- kernels -----------------------------------------------------------------------------------------

ANSWERED(cudaLaunchKernel, "hipLaunchKernel",
         (const void *stub, struct cuda_extent grid, struct cuda_extent block, void **arguments,
          size_t shared, cuda_stream stream),
         stub, grid, block, arguments, shared, stream_of(stream))
ANSWERED(cudaFuncSetAttribute, "hipFuncSetAttribute",
         (const void *stub, int attribute, int value), stub, attribute, value)
ANSWERED(cudaGetSymbolAddress, "hipGetSymbolAddress", (void **address, const void *symbol),
         address, symbol)

static int launch_cooperative(const struct cuda_launch_configuration *how, const void *stub,
                              void **arguments) {
  FOUND("hipLaunchCooperativeKernel", const void *, struct cuda_extent, struct cuda_extent, void **,
        unsigned, cuda_stream);
  return function ? function(stub, how->grid, how->block, arguments,
                             (unsigned)how->dynamic_shared_bytes, stream_of(how->stream))
                  : hirc_hip_missing();
}

// There are no clusters of blocks; a launch that may overlap the one before waits for it.
int cudaLaunchKernelExC(const struct cuda_launch_configuration *how, const void *stub,
                        void **arguments) {
  bool is_cooperative = false;
  for (unsigned i = 0; i < how->attribute_count; ++i) {
    const struct cuda_launch_attribute *attribute = &how->attributes[i];
    if (attribute->kind == CUDA_LAUNCH_COOPERATIVE)
      is_cooperative = attribute->value.cooperative;
    else if (attribute->kind != CUDA_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION)
      return HIP_ERROR_NOT_SUPPORTED;
  }
  if (is_cooperative)
    return launch_cooperative(how, stub, arguments);
  return cudaLaunchKernel(stub, how->grid, how->block, arguments, how->dynamic_shared_bytes,
                          how->stream);
}

int cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *stub) {
  FOUND("hipFuncGetAttributes", struct hip_function_attributes *, const void *);
  if (!function)
    return hirc_hip_missing();
  struct hip_function_attributes found = {0};
  int rc = function(&found, stub);
  if (rc != 0)
    return rc;
  // Callers may have less room than the struct that is declared here.
  attributes->static_shared_bytes = found.shared_bytes;
  attributes->constant_bytes = found.constant_bytes;
  attributes->local_bytes = found.local_bytes;
  attributes->max_threads_per_block = found.max_threads_per_block;
  attributes->registers = found.registers;
  attributes->ptx_version = found.ptx_version;
  attributes->binary_version = found.binary_version;
  attributes->cache_mode = found.cache_mode;
  attributes->max_dynamic_shared_bytes = found.max_dynamic_shared_bytes;
  return 0;
}

// --- graphs ------------------------------------------------------------------------------------------

ANSWERED(cudaGraphInstantiateWithFlags, "hipGraphInstantiateWithFlags",
         (cuda_graph_exec * made, cuda_graph graph, unsigned long long flags), made, graph, flags)
ANSWERED(cudaGraphLaunch, "hipGraphLaunch", (cuda_graph_exec made, cuda_stream stream), made,
         stream_of(stream))
ANSWERED(cudaGraphExecDestroy, "hipGraphExecDestroy", (cuda_graph_exec made), made)
ANSWERED(cudaGraphDestroy, "hipGraphDestroy", (cuda_graph graph), graph)

int cudaGraphExecKernelNodeSetParams(cuda_graph_exec made, cuda_graph_node node,
                                     const struct cuda_kernel_node_parameters *given) {
  FOUND("hipGraphExecKernelNodeSetParams", cuda_graph_exec, cuda_graph_node,
        const struct hip_kernel_node_parameters *);
  struct hip_kernel_node_parameters parameters = {given->block, given->others,    given->stub,
                                                  given->grid,  given->arguments,
                                                  given->dynamic_shared_bytes};
  return function ? function(made, node, &parameters) : hirc_hip_missing();
}
