// malloc and free of device code: the host's heap, within the limit of cudaLimitMallocHeapSize.
#include "checks/checks.h"
#include "device_heap.h"
#include "engine.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { LEAST_LIMIT = 4 << 20 }; // as on an H200

// CUDA's default (CUDA C++ Programming Guide, "Heap Memory Allocation").
static _Atomic uint64_t limit = UINT64_C(8) << 20;
static _Atomic uint64_t used;

#define MAGIC UINT64_C(0x6869726368656170)

// Before each allocation; keeps what follows aligned to 16 bytes.
struct header {
  uint64_t bytes;
  uint64_t mark; // MAGIC mixed with the address
};

static uint64_t mark_of(const struct header *header) { return MAGIC ^ (uintptr_t)header; }

void hirc_device_heap_set_limit(uint64_t bytes) {
  atomic_store(&limit, bytes < LEAST_LIMIT ? LEAST_LIMIT : bytes);
}
uint64_t hirc_device_heap_limit(void) { return atomic_load(&limit); }

void *hirc_device_malloc(struct hirc_block *block, uint32_t thread, uint64_t bytes) {
  (void)block;
  (void)thread;
  uint64_t most = atomic_load_explicit(&limit, memory_order_relaxed);
  if (bytes == 0 || bytes > most) {
    return NULL;
  }
  if (atomic_fetch_add_explicit(&used, bytes, memory_order_relaxed) + bytes > most) {
    atomic_fetch_sub_explicit(&used, bytes, memory_order_relaxed);
    return NULL;
  }
  if (hirc_checks_memory()) {
    return hirc_checks_device_malloc(bytes);
  }
  struct header *header = malloc(sizeof *header + bytes);
  if (header == NULL) {
    atomic_fetch_sub_explicit(&used, bytes, memory_order_relaxed);
    return NULL;
  }
  header->bytes = bytes;
  header->mark = mark_of(header);
  return header + 1;
}

void hirc_device_free(struct hirc_block *block, uint32_t thread, void *pointer) {
  if (pointer == NULL) {
    return;
  }
  if (hirc_checks_memory()) {
    uint64_t bytes = hirc_checks_device_free(block, thread, pointer);
    atomic_fetch_sub_explicit(&used, bytes, memory_order_relaxed);
    return;
  }
  struct header *header = (struct header *)pointer - 1;
  if (header->mark != mark_of(header)) {
    hirc_device_abort(block, thread, HIRC_ERROR_LAUNCH_FAILURE); // as a second free on an H200
  }
  header->mark = 0;
  atomic_fetch_sub_explicit(&used, header->bytes, memory_order_relaxed);
  free(header);
}
