// Stands between a library's host code and the CUDA runtime and malloc: counts the calls, makes one
// of them fail, and knows what is allocated. The library is built of LLVM IR in which these calls
// have been renamed to planted_NAME.

#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct planted_live {
  int64_t device, host, events, streams, page_locks, graphs;
};

EXPORT struct planted_live planted_live;
EXPORT int64_t planted_at, planted_calls; // the call that fails, from 1 on; those so far
EXPORT char planted_name[64];             // of the one that failed

static int fails(const char *name) {
  if (__atomic_add_fetch(&planted_calls, 1, __ATOMIC_RELAXED) != planted_at)
    return 0;
  snprintf(planted_name, sizeof planted_name, "%s", name);
  return 1;
}

// `effect` is done where the call succeeds.
#define CALL(name, parameters, arguments, effect)                                                  \
  int name parameters;                                                                             \
  int planted_##name parameters;                                                                   \
  int planted_##name parameters {                                                                  \
    if (fails(#name))                                                                              \
      return 999; /* cudaErrorUnknown */                                                           \
    int rc = name arguments;                                                                       \
    if (rc == 0) {                                                                                 \
      effect;                                                                                      \
    }                                                                                              \
    return rc;                                                                                     \
  }
#define MORE(what) __atomic_add_fetch(&planted_live.what, 1, __ATOMIC_RELAXED)
#define LESS(what) __atomic_sub_fetch(&planted_live.what, 1, __ATOMIC_RELAXED)

struct extent {
  unsigned x, y, z;
};

CALL(cudaGetDevice, (int *device), (device), )
CALL(cudaGetDeviceCount, (int *count), (count), )
CALL(cudaSetDevice, (int device), (device), )
CALL(cudaDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, device), )
CALL(cudaDeviceGetDefaultMemPool, (void **pool, int device), (pool, device), )
CALL(cudaMemPoolSetAttribute, (void *pool, int attribute, void *value), (pool, attribute, value), )
CALL(cudaStreamCreateWithFlags, (void **stream, unsigned flags), (stream, flags), MORE(streams))
CALL(cudaStreamCreateWithPriority, (void **stream, unsigned flags, int priority),
     (stream, flags, priority), MORE(streams))
CALL(cudaStreamDestroy, (void *stream), (stream), LESS(streams))
CALL(cudaStreamGetDevice, (void *stream, int *device), (stream, device), )
CALL(cudaStreamGetId, (void *stream, unsigned long long *id), (stream, id), )
CALL(cudaStreamIsCapturing, (void *stream, int *status), (stream, status), )
CALL(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags), )
CALL(cudaEventCreateWithFlags, (void **event, unsigned flags), (event, flags), MORE(events))
CALL(cudaEventRecord, (void *event, void *stream), (event, stream), )
CALL(cudaEventQuery, (void *event), (event), )
CALL(cudaEventDestroy, (void *event), (event), LESS(events))
CALL(cudaPointerGetAttributes, (void *attributes, const void *pointer), (attributes, pointer), )
CALL(cudaMemcpy, (void *to, const void *from, size_t bytes, int kind), (to, from, bytes, kind), )
CALL(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream),
     (to, from, bytes, kind, stream), )
CALL(cudaMemcpy2DAsync,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      int kind, void *stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream), )
CALL(cudaMemsetAsync, (void *start, int value, size_t bytes, void *stream),
     (start, value, bytes, stream), )
CALL(cudaMemset2DAsync,
     (void *start, size_t pitch, int value, size_t width, size_t height, void *stream),
     (start, pitch, value, width, height, stream), )
CALL(cudaMalloc, (void **memory, size_t bytes), (memory, bytes), MORE(device))
CALL(cudaMallocAsync, (void **memory, size_t bytes, void *stream), (memory, bytes, stream),
     MORE(device))
CALL(cudaMallocHost, (void **memory, size_t bytes), (memory, bytes), MORE(device))
CALL(cudaMallocManaged, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags),
     MORE(device))
CALL(cudaFree, (void *memory), (memory), LESS(device))
CALL(cudaFreeAsync, (void *memory, void *stream), (memory, stream), LESS(device))
CALL(cudaFreeHost, (void *memory), (memory), LESS(device))
CALL(cudaHostRegister, (void *start, size_t bytes, unsigned flags), (start, bytes, flags),
     MORE(page_locks))
CALL(cudaHostUnregister, (void *start), (start), LESS(page_locks))
CALL(cudaFuncSetAttribute, (const void *stub, int attribute, int value), (stub, attribute, value), )
CALL(cudaFuncGetAttributes, (void *attributes, const void *stub), (attributes, stub), )
CALL(cudaLaunchKernel,
     (const void *stub, struct extent grid, struct extent block, void **arguments, size_t shared,
      void *stream),
     (stub, grid, block, arguments, shared, stream), )
