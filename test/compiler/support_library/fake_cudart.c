// A CUDA runtime without a device, for testing the support library: device memory is host memory,
// every call is written to a log, and any call can be made to fail.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_runtime_abi.h"

// Where the device has what is page-locked, beside the host's address.
enum { LOG_BYTES = 1 << 20, HANDLES = 1 << 16, DEVICE_OFFSET = 4096 };

// A stream or an event: its device, and for an event the stream it was last recorded in.
struct object {
  int device;
  struct object *recorded;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[LOG_BYTES];
static size_t used;
static char failing_call[64];
static int failing_code;
static int pending_code; // what synchronisation and every later call would report
static struct object objects[HANDLES];
static int object_count;
static int streams_alive, events_alive;
static __thread int device;
static __thread void *last_wait[2];

int fake_quiet;
int fake_driver_version = 13000;
int fake_static_shared = 1024;
int fake_has_tensor_maps = 1;
int fake_capturing = 0;

const char *fake_log(void) { return text; }
int fake_streams_alive(void) { return streams_alive; }
int fake_events_alive(void) { return events_alive; }
void fake_last_wait(void **waiter, void **signaller) {
  *waiter = last_wait[0];
  *signaller = last_wait[1];
}
void fake_reset(void) {
  used = 0;
  text[0] = 0;
  failing_call[0] = 0;
  pending_code = 0;
}
void fake_fail(const char *call, int code) {
  snprintf(failing_call, sizeof failing_call, "%s", call);
  failing_code = code;
}
// As if a kernel had failed whose error nothing has reported yet.
void fake_pending(int code) { pending_code = code; }

__attribute__((format(printf, 2, 3))) static int answer(const char *call, const char *format, ...) {
  if (!fake_quiet) {
    va_list arguments;
    pthread_mutex_lock(&lock);
    va_start(arguments, format);
    used += (size_t)snprintf(text + used, LOG_BYTES - used, "%s ", call);
    used += (size_t)vsnprintf(text + used, LOG_BYTES - used, format, arguments);
    used += (size_t)snprintf(text + used, LOG_BYTES - used, "\n");
    va_end(arguments);
    pthread_mutex_unlock(&lock);
    if (used > LOG_BYTES / 2)
      abort();
  }
  return strcmp(call, failing_call) == 0 ? failing_code : 0;
}

static struct object *create(int *alive) {
  pthread_mutex_lock(&lock);
  struct object *created = &objects[object_count++];
  ++*alive;
  pthread_mutex_unlock(&lock);
  created->device = device;
  return created;
}

static void destroy(int *alive) {
  pthread_mutex_lock(&lock);
  --*alive;
  pthread_mutex_unlock(&lock);
}

static long number(const struct object *object) { return object ? object - objects : -1; }
static int device_of(const struct object *object) { return object ? object->device : device; }

const char *cudaGetErrorName(int error) {
  switch (error) {
  case CUDA_ERROR_INVALID_CONFIGURATION:
    return "cudaErrorInvalidConfiguration";
  case CUDA_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE:
    return "cudaErrorNoKernelImageForDevice";
  default:
    return "cudaErrorNamed";
  }
}
const char *cudaGetErrorString(int error) {
  return error == CUDA_ERROR_INVALID_CONFIGURATION ? "invalid configuration argument"
                                                   : "text of the error";
}
int cudaGetLastError(void) { return 0; }
int cudaDriverGetVersion(int *version) {
  *version = fake_driver_version;
  return 0;
}
int cudaRuntimeGetVersion(int *version) {
  *version = 13000;
  return 0;
}
int cudaGetDevice(int *current) {
  *current = device;
  return strcmp(failing_call, "cudaGetDevice") == 0 ? failing_code : 0;
}
int cudaSetDevice(int wanted) {
  device = wanted;
  return 0;
}
int cudaDeviceGetAttribute(int *value, int attribute, int of_device) {
  switch (attribute) {
  case CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR:
    *value = 8;
    break;
  case CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR:
    *value = 6;
    break;
  case CUDA_DEVICE_MAX_SHARED_BYTES_OPT_IN:
    *value = 232448;
    break;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)of_device;
  return 0;
}
int cudaDeviceSynchronize(void) {
  if (pending_code)
    fputs("kernel says\n", stderr);
  int rc = answer("cudaDeviceSynchronize", "%d", device);
  return pending_code ? pending_code : rc;
}

int cudaStreamCreateWithFlags(cuda_stream *stream, unsigned flags) {
  struct object *created = create(&streams_alive);
  *stream = created;
  return answer("cudaStreamCreateWithFlags", "%ld flags=%u", number(created), flags);
}
int cudaStreamCreateWithPriority(cuda_stream *stream, unsigned flags, int priority) {
  struct object *created = create(&streams_alive);
  *stream = created;
  return answer("cudaStreamCreateWithPriority", "%ld flags=%u priority=%d", number(created), flags,
                priority);
}
int cudaStreamDestroy(cuda_stream stream) {
  destroy(&streams_alive);
  return answer("cudaStreamDestroy", "%ld", number(stream));
}
int cudaStreamSynchronize(cuda_stream stream) {
  return answer("cudaStreamSynchronize", "%ld", number(stream));
}
int cudaStreamGetDevice(cuda_stream stream, int *of_device) {
  *of_device = device_of(stream);
  return 0;
}
int cudaStreamGetId(cuda_stream stream, unsigned long long *id) {
  *id = (unsigned long long)number(stream);
  return 0;
}
int cudaStreamIsCapturing(cuda_stream stream, int *status) {
  (void)stream;
  *status = fake_capturing;
  return 0;
}

int cudaEventQuery(cuda_event event) { return answer("cudaEventQuery", "%ld", number(event)); }
int cudaGetDeviceCount(int *count) {
  *count = 2;
  return 0;
}

// Graphs are tested on the CPU device: here nothing is captured.
int cudaStreamBeginCapture(cuda_stream stream, int mode) {
  (void)stream, (void)mode;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph) {
  (void)stream, (void)graph;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaStreamGetCaptureInfo(cuda_stream stream, int *status, unsigned long long *id,
                             cuda_graph *graph, const cuda_graph_node **dependencies,
                             const void **edges, size_t *dependency_count) {
  (void)stream, (void)status, (void)id, (void)graph, (void)dependencies, (void)edges;
  (void)dependency_count;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaGraphInstantiateWithFlags(cuda_graph_exec *made, cuda_graph graph,
                                  unsigned long long flags) {
  (void)made, (void)graph, (void)flags;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaGraphExecKernelNodeSetParams(cuda_graph_exec made, cuda_graph_node node,
                                     const struct cuda_kernel_node_parameters *parameters) {
  (void)made, (void)node, (void)parameters;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaGraphLaunch(cuda_graph_exec made, cuda_stream stream) {
  (void)made, (void)stream;
  return CUDA_ERROR_INVALID_VALUE;
}
int cudaGraphExecDestroy(cuda_graph_exec made) {
  (void)made;
  return 0;
}
int cudaGraphDestroy(cuda_graph graph) {
  (void)graph;
  return 0;
}
int cudaEventCreateWithFlags(cuda_event *event, unsigned flags) {
  struct object *created = create(&events_alive);
  *event = created;
  return answer("cudaEventCreateWithFlags", "%ld flags=%u", number(created), flags);
}
int cudaEventSynchronize(cuda_event event) {
  return answer("cudaEventSynchronize", "%ld", number(event));
}
int cudaEventElapsedTime(float *milliseconds, cuda_event start, cuda_event end) {
  *milliseconds = 0;
  return answer("cudaEventElapsedTime", "%ld to %ld", number(start), number(end));
}
int cudaEventDestroy(cuda_event event) {
  destroy(&events_alive);
  return answer("cudaEventDestroy", "%ld", number(event));
}
int cudaEventRecord(cuda_event event, cuda_stream stream) {
  struct object *recording = event;
  if (recording->device != device_of(stream))
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  recording->recorded = stream;
  return answer("cudaEventRecord", "%ld in %ld", number(event), number(stream));
}
int cudaStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags) {
  last_wait[0] = stream;
  last_wait[1] = ((struct object *)event)->recorded;
  return answer("cudaStreamWaitEvent", "%ld for %ld flags=%u", number(stream), number(event),
                flags);
}

int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind) {
  memcpy(dst, src, bytes);
  return answer("cudaMemcpy", "%zu kind=%d", bytes, kind);
}
int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, cuda_stream stream) {
  memcpy(dst, src, bytes);
  return answer("cudaMemcpyAsync", "%zu kind=%d in %ld", bytes, kind, number(stream));
}
int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
                      size_t height, int kind, cuda_stream stream) {
  if (width > dst_pitch || width > src_pitch || dst_pitch > 0x7fffffff || src_pitch > 0x7fffffff)
    return 12; // cudaErrorInvalidPitchValue
  for (size_t row = 0; row < height; ++row)
    memcpy((char *)dst + row * dst_pitch, (const char *)src + row * src_pitch, width);
  return answer("cudaMemcpy2DAsync", "%zu x %zu kind=%d in %ld", height, width, kind,
                number(stream));
}
int cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer) {
  (void)pointer;
  *attributes = (struct cuda_pointer_attributes){.type = CUDA_MEMORY_DEVICE, .device = device};
  return 0;
}
int cudaMemsetAsync(void *start, int value, size_t bytes, cuda_stream stream) {
  memset(start, value, bytes);
  return answer("cudaMemsetAsync", "%zu to %d in %ld", bytes, value, number(stream));
}
int cudaMemset2DAsync(void *start, size_t pitch, int value, size_t width, size_t height,
                      cuda_stream stream) {
  if (width > pitch || pitch > 0x7fffffff)
    return 12; // cudaErrorInvalidPitchValue
  for (size_t row = 0; row < height; ++row)
    memset((char *)start + row * pitch, value, width);
  return answer("cudaMemset2DAsync", "%zu x %zu to %d in %ld", height, width, value,
                number(stream));
}
int cudaDeviceGetDefaultMemPool(cuda_memory_pool *pool, int of_device) {
  *pool = &fake_quiet;
  return answer("cudaDeviceGetDefaultMemPool", "%d", of_device);
}
int cudaMemPoolSetAttribute(cuda_memory_pool pool, int attribute, void *value) {
  (void)pool;
  return answer("cudaMemPoolSetAttribute", "%d=%llx", attribute, *(unsigned long long *)value);
}
int cudaMalloc(void **memory, size_t bytes) {
  int rc = answer("cudaMalloc", "%zu", bytes);
  *memory = rc ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256); // as CUDA's is
  return rc;
}
int cudaMallocAsync(void **memory, size_t bytes, cuda_stream stream) {
  *memory = aligned_alloc(256, (bytes + 255) / 256 * 256); // as CUDA's is
  return answer("cudaMallocAsync", "%zu in %ld", bytes, number(stream));
}
int cudaFreeAsync(void *memory, cuda_stream stream) {
  free(memory);
  return answer("cudaFreeAsync", "in %ld", number(stream));
}
int cudaMallocHost(void **memory, size_t bytes) {
  *memory = malloc(bytes);
  return answer("cudaMallocHost", "%zu", bytes);
}
int cudaFreeHost(void *memory) {
  free(memory);
  return answer("cudaFreeHost", "%s", "");
}
int cudaMallocManaged(void **memory, size_t bytes, unsigned flags) {
  *memory = malloc(bytes);
  return answer("cudaMallocManaged", "%zu flags=%u", bytes, flags);
}
int cudaFree(void *memory) {
  free(memory);
  return answer("cudaFree", "%s", "");
}
int cudaHostRegister(void *start, size_t bytes, unsigned flags) {
  return answer("cudaHostRegister", "%#lx %zu flags=%u", (unsigned long)start, bytes, flags);
}
int cudaHostUnregister(void *start) {
  return answer("cudaHostUnregister", "%#lx", (unsigned long)start);
}
int cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  *device = (char *)host + DEVICE_OFFSET;
  return answer("cudaHostGetDevicePointer", "%#lx flags=%u", (unsigned long)host, flags);
}

int cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *stub) {
  (void)stub;
  attributes->static_shared_bytes = (size_t)fake_static_shared;
  return 0;
}
int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
  return answer("cudaFuncSetAttribute", "%#lx %d=%d", (unsigned long)stub, attribute, value);
}
int cudaLaunchKernel(const void *stub, struct cuda_extent grid, struct cuda_extent block,
                     void **arguments, size_t dynamic_shared_bytes, cuda_stream stream) {
  return answer("cudaLaunchKernel", "%#lx grid=%u,%u,%u block=%u,%u,%u args=%#lx shared=%zu in %ld",
                (unsigned long)stub, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                (unsigned long)arguments, dynamic_shared_bytes, number(stream));
}
int cudaLaunchKernelExC(const struct cuda_launch_configuration *configuration, const void *stub,
                        void **arguments) {
  struct cuda_extent cluster = {0};
  int cooperative = 0, overlaps = 0;
  for (unsigned i = 0; i < configuration->attribute_count; ++i)
    if (configuration->attributes[i].kind == CUDA_LAUNCH_CLUSTER_DIMENSION)
      cluster = configuration->attributes[i].value.cluster;
    else if (configuration->attributes[i].kind == CUDA_LAUNCH_COOPERATIVE)
      cooperative = configuration->attributes[i].value.cooperative;
    else if (configuration->attributes[i].kind == CUDA_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION)
      overlaps = configuration->attributes[i].value.programmatic_stream_serialization;
  (void)arguments;
  return answer("cudaLaunchKernelExC",
                "%#lx grid=%u cluster=%u,%u,%u cooperative=%d overlaps=%d shared=%zu",
                (unsigned long)stub, configuration->grid.x, cluster.x, cluster.y, cluster.z,
                cooperative, overlaps, configuration->dynamic_shared_bytes);
}

