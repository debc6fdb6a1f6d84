// The plans that the calls of one place leave for the next: matrix products' and convolutions'.
//
// A thread takes a plan out, uses it and puts it back, so that threads at one place never share
// one; a second thread makes its own.
#ifndef HIRC_KEPT_PLANS_H
#define HIRC_KEPT_PLANS_H

#include "hirc_runtime.h"

#include <stdatomic.h>
#include <string.h>

enum { PLAN_MOST_EXTENTS = 96 };

// What a plan was made for. Each plan begins with it.
struct plan_key {
  int64_t extents[PLAN_MOST_EXTENTS];
  uint64_t alignments; // of the operands, where they count
  int device;
};

// Frees a plan; one of a call that fails, too (calls.h).
typedef void plan_release(void *plan, void *stream);

// Keeps a plan; where there is no room, in the place of the oldest.
static inline void plan_put_back(struct hirc_plan_cache *cache, void *plan,
                                 plan_release *release) {
  for (int i = 0; i < HIRC_PLANS; ++i) {
    void *empty = NULL;
    if (atomic_compare_exchange_strong_explicit(&cache->plans[i], &empty, plan,
                                                memory_order_release, memory_order_relaxed))
      return;
  }
  unsigned next = atomic_fetch_add_explicit(&cache->turn, 1, memory_order_relaxed);
  void *oldest =
      atomic_exchange_explicit(&cache->plans[next % HIRC_PLANS], plan, memory_order_acq_rel);
  if (oldest)
    release(oldest, NULL);
}

// Returns a plan that was made for just this, now the caller's; NULL where none is there.
static inline void *plan_take(struct hirc_plan_cache *cache, const int64_t *extents, size_t bytes,
                              uint64_t alignments, int device, plan_release *release) {
  for (int i = 0; i < HIRC_PLANS; ++i) {
    struct plan_key *key = atomic_exchange_explicit(&cache->plans[i], NULL, memory_order_acquire);
    if (!key)
      continue;
    if (key->alignments == alignments && key->device == device &&
        memcmp(key->extents, extents, bytes) == 0)
      return key;
    plan_put_back(cache, key, release);
  }
  return NULL;
}

#endif
