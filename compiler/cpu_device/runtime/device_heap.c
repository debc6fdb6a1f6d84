// malloc and free of device code: the host's heap, within the limit of cudaLimitMallocHeapSize.
#include "checks/checks.h"
#include "device_abi.h"
#include "device_heap.h"

#include <stdatomic.h>
#include <stdlib.h>

// CUDA's default (CUDA C++ Programming Guide, "Heap Memory Allocation").
static _Atomic uint64_t limit = UINT64_C(8) << 20;
static _Atomic uint64_t used;

// Before each allocation; keeps what follows aligned to 16 bytes.
struct header {
  uint64_t bytes;
  uint64_t padding;
};

void hirc_device_heap_set_limit(uint64_t bytes) { atomic_store(&limit, bytes); }
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
  atomic_fetch_sub_explicit(&used, header->bytes, memory_order_relaxed);
  free(header);
}
