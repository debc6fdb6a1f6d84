// Counting what host programs allocate: see memory_counts.c.
#ifndef HIRC_MEMORY_COUNTS_H
#define HIRC_MEMORY_COUNTS_H

#include "hirc_runtime.h"

#include <stdatomic.h>
#include <stddef.h>

// The allocations that live, by address: a table of `room` places, a power of two, in which the
// place of an address is the first free one from its hash on.
struct memory_ledger {
  _Atomic int on;
  _Atomic int locked;
  struct hirc_memory_counts counts;
  struct counted_memory {
    void *memory; // NULL: free
    int64_t bytes;
  } *places;
  size_t room, used;
};

extern __attribute__((visibility("hidden"))) struct memory_ledger hirc_state_memory_ledger_1;

static inline int memory_is_counted(void) {
  return atomic_load_explicit(&hirc_state_memory_ledger_1.on, memory_order_relaxed);
}

void hirc_count_allocation(void *memory, int64_t bytes);
void hirc_count_deallocation(void *memory);

#endif
