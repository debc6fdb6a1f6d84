// A HIP runtime without a GPU: the CPU device runs the AMDGPU bitcode of the same program, which is
// linked with this into a libamdhip64 (stand_in_hip.py). Kernels are found by the names that the
// program under test registers them with.
//
// STAND_IN_HIP_GPUS is how many GPUs there are, 1 if it is not set; STAND_IN_HIP_CODE what asking for
// a kernel's attributes gives; STAND_IN_HIP_MAJOR the version, 6 if it is not set; with
// STAND_IN_HIP_CALLS every call of it is written to that file.
#include "../../compiler/hip/runtime/hip.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

static int number_of(const char *name, int otherwise) {
  const char *text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

static int major(void) { return number_of("STAND_IN_HIP_MAJOR", 6); }

static void called(const char *name) {
  const char *path = getenv("STAND_IN_HIP_CALLS");
  FILE *file = path && *path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%s\n", name);
    fclose(file);
  }
}

#define SAME(name, cuda, parameters, ...)                                                          \
  EXPORTED int name parameters {                                                                   \
    called(#name);                                                                                 \
    return cuda(__VA_ARGS__);                                                                      \
  }

int cudaEventSynchronize(cuda_event event);
int cudaGetSymbolAddress(void **address, const void *symbol);

SAME(hipGetLastError, cudaGetLastError, (void))
SAME(hipGetDevice, cudaGetDevice, (int *device), device)
SAME(hipDeviceSynchronize, cudaDeviceSynchronize, (void))
SAME(hipStreamCreateWithFlags, cudaStreamCreateWithFlags, (cuda_stream * stream, unsigned flags),
     stream, flags)
SAME(hipStreamCreateWithPriority, cudaStreamCreateWithPriority,
     (cuda_stream * stream, unsigned flags, int priority), stream, flags, priority)
SAME(hipStreamDestroy, cudaStreamDestroy, (cuda_stream stream), stream)
SAME(hipStreamSynchronize, cudaStreamSynchronize, (cuda_stream stream), stream)
SAME(hipStreamWaitEvent, cudaStreamWaitEvent,
     (cuda_stream stream, cuda_event event, unsigned flags), stream, event, flags)
SAME(hipStreamIsCapturing, cudaStreamIsCapturing, (cuda_stream stream, int *status), stream, status)
SAME(hipStreamBeginCapture, cudaStreamBeginCapture, (cuda_stream stream, int mode), stream, mode)
SAME(hipStreamEndCapture, cudaStreamEndCapture, (cuda_stream stream, cuda_graph *graph), stream,
     graph)
SAME(hipEventCreateWithFlags, cudaEventCreateWithFlags, (cuda_event * event, unsigned flags), event,
     flags)
SAME(hipEventDestroy, cudaEventDestroy, (cuda_event event), event)
SAME(hipEventRecord, cudaEventRecord, (cuda_event event, cuda_stream stream), event, stream)
SAME(hipEventQuery, cudaEventQuery, (cuda_event event), event)
SAME(hipEventSynchronize, cudaEventSynchronize, (cuda_event event), event)
SAME(hipEventElapsedTime, cudaEventElapsedTime,
     (float *milliseconds, cuda_event start, cuda_event end), milliseconds, start, end)
SAME(hipMalloc, cudaMalloc, (void **memory, size_t bytes), memory, bytes)
SAME(hipMallocAsync, cudaMallocAsync, (void **memory, size_t bytes, cuda_stream stream), memory,
     bytes, stream)
SAME(hipMallocManaged, cudaMallocManaged, (void **memory, size_t bytes, unsigned flags), memory,
     bytes, flags)
SAME(hipFree, cudaFree, (void *memory), memory)
SAME(hipFreeAsync, cudaFreeAsync, (void *memory, cuda_stream stream), memory, stream)
SAME(hipHostFree, cudaFreeHost, (void *memory), memory)
SAME(hipHostRegister, cudaHostRegister, (void *start, size_t bytes, unsigned flags), start, bytes,
     flags)
SAME(hipHostUnregister, cudaHostUnregister, (void *start), start)
SAME(hipHostGetDevicePointer, cudaHostGetDevicePointer,
     (void **device, void *host, unsigned flags), device, host, flags)
SAME(hipDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, (cuda_memory_pool * pool, int device),
     pool, device)
SAME(hipMemPoolSetAttribute, cudaMemPoolSetAttribute,
     (cuda_memory_pool pool, int attribute, void *value), pool, attribute, value)
SAME(hipMemcpy, cudaMemcpy, (void *dst, const void *src, size_t bytes, int kind), dst, src, bytes,
     kind)
SAME(hipMemcpyAsync, cudaMemcpyAsync,
     (void *dst, const void *src, size_t bytes, int kind, cuda_stream stream), dst, src, bytes,
     kind, stream)
SAME(hipMemcpy2DAsync, cudaMemcpy2DAsync,
     (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height,
      int kind, cuda_stream stream),
     dst, dst_pitch, src, src_pitch, width, height, kind, stream)
SAME(hipMemsetAsync, cudaMemsetAsync,
     (void *start, int value, size_t bytes, cuda_stream stream), start, value, bytes, stream)
SAME(hipMemset2DAsync, cudaMemset2DAsync,
     (void *start, size_t pitch, int value, size_t width, size_t height, cuda_stream stream), start,
     pitch, value, width, height, stream)
SAME(hipLaunchKernel, cudaLaunchKernel,
     (const void *stub, struct cuda_extent grid, struct cuda_extent block, void **arguments,
      size_t shared, cuda_stream stream),
     stub, grid, block, arguments, shared, stream)
SAME(hipFuncSetAttribute, cudaFuncSetAttribute, (const void *stub, int attribute, int value), stub,
     attribute, value)
SAME(hipGetSymbolAddress, cudaGetSymbolAddress, (void **address, const void *symbol), address,
     symbol)
SAME(hipGraphInstantiateWithFlags, cudaGraphInstantiateWithFlags,
     (cuda_graph_exec * made, cuda_graph graph, unsigned long long flags), made, graph, flags)
SAME(hipGraphLaunch, cudaGraphLaunch, (cuda_graph_exec made, cuda_stream stream), made, stream)
SAME(hipGraphExecDestroy, cudaGraphExecDestroy, (cuda_graph_exec made), made)
SAME(hipGraphDestroy, cudaGraphDestroy, (cuda_graph graph), graph)

EXPORTED const char *hipGetErrorName(int error) {
  static _Thread_local char name[80];
  snprintf(name, sizeof name, "hip%s", cudaGetErrorName(error) + 4);
  return name;
}

EXPORTED const char *hipGetErrorString(int error) { return cudaGetErrorString(error); }

EXPORTED int hipRuntimeGetVersion(int *version) {
  *version = major() * 10000000;
  return 0;
}

EXPORTED int hipDriverGetVersion(int *version) { return hipRuntimeGetVersion(version); }

EXPORTED int hipGetDeviceCount(int *count) {
  *count = number_of("STAND_IN_HIP_GPUS", 1);
  return *count == 0 ? 100 : 0;
}

EXPORTED int hipSetDevice(int device) {
  called("hipSetDevice");
  return device < number_of("STAND_IN_HIP_GPUS", 1) ? 0 : 101;
}

EXPORTED int hipDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  *value = attribute == HIP_DEVICE_MAX_SHARED_BYTES ? 65536 : 9;
  return attribute >= 10000;
}

