// MLIR's memref descriptors as C sees them: what the LLVM dialect's struct types look like in
// memory on a target with 64-bit index.
#ifndef HIRC_MEMREF_H
#define HIRC_MEMREF_H

#include <stdint.h>

// The head of every ranked descriptor; int64_t sizes[rank] and int64_t strides[rank] follow it.
// Offset and strides count elements.
struct memref_descriptor {
  void *allocated;
  void *aligned;
  int64_t offset;
  int64_t sizes_and_strides[];
};

struct unranked_memref {
  int64_t rank;
  struct memref_descriptor *descriptor;
};

static inline const int64_t *memref_sizes(const struct memref_descriptor *descriptor) {
  return descriptor->sizes_and_strides;
}

static inline const int64_t *memref_strides(const struct memref_descriptor *descriptor,
                                            int64_t rank) {
  return descriptor->sizes_and_strides + rank;
}

// The address of the element whose indices are all 0.
static inline char *memref_first_element(const struct memref_descriptor *descriptor,
                                         int64_t element_bytes) {
  return (char *)descriptor->aligned + descriptor->offset * element_bytes;
}

#endif
