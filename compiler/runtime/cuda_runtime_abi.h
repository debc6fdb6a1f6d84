// The part of the CUDA runtime's C ABI that the support library calls, declared here so that the
// library compiles on a machine with no CUDA header.
//
// Source of every prototype and number: the CUDA Runtime API reference (CUDA 12.5 and newer, where
// cudaGetDriverEntryPointByVersion appeared). Handles (cudaStream_t, cudaEvent_t) are pointers to
// opaque objects; every enum parameter has the size and passing of an int.
#ifndef HIRC_CUDA_RUNTIME_ABI_H
#define HIRC_CUDA_RUNTIME_ABI_H

#include <stddef.h>

typedef void *cuda_stream;
typedef void *cuda_event;
typedef void *cuda_memory_pool;
typedef void *cuda_graph;
typedef void *cuda_graph_node;
typedef void *cuda_graph_exec;

enum cuda_error {
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_MEMORY_ALLOCATION = 2,
  CUDA_ERROR_INVALID_CONFIGURATION = 9,
  CUDA_ERROR_INSUFFICIENT_DRIVER = 35,
  CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36,
  CUDA_ERROR_INVALID_DEVICE_FUNCTION = 98,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_KERNEL_IMAGE = 200,
  CUDA_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_JIT_COMPILATION_DISABLED = 223,
  CUDA_ERROR_INVALID_RESOURCE_HANDLE = 400,
  // 700 to 799: a kernel failed while it ran (illegal address 700, assert 710, launch failure 719).
  CUDA_ERROR_FIRST_OF_EXECUTION = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_LAST_OF_EXECUTION = 799,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
};

enum {
  CUDA_MEMCPY_DEFAULT = 4, // cudaMemcpyDefault: the direction follows from the two addresses
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_CAPTURE_RELAXED = 2,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_HOST_REGISTER_DEFAULT = 0,
  CUDA_MEMORY_ATTACH_GLOBAL = 1,          // any stream may use the managed memory
  CUDA_MEMORY_POOL_RELEASE_THRESHOLD = 4, // uint64_t
  CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,
  CUDA_FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
  CUDA_LAUNCH_COOPERATIVE = 2,
  CUDA_LAUNCH_CLUSTER_DIMENSION = 4,
  CUDA_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
  CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR = 75,
  CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR = 76,
  CUDA_DEVICE_MAX_SHARED_BYTES_OPT_IN = 97,
};

// The leading fields of cudaFuncAttributes and room for all that later versions append.
struct cuda_function_attributes {
  size_t static_shared_bytes;
  size_t constant_bytes;
  size_t local_bytes;
  int max_threads_per_block;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode;
  int max_dynamic_shared_bytes;
  int others[120];
};

// cudaMemoryType.
enum {
  CUDA_MEMORY_UNREGISTERED,
  CUDA_MEMORY_HOST,
  CUDA_MEMORY_DEVICE,
  CUDA_MEMORY_MANAGED,
};

// cudaPointerAttributes and room for what later versions append.
struct cuda_pointer_attributes {
  int type;
  int device;
  void *device_pointer;
  void *host_pointer;
  long reserved[8];
};

// dim3; passed by value.
struct cuda_extent {
  unsigned x, y, z;
};

// cudaKernelNodeParams.
struct cuda_kernel_node_parameters {
  void *stub;
  struct cuda_extent grid;
  struct cuda_extent block;
  unsigned dynamic_shared_bytes;
  void **arguments;
  void **others;
};

// cudaLaunchAttribute: a kind from the CUDA_LAUNCH_ numbers and the member that belongs to it.
struct cuda_launch_attribute {
  int kind;
  int padding;
  union {
    int cooperative;
    int programmatic_stream_serialization;
    struct cuda_extent cluster;
    char others[64];
  } value;
};

// cudaLaunchConfig_t.
struct cuda_launch_configuration {
  struct cuda_extent grid;
  struct cuda_extent block;
  size_t dynamic_shared_bytes;
  cuda_stream stream;
  struct cuda_launch_attribute *attributes;
  unsigned attribute_count;
};

const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);
int cudaGetLastError(void);
int cudaDriverGetVersion(int *version);
int cudaRuntimeGetVersion(int *version);
int cudaGetDevice(int *device);
int cudaGetDeviceCount(int *count);
int cudaSetDevice(int device);
int cudaDeviceGetAttribute(int *value, int attribute, int device);
int cudaDeviceSynchronize(void);

int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags);
int cudaStreamCreateWithPriority(cuda_stream *stream, unsigned flags, int priority);
int cudaStreamDestroy(cuda_stream stream);
int cudaStreamSynchronize(cuda_stream stream);
int cudaStreamGetDevice(cuda_stream stream, int *device);
int cudaStreamGetId(cuda_stream stream, unsigned long long *id);
int cudaStreamIsCapturing(cuda_stream stream, int *status);
int cudaStreamBeginCapture(cuda_stream stream, int mode);
int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph);
int cudaStreamGetCaptureInfo(cuda_stream stream, int *status, unsigned long long *id,
                             cuda_graph *graph, const cuda_graph_node **dependencies,
                             const void **edges, size_t *dependency_count);
int cudaGraphInstantiateWithFlags(cuda_graph_exec *made, cuda_graph graph,
                                  unsigned long long flags);
int cudaGraphExecKernelNodeSetParams(cuda_graph_exec made, cuda_graph_node node,
                                     const struct cuda_kernel_node_parameters *parameters);
int cudaGraphLaunch(cuda_graph_exec made, cuda_stream stream);
int cudaGraphExecDestroy(cuda_graph_exec made);
int cudaGraphDestroy(cuda_graph graph);
int cudaStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags);
int cudaEventCreateWithFlags(cuda_event *event, unsigned flags);
int cudaEventRecord(cuda_event event, cuda_stream stream);
int cudaEventDestroy(cuda_event event);
int cudaEventQuery(cuda_event event);
int cudaEventElapsedTime(float *milliseconds, cuda_event start, cuda_event end);
int cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer);

int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cuda_stream stream);
int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t height, int kind, cuda_stream stream);
int cudaMemsetAsync(void *start, int value, size_t bytes, cuda_stream stream);
int cudaMemset2DAsync(void *start, size_t pitch, int value, size_t width, size_t height,
                      cuda_stream stream);
int cudaMalloc(void **memory, size_t bytes);
int cudaMallocAsync(void **memory, size_t bytes, cuda_stream stream);
int cudaFreeAsync(void *memory, cuda_stream stream);
int cudaMallocHost(void **memory, size_t bytes);
int cudaFreeHost(void *memory);
int cudaMallocManaged(void **memory, size_t bytes, unsigned flags);
int cudaFree(void *memory);
int cudaDeviceGetDefaultMemPool(cuda_memory_pool *pool, int device);
int cudaMemPoolSetAttribute(cuda_memory_pool pool, int attribute, void *value);
int cudaHostRegister(void *start, size_t bytes, unsigned flags);
int cudaHostUnregister(void *start);
int cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
int cudaFuncSetAttribute(const void *stub, int attribute, int value);
int cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *stub);
int cudaLaunchKernel(const void *stub, struct cuda_extent grid, struct cuda_extent block,
                     void **arguments, size_t dynamic_shared_bytes, cuda_stream stream);
int cudaLaunchKernelExC(const struct cuda_launch_configuration *configuration, const void *stub,
                        void **arguments);
int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned cuda_version,
                                     unsigned long long flags, int *status);

#endif