CALL(cudaLaunchKernelExC, (const void *configuration, const void *stub, void **arguments),
     (configuration, stub, arguments), )

CALL(cudaStreamBeginCapture, (void *stream, int mode), (stream, mode), )
CALL(cudaStreamEndCapture, (void *stream, void **graph), (stream, graph), MORE(graphs))
CALL(cudaStreamGetCaptureInfo,
     (void *stream, int *status, void *id, void *graph, void *nodes, void *edges, void *count),
     (stream, status, id, graph, nodes, edges, count), )
CALL(cudaGraphInstantiateWithFlags, (void **made, void *graph, unsigned long long flags),
     (made, graph, flags), MORE(graphs))
CALL(cudaGraphExecKernelNodeSetParams, (void *made, void *node, const void *parameters),
     (made, node, parameters), )
CALL(cudaGraphLaunch, (void *made, void *stream), (made, stream), )
CALL(cudaGraphExecDestroy, (void *made), (made), LESS(graphs))
CALL(cudaGraphDestroy, (void *graph), (graph), LESS(graphs))

// The driver's functions, which are found through the runtime.
#define DRIVER(name, parameters, arguments)                                                        \
  static int(*real_##name) parameters;                                                             \
  static int planted_##name parameters { return fails(#name) ? 999 : real_##name arguments; }
DRIVER(cuCtxGetDevice, (int *device), (device))
DRIVER(cuStreamIsCapturing, (void *stream, int *status), (stream, status))
DRIVER(cuGraphLaunch, (void *made, void *stream), (made, stream))
DRIVER(cuGraphKernelNodeGetParams, (void *node, void *parameters), (node, parameters))
DRIVER(cuKernelGetFunction, (void **function, void *kernel), (function, kernel))
DRIVER(cuGraphExecKernelNodeSetParams, (void *made, void *node, const void *parameters),
       (made, node, parameters))

static int plant(const char *name, void **function) {
  static const struct {
    const char *name;
    void *planted, *real;
  } wrapped[] = {
#define WRAPPED(name) {#name, (void *)planted_##name, (void *)&real_##name}
      WRAPPED(cuCtxGetDevice),
      WRAPPED(cuStreamIsCapturing),
      WRAPPED(cuGraphLaunch),
      WRAPPED(cuGraphKernelNodeGetParams),
      WRAPPED(cuKernelGetFunction),
      WRAPPED(cuGraphExecKernelNodeSetParams),
  };
  for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; ++i)
    if (*function && strcmp(wrapped[i].name, name) == 0) {
      __atomic_store_n((void **)wrapped[i].real, *function, __ATOMIC_RELAXED);
      *function = wrapped[i].planted;
    }
  return 0;
}
CALL(cudaGetDriverEntryPointByVersion,
     (const char *name, void **function, unsigned version, unsigned long long flags, int *status),
     (name, function, version, flags, status), plant(name, function))

// These tell of what failed before: nothing runs any more then.
int cudaStreamSynchronize(void *stream);
int planted_cudaStreamSynchronize(void *stream);
int planted_cudaStreamSynchronize(void *stream) {
  int rc = cudaStreamSynchronize(stream);
  return fails("cudaStreamSynchronize") ? 999 : rc;
}
int cudaDeviceSynchronize(void);
int planted_cudaDeviceSynchronize(void);
int planted_cudaDeviceSynchronize(void) {
  int rc = cudaDeviceSynchronize();
  return fails("cudaDeviceSynchronize") ? 999 : rc;
}

static void *counted(void *memory) {
  if (memory)
    MORE(host);
  return memory;
}

void *planted_malloc(size_t bytes);
void *planted_malloc(size_t bytes) { return fails("malloc") ? NULL : counted(malloc(bytes)); }
void *planted_calloc(size_t count, size_t bytes);
void *planted_calloc(size_t count, size_t bytes) {
  return fails("calloc") ? NULL : counted(calloc(count, bytes));
}
void *planted_realloc(void *memory, size_t bytes);
void *planted_realloc(void *memory, size_t bytes) {
  if (fails("realloc"))
    return NULL;
  void *grown = realloc(memory, bytes);
  return memory ? grown : counted(grown);
}
char *planted_strdup(const char *text);
char *planted_strdup(const char *text) { return fails("strdup") ? NULL : counted(strdup(text)); }
int planted_asprintf(char **text, const char *format, ...);
int planted_asprintf(char **text, const char *format, ...) {
  if (fails("asprintf"))
    return -1;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(text, format, arguments);
  va_end(arguments);
  counted(length < 0 ? NULL : *text);
  return length;
}
void planted_free(void *memory);
void planted_free(void *memory) {
  if (memory)
    LESS(host);
  free(memory);
}
