// The memory of host programs' buffers: where it comes from, and how it goes back.
//
// Device memory is allocated and freed in the order of a stream, from the device's default pool,
// which keeps what is freed: the next call of a program then finds its memory there. Symmetric
// memory is device memory while a program has one device. Pinned and managed memory has no stream
// order in CUDA; it is freed once the stream is done.

#include "current_device.h"
#include "graphs.h"
#include "memory_counts.h"

#include <stdatomic.h>

struct memory_pools {
  _Atomic int keep[MAX_DEVICES]; // whether the device's pool keeps what is freed
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct memory_pools hirc_state_memory_pools_1;

// The pool of the device may keep all memory that is freed, instead of giving it back at the next
// synchronisation. Doing it twice does no harm.
__attribute__((cold, noinline)) static void keep_freed_memory(int device, const char *location) {
  uint64_t threshold = UINT64_MAX;
  cuda_memory_pool pool = NULL;
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool", location);
  check(cudaMemPoolSetAttribute(pool, CUDA_MEMORY_POOL_RELEASE_THRESHOLD, &threshold),
        "cudaMemPoolSetAttribute", location);
  wait_at_end();
  atomic_store_explicit(&hirc_state_memory_pools_1.keep[device], 1, memory_order_relaxed);
}

static void *allocate_on_device(size_t bytes, cuda_stream stream, const char *location) {
  int device = current_device(location);
  if (!atomic_load_explicit(&hirc_state_memory_pools_1.keep[device], memory_order_relaxed))
    keep_freed_memory(device, location);
  void *memory = NULL;
  check(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync", location);
  return memory;
}

__attribute__((cold, noinline)) static void *allocate_pinned(size_t bytes, const char *location) {
  void *memory = NULL;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost", location);
  return memory;
}

__attribute__((cold, noinline)) static void *allocate_managed(size_t bytes, const char *location) {
  void *memory = NULL;
  check(cudaMallocManaged(&memory, bytes, CUDA_MEMORY_ATTACH_GLOBAL), "cudaMallocManaged",
        location);
  return memory;
}

// How the memory of a call that failed goes back.
void hirc_release_on_device(void *memory, void *stream) {
  if (memory_is_counted())
    hirc_count_deallocation(memory);
  if (cudaFreeAsync(memory, stream) != 0)
    cudaFree(memory);
  cudaGetLastError();
}

static void release_pinned(void *memory, void *stream) {
  if (memory_is_counted())
    hirc_count_deallocation(memory);
  cudaStreamSynchronize(stream);
  cudaFreeHost(memory);
  cudaGetLastError();
}

// cudaFree takes memory of any other origin, and waits for the device.
static void release_any(void *memory, void *stream) {
  (void)stream;
  if (memory_is_counted())
    hirc_count_deallocation(memory);
  cudaFree(memory);
  cudaGetLastError();
}

// Memory of `kind` (one of the HIRC_MEMORY numbers), which what is put into `stream` from now on
// may use. Never NULL, also of no bytes.
void *hirc_allocate(int64_t bytes, int kind, void *stream, const char *location) {
  size_t wanted = bytes > 0 ? (size_t)bytes : 1;
  struct hirc_recorder *recorder = hirc_recorder();
  void *memory = NULL;
  if (__builtin_expect(recorder != NULL, 0)) {
    if (kind == HIRC_MEMORY_PINNED || kind == HIRC_MEMORY_MANAGED)
      hirc_graph_abandon(recorder);
    memory = hirc_graph_memory(recorder, &wanted, &stream);
    if (memory)
      return memory;
  }
  memory = kind == HIRC_MEMORY_PINNED    ? allocate_pinned(wanted, location)
           : kind == HIRC_MEMORY_MANAGED ? allocate_managed(wanted, location)
                                         : allocate_on_device(wanted, stream, location);
  if (__builtin_expect(memory_is_counted(), 0))
    hirc_count_allocation(memory, bytes);
  hirc_own(memory,
           kind == HIRC_MEMORY_PINNED    ? release_pinned
           : kind == HIRC_MEMORY_MANAGED ? release_any
                                         : hirc_release_on_device,
           HIRC_OBJECT, location);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_allocated(recorder, memory, wanted);
  return memory;
}

// The call has what gpu.alloc made, of whatever kind.
void hirc_own_device(void *memory, const char *location) {
  hirc_own(memory, release_any, HIRC_OBJECT, location);
}

__attribute__((cold, noinline)) static void free_after(int kind, void *memory, cuda_stream stream,
                                                       const char *location) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", location);
  if (kind == HIRC_MEMORY_PINNED)
    check(cudaFreeHost(memory), "cudaFreeHost", location);
  else
    check(cudaFree(memory), "cudaFree", location);
}

// Gives back what hirc_allocate gave, after all that is in `stream` now.
void hirc_free(void *memory, int kind, void *stream, const char *location) {
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    hirc_graph_frees(recorder, memory);
    return;
  }
  if (__builtin_expect(memory_is_counted(), 0))
    hirc_count_deallocation(memory);
  if (kind == HIRC_MEMORY_PINNED || kind == HIRC_MEMORY_MANAGED)
    free_after(kind, memory, stream, location);
  else
    check(cudaFreeAsync(memory, stream), "cudaFreeAsync", location);
  hirc_disown(memory, HIRC_OBJECT);
}

__attribute__((cold, noinline)) static void free_managed(int rc, void *memory, cuda_stream stream,
                                                         const char *location) {
  struct cuda_pointer_attributes found;
  cudaGetLastError(); // forget the failed call: nothing later may report it
  if (cudaPointerGetAttributes(&found, memory) == 0 && found.type == CUDA_MEMORY_MANAGED)
    free_after(HIRC_MEMORY_MANAGED, memory, stream, location);
  else
    check(rc, "cudaFreeAsync", location);
}

// Gives back what gpu.alloc gave, of whatever kind, after all that is in `stream` now.
void hirc_dealloc_async(void *memory, void *stream, const char *location) {
  int rc = cudaFreeAsync(memory, stream);
  if (__builtin_expect(rc != 0, 0))
    free_managed(rc, memory, stream, location);
  hirc_disown(memory, HIRC_OBJECT);
}