static int encode_tiled(void *map, int element_kind, uint32_t rank, void *start,
                        const uint64_t *sizes, const uint64_t *byte_strides,
                        const uint32_t *box_sizes, const uint32_t *element_strides, int interleave,
                        int swizzle, int l2promo, int oob) {
  char dimensions[400] = "";
  for (uint32_t i = 0; i < rank; ++i) {
    size_t at = strlen(dimensions);
    snprintf(dimensions + at, sizeof dimensions - at, " [%lu by %lu box %u step %u]",
             (unsigned long)sizes[i], i ? (unsigned long)byte_strides[i - 1] : 0, box_sizes[i],
             element_strides[i]);
  }
  memset(map, 0x5a, 128);
  return answer("cuTensorMapEncodeTiled", "%#lx kind=%d%s modes=%d,%d,%d,%d", (unsigned long)start,
                element_kind, dimensions, interleave, swizzle, l2promo, oob);
}
// Another process's memory is some of this one's; flags are in memory that they share indeed.
struct handle {
  char bytes[64];
};
static int get_handle(struct handle *handle, void *memory) {
  (void)handle, (void)memory;
  return answer("cuIpcGetMemHandle", "0");
}
static int open_handle(void **memory, struct handle handle, unsigned flags) {
  (void)handle;
  *memory = malloc(4 << 20);
  return answer("cuIpcOpenMemHandle", "%u", flags);
}
static int close_handle(void *memory) {
  free(memory);
  return answer("cuIpcCloseMemHandle", "0");
}
static int retain_context(void **context, int of_device) {
  *context = (void *)(uintptr_t)(0x100 + of_device);
  return answer("cuDevicePrimaryCtxRetain", "%d", of_device);
}
// As where another library of the process has enabled it.
static int enable_access(void *context, unsigned flags) {
  int rc = answer("cuCtxEnablePeerAccess", "%p %u", context, flags);
  return rc ? rc : 704;
}
static int write_value(cuda_stream stream, uint64_t *flag, uint64_t value, unsigned flags) {
  int rc = answer("cuStreamWriteValue64", "%#llx %u in %ld", (unsigned long long)value, flags,
                  number(stream));
  if (rc == 0)
    __atomic_store_n(flag - DEVICE_OFFSET / (int)sizeof *flag, value, __ATOMIC_SEQ_CST);
  return rc;
}
static int wait_value(cuda_stream stream, uint64_t *flag, uint64_t value, unsigned flags) {
  int rc = answer("cuStreamWaitValue64", "%#llx %u in %ld", (unsigned long long)value, flags,
                  number(stream));
  flag -= DEVICE_OFFSET / (int)sizeof *flag;
  while (rc == 0 && (int64_t)(__atomic_load_n(flag, __ATOMIC_SEQ_CST) - value) < 0)
    usleep(1000);
  return rc;
}
static const struct {
  const char *name;
  void *function;
} driver_calls[] = {
    {"cuTensorMapEncodeTiled", (void *)encode_tiled},
    {"cuIpcGetMemHandle", (void *)get_handle},
    {"cuIpcOpenMemHandle", (void *)open_handle},
    {"cuIpcCloseMemHandle", (void *)close_handle},
    {"cuDevicePrimaryCtxRetain", (void *)retain_context},
    {"cuCtxEnablePeerAccess", (void *)enable_access},
    {"cuStreamWriteValue64", (void *)write_value},
    {"cuStreamWaitValue64", (void *)wait_value},
};

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned cuda_version,
                                     unsigned long long flags, int *status) {
  *function = NULL;
  for (size_t i = 0; fake_has_tensor_maps && i < sizeof driver_calls / sizeof *driver_calls; ++i)
    if (strcmp(driver_calls[i].name, name) == 0)
      *function = driver_calls[i].function;
  *status = *function ? 0 : 1;
  return answer("cudaGetDriverEntryPointByVersion", "%s %u %llu", name, cuda_version, flags);
}
