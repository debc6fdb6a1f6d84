// The workspace of matrix products and convolutions: one for each device and stream, allocated in the stream's order
// by the first one that needs it, kept for the following ones, and freed at the end of the
// program.
//
// Some calls get memory of their own, which is freed after them in the stream's order: those that
// need more; those beyond the streams that the table has room for; those on the stream that is another one in each thread;
// and those that are captured into a graph, which may run beside the stream that it was captured from.

#include "matmul_workspace.h"
#include "current_device.h"
#include "graphs.h"

#include <stdatomic.h>

enum { STREAMS = 256, PROBED = 16 };

// Handles of the streams that CUDA has by itself: the default stream is 0 and 1, and cannot be
// captured; that of each thread is 2.
enum { STREAM_LEGACY = 1, STREAM_PER_THREAD = 2 };

// An entry is its key's for good. `memory` is NULL until it is allocated.
struct workspace_entry {
  _Atomic uintptr_t key;
  _Atomic(void *) memory;
};

struct matmul_workspaces {
  struct workspace_entry entries[STREAMS];
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct matmul_workspaces hirc_state_matmul_workspaces_1;

// Never 0. Addresses of streams leave the upper bits free for the device.
static uintptr_t key_of(int device, cuda_stream stream) {
  return (uintptr_t)stream ^ (uintptr_t)(device + 1) << 56;
}

// The entry of a key, taken from the free ones where it has none; NULL where there is no room.
static struct workspace_entry *find_entry(uintptr_t key) {
  uintptr_t hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  for (int i = 0; i < PROBED; ++i) {
    struct workspace_entry *entry =
        &hirc_state_matmul_workspaces_1.entries[(hash + (uintptr_t)i) % STREAMS];
    uintptr_t found = atomic_load_explicit(&entry->key, memory_order_acquire);
    if (found == 0 && atomic_compare_exchange_strong(&entry->key, &found, key))
      return entry;
    if (found == key)
      return entry;
  }
  return NULL;
}

static void free_all(const char *location) {
  for (int i = 0; i < STREAMS; ++i) {
    struct workspace_entry *entry = &hirc_state_matmul_workspaces_1.entries[i];
    void *memory = atomic_exchange(&entry->memory, NULL);
    if (memory)
      check(cudaFree(memory), "cudaFree", location);
  }
}

static void *allocate(size_t bytes, cuda_stream stream, const char *location) {
  void *memory = NULL;
  check(cudaMallocAsync(&memory, bytes, stream), "cudaMallocAsync", location);
  hirc_own(memory, hirc_release_on_device, HIRC_OBJECT, location);
  return memory;
}

__attribute__((cold, noinline)) static void *fill_entry(struct workspace_entry *entry,
                                                        cuda_stream stream,
                                                        const char *location) {
  void *created = allocate(MATMUL_WORKSPACE_BYTES, stream, location), *present = NULL;
  __atomic_store_n(&hirc_state_free_at_end_1, &free_all, __ATOMIC_RELEASE);
  bool is_kept = atomic_compare_exchange_strong(&entry->memory, &present, created);
  if (!is_kept)
    check(cudaFreeAsync(created, stream), "cudaFreeAsync", location);
  hirc_disown(created, HIRC_OBJECT);
  return is_kept ? created : present;
}

static bool is_captured(cuda_stream stream, const char *location) {
  int status = 0;
  if ((uintptr_t)stream > STREAM_LEGACY)
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing", location);
  return status != 0;
}

struct matmul_workspace hirc_matmul_workspace(size_t bytes, int device, void *stream,
                                              const char *location) {
  if (hirc_recorder())
    return (struct matmul_workspace){
        hirc_allocate((int64_t)bytes, HIRC_MEMORY_DEVICE, stream, location), false};
  bool is_shared = bytes <= MATMUL_WORKSPACE_BYTES && (uintptr_t)stream != STREAM_PER_THREAD &&
                   !is_captured(stream, location);
  struct workspace_entry *entry = is_shared ? find_entry(key_of(device, stream)) : NULL;
  if (!entry)
    return (struct matmul_workspace){allocate(bytes, stream, location), false};
  void *memory = atomic_load_explicit(&entry->memory, memory_order_acquire);
  if (__builtin_expect(!memory, 0))
    memory = fill_entry(entry, stream, location);
  return (struct matmul_workspace){memory, true};
}

void hirc_matmul_workspace_done(struct matmul_workspace workspace, void *stream,
                                const char *location) {
  if (!workspace.memory || workspace.is_kept)
    return;
  if (hirc_recorder()) {
    hirc_free(workspace.memory, HIRC_MEMORY_DEVICE, stream, location);
    return;
  }
  check(cudaFreeAsync(workspace.memory, stream), "cudaFreeAsync", location);
  hirc_disown(workspace.memory, HIRC_OBJECT);
}
