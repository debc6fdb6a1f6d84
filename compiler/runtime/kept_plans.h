// The plans that the calls of one place leave for the next: matrix products' and convolutions'.
//
// A thread takes a plan out, uses it and puts it back, so that threads at one place never share
// one; a second thread makes its own.
#ifndef HIRC_KEPT_PLANS_H
#define HIRC_KEPT_PLANS_H

#include <stdatomic.h>
#include <stddef.h>

// Keeps a plan; where there is no room, in the place of the oldest.
static inline void plan_put_back(void *_Atomic *plans, int count, _Atomic unsigned *turn,
                                 void *plan, void (*release)(void *)) {
  for (int i = 0; i < count; ++i) {
    void *empty = NULL;
    if (atomic_compare_exchange_strong_explicit(&plans[i], &empty, plan, memory_order_release,
                                                memory_order_relaxed))
      return;
  }
  unsigned next = atomic_fetch_add_explicit(turn, 1, memory_order_relaxed);
  void *oldest =
      atomic_exchange_explicit(&plans[next % (unsigned)count], plan, memory_order_acq_rel);
  if (oldest)
    release(oldest);
}

#endif