EXPORTED int hipStreamGetDevice(cuda_stream stream, int *device) {
  return cudaStreamGetDevice(stream, device);
}

EXPORTED int hipStreamGetCaptureInfo_v2(cuda_stream stream, int *status, unsigned long long *id,
                                        cuda_graph *graph, const cuda_graph_node **dependencies,
                                        size_t *count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, count);
}

EXPORTED int hipHostMalloc(void **memory, size_t bytes, unsigned flags) {
  return flags ? HIP_ERROR_INVALID_VALUE : cudaMallocHost(memory, bytes);
}

EXPORTED int hipPointerGetAttributes(struct hip_pointer_attributes *attributes,
                                     const void *pointer) {
  struct cuda_pointer_attributes found;
  int rc = cudaPointerGetAttributes(&found, pointer);
  if (rc != 0)
    return rc;
  if (major() < 6 && found.type == CUDA_MEMORY_UNREGISTERED)
    return HIP_ERROR_INVALID_VALUE;
  attributes->type = major() < 6 && found.type != CUDA_MEMORY_MANAGED ? found.type - 1 : found.type;
  attributes->is_managed = found.type == CUDA_MEMORY_MANAGED;
  attributes->device = found.device;
  attributes->device_pointer = found.device_pointer;
  attributes->host_pointer = found.host_pointer;
  return 0;
}

