// Stands between a library's host code and the CPU device, and makes two devices of it: streams,
// events, memory and graphs belong to the one that was current where they were made, and are refused
// on the other as CUDA refuses them. The library is built of LLVM IR in which these calls have been
// renamed to two_NAME.

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
enum { MOST = 1 << 14, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };
enum { INVALID_HANDLE = 400, LAST_NUMBERED_STREAM = 2 };

EXPORT int64_t two_live[2];   // allocations on each
EXPORT int64_t two_launches[2];
EXPORT int64_t two_wrong;     // memory that was freed on the other device
EXPORT int64_t two_unordered; // stream-ordered memory that was freed without any order
static _Thread_local int current;
static _Thread_local int has_context; // which the runtime makes, and the driver wants
static _Thread_local int waited; // a bit for each device that nothing was launched on since

struct owned {
  const void *what;
  int device, is_ordered;
};
static struct owned all[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void own(const void *what, int is_ordered) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; ++i)
    if (!all[i].what) {
      all[i] = (struct owned){what, current, is_ordered};
      break;
    }
  pthread_mutex_unlock(&lock);
}

// Where a stream or an event is of, or memory, which it is no longer where it `goes`.
static struct owned find(const void *what, int goes) {
  struct owned found = {NULL, current, 0};
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; ++i)
    if (what && all[i].what == what) {
      found = all[i];
      if (goes)
        all[i].what = NULL;
      break;
    }
  pthread_mutex_unlock(&lock);
  return found;
}

static int of_stream(const void *stream) {
  return (uintptr_t)stream <= LAST_NUMBERED_STREAM ? current : find(stream, 0).device;
}

#define CALL(name, parameters, arguments, is_refused, effect)                                      \
  int name parameters;                                                                             \
  int two_##name parameters;                                                                       \
  int two_##name parameters {                                                                      \
    if (is_refused)                                                                                \
      return INVALID_HANDLE;                                                                       \
    int rc = name arguments;                                                                       \
    if (rc == 0) {                                                                                 \
      effect;                                                                                      \
    }                                                                                              \
    return rc;                                                                                     \
  }
#define ADD(counter, count) __atomic_add_fetch(&(counter), count, __ATOMIC_RELAXED)

EXPORT int two_cudaSetDevice(int device);
int two_cudaSetDevice(int device) {
  if (device < 0 || device > 1)
    return INVALID_DEVICE;
  current = device;
  has_context = 1;
  return 0;
}
int two_cudaGetDevice(int *device);
int two_cudaGetDevice(int *device) {
  *device = current;
  return 0;
}

static void allocated(void *memory, int is_ordered) {
  own(memory, is_ordered);
  ADD(two_live[current], 1);
}
static void freed(struct owned memory, int device, int is_ordered) {
  if (!memory.what)
    return;
  ADD(two_live[memory.device], -1);
  if (memory.device != device)
    ADD(two_wrong, 1);
  if (memory.is_ordered && !is_ordered && !(waited >> memory.device & 1))
    ADD(two_unordered, 1);
}
static void launched(int device) {
  waited &= ~(1 << device);
  ADD(two_launches[device], 1);
}

struct extent {
  unsigned x, y, z;
};
CALL(cudaDeviceGetAttribute, (int *value, int attribute, int device), (value, attribute, 0),
     device != current, )
CALL(cudaDeviceGetDefaultMemPool, (void **pool, int device), (pool, 0), device != current, )
CALL(cudaStreamCreateWithFlags, (void **stream, unsigned flags), (stream, flags), 0,
     own(*stream, 0))
CALL(cudaStreamDestroy, (void *stream), (stream), 0, find(stream, 1))
CALL(cudaEventCreateWithFlags, (void **event, unsigned flags), (event, flags), 0, own(*event, 0))
CALL(cudaEventDestroy, (void *event), (event), 0, find(event, 1))
CALL(cudaEventRecord, (void *event, void *stream), (event, stream),
     find(event, 0).device != of_stream(stream), )
CALL(cudaMalloc, (void **memory, size_t bytes), (memory, bytes), 0, allocated(*memory, 0))
CALL(cudaMallocAsync, (void **memory, size_t bytes, void *stream), (memory, bytes, stream),
     of_stream(stream) != current, allocated(*memory, 1))
CALL(cudaLaunchKernel,
     (const void *stub, struct extent grid, struct extent block, void **arguments, size_t shared,
      void *stream),
     (stub, grid, block, arguments, shared, stream), of_stream(stream) != current,
     launched(current))
CALL(cudaGraphInstantiateWithFlags, (void **made, void *graph, unsigned long long flags),
     (made, graph, flags), 0, own(*made, 0))
CALL(cudaGraphExecDestroy, (void *made), (made), 0, find(made, 1))
CALL(cudaGraphLaunch, (void *made, void *stream), (made, stream),
     find(made, 0).device != of_stream(stream), launched(of_stream(stream)))

int cudaFree(void *memory);
int two_cudaFree(void *memory);
int two_cudaFree(void *memory) {
  struct owned found = find(memory, 1);
  freed(found, found.device, 0);
  return cudaFree(memory);
}
int cudaFreeAsync(void *memory, void *stream);
int two_cudaFreeAsync(void *memory, void *stream);
int two_cudaFreeAsync(void *memory, void *stream) {
  freed(find(memory, 1), of_stream(stream), 1);
  return cudaFreeAsync(memory, stream);
}
int cudaDeviceSynchronize(void);
int two_cudaDeviceSynchronize(void);
int two_cudaDeviceSynchronize(void) {
  waited |= 1 << current;
  return cudaDeviceSynchronize();
}

static int get_device_by_driver(int *device) {
  return has_context ? two_cudaGetDevice(device) : INVALID_CONTEXT;
}
static int launch_by_driver(void *made, void *stream) {
  return has_context ? two_cudaGraphLaunch(made, stream) : INVALID_CONTEXT;
}
int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *status);
int two_cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                         unsigned long long flags, int *status);
int two_cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                         unsigned long long flags, int *status) {
  int rc = cudaGetDriverEntryPointByVersion(name, function, version, flags, status);
  if (strcmp(name, "cuCtxGetDevice") == 0)
    *function = (void *)get_device_by_driver;
  if (strcmp(name, "cuGraphLaunch") == 0)
    *function = (void *)launch_by_driver;
  return rc;
}
