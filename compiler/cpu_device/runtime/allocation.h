// All memory that programs allocate through CUDA's calls: create, free, find by address. The one
// interface behind which memory is laid out; see allocation.c.
#ifndef HIRC_ALLOCATION_H
#define HIRC_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hirc_memory {
  HIRC_MEMORY_DEVICE = 1,
  HIRC_MEMORY_MANAGED = 2,
  HIRC_MEMORY_HOST = 4,       // page-locked, allocated
  HIRC_MEMORY_REGISTERED = 8, // page-locked, the program's own
  HIRC_MEMORY_ORDERED = 16,   // device memory of cudaMallocAsync
  HIRC_MEMORY_RETIRED = 32,   // such memory, freed in a stream that may still use it
};

struct hirc_allocation {
  char *start;
  size_t bytes;
  enum hirc_memory memory;
  unsigned flags; // what the caller passed
};

struct hirc_memory_usage {
  size_t limit; // of device and managed memory
  size_t used;
  size_t used_high;
  size_t ordered; // of what is used: that of cudaMallocAsync
  size_t cached; // mapped for blocks that are free
};

// Memory at a multiple of 512 bytes, of undefined contents; NULL if there is not enough.
void *hirc_allocation_create(enum hirc_memory memory, size_t bytes, unsigned flags);

// Enters memory that the program owns; false if part of it is entered already.
bool hirc_allocation_register(void *start, size_t bytes, unsigned flags);

// Frees what starts at this address if it is of one of the kinds in `memory`. Keeps large memory
// mapped for a later allocation where `keep`.
bool hirc_allocation_free(void *start, unsigned memory, bool keep);

// Retires device memory: it is found no more, and not used again until it is revived or freed as
// retired memory. `block_bytes` is how much it may be revived with.
bool hirc_allocation_retire(void *start, size_t *block_bytes);
void hirc_allocation_revive(void *start, size_t bytes);
size_t hirc_allocation_block_bytes(size_t bytes);

// Finds the live allocation that the address lies in.
bool hirc_allocation_find(const void *address, struct hirc_allocation *found);

void hirc_allocation_usage(struct hirc_memory_usage *usage);
void hirc_allocation_reset_high(void);

// Unmaps cached memory until at most `keep` bytes of it are left.
void hirc_allocation_trim(size_t keep);

// Gives back all memory that is free, for a library that is being unloaded.
void hirc_allocation_end(void);

// Frees everything of the kinds in `memory`.
void hirc_allocation_free_all(unsigned memory);

#endif