EXPORTED int hipFuncGetAttributes(struct hip_function_attributes *attributes, const void *stub) {
  int code = number_of("STAND_IN_HIP_CODE", 0);
  if (code != 0)
    return code;
  struct cuda_function_attributes found;
  int rc = cudaFuncGetAttributes(&found, stub);
  *attributes = (struct hip_function_attributes){
      .local_bytes = found.local_bytes,
      .max_threads_per_block = found.max_threads_per_block,
      .registers = found.registers,
      .max_dynamic_shared_bytes = found.max_dynamic_shared_bytes,
      .shared_bytes = found.static_shared_bytes,
  };
  return rc;
}

EXPORTED int hipLaunchCooperativeKernel(const void *stub, struct cuda_extent grid,
                                        struct cuda_extent block, void **arguments, unsigned shared,
                                        cuda_stream stream) {
  called("hipLaunchCooperativeKernel");
  struct cuda_launch_attribute attribute = {CUDA_LAUNCH_COOPERATIVE, 0, {.cooperative = 1}};
  struct cuda_launch_configuration how = {grid, block, shared, stream, &attribute, 1};
  return cudaLaunchKernelExC(&how, stub, arguments);
}

EXPORTED int hipGraphExecKernelNodeSetParams(cuda_graph_exec made, cuda_graph_node node,
                                             const struct hip_kernel_node_parameters *given) {
  struct cuda_kernel_node_parameters parameters = {given->stub,
                                                   given->grid,
                                                   given->block,
                                                   given->dynamic_shared_bytes,
                                                   given->arguments,
                                                   given->others};
  return cudaGraphExecKernelNodeSetParams(made, node, &parameters);
}

// --- registration ------------------------------------------------------------------------------------

void __cudaRegisterFunction(void **handle, const void *stub, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            void *block_size, void *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, void *symbol, char *device_address, const char *device_name,
                       int is_external, size_t bytes, int is_constant, int is_global);

// A wrapper with HIP's magic number, and the bundle that it points to.
struct wrapper {
  unsigned magic, version;
  const char *bundle;
  void *nothing;
};

static int is_bundle(const struct wrapper *wrapper) {
  const char *magic = "__CLANG_OFFLOAD_BUNDLE__", *found = wrapper->bundle;
  if (wrapper->magic != 0x48495046 || wrapper->version != 1)
    return 0;
  while (*magic)
    if (*magic++ != *found++)
      return 0;
  return 1;
}

EXPORTED void **__hipRegisterFatBinary(const struct wrapper *wrapper) {
  static void *handle;
  called("__hipRegisterFatBinary");
  if (!is_bundle(wrapper)) {
    fprintf(stderr, "the stand-in was given no bundle\n");
    abort();
  }
  return &handle;
}

EXPORTED void __hipUnregisterFatBinary(void **handle) {
  (void)handle;
  called("__hipUnregisterFatBinary");
}

EXPORTED void __hipRegisterFunction(void **handle, const void *stub, char *device_function,
                                    const char *device_name, unsigned thread_limit, void *thread,
                                    void *block, void *block_size, void *grid_size,
                                    int *warp_size) {
  called("__hipRegisterFunction");
  __cudaRegisterFunction(handle, stub, device_function, device_name, (int)thread_limit, thread,
                         block, block_size, grid_size, warp_size);
}

EXPORTED void __hipRegisterVar(void **handle, void *symbol, char *device_address,
                               const char *device_name, int is_external, size_t bytes,
                               int is_constant, int is_global) {
  called("__hipRegisterVar");
  __cudaRegisterVar(handle, symbol, device_address, device_name, is_external, bytes, is_constant,
                    is_global);
}

// hirc makes none of these; what clang's link makes names them.
EXPORTED void __hipRegisterManagedVar(void) { abort(); }
EXPORTED void __hipRegisterSurface(void) { abort(); }
EXPORTED void __hipRegisterTexture(void) { abort(); }
EXPORTED void __hipPushCallConfiguration(void) { abort(); }
