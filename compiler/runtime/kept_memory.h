// The memory that programs keep from call to call: weights, see weights.c, and states, see state.c.
// What this says is enough to know that it is where it was.
#ifndef HIRC_KEPT_MEMORY_H
#define HIRC_KEPT_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

struct hirc_instance;

// State: see streams.c. How often any was given back, and the instance that the thread's calls use.
__attribute__((weak, visibility("hidden"))) _Atomic uint64_t hirc_state_kept_memory_1;
__attribute__((weak, visibility("hidden"))) _Thread_local struct hirc_instance
    *hirc_state_instance_1;

static inline uint64_t hirc_kept_memory_version(void) {
  return atomic_load_explicit(&hirc_state_kept_memory_1, memory_order_acquire);
}

static inline void hirc_kept_memory_goes(void) { atomic_fetch_add(&hirc_state_kept_memory_1, 1); }

#endif
