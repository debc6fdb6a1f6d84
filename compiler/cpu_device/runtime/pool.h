// The pool's threads: tasks go to one of them each, shared work to all that are idle.
#ifndef HIRC_POOL_H
#define HIRC_POOL_H

#include "execution.h"

// Work that idle threads of the pool join while its owner does it. Belongs to the owner.
struct hirc_shared_work {
  void (*run)(struct hirc_shared_work *work);
  struct hirc_shared_work *next;
  unsigned wanted;    // threads that may still join
  unsigned running;   // threads that have joined
  bool is_waited_for; // its owner waits for these
};

// Asks for up to `helpers` threads. They join as they become idle.
void hirc_pool_share(struct hirc_shared_work *work, unsigned helpers);
// Takes the work back: no thread joins any more, and those that have are through.
void hirc_pool_unshare(struct hirc_shared_work *work);
// The calling thread waits for what other tasks do: if one of them waits for a thread, it gets one.
void hirc_pool_reinforce(void);
// Around what may hold the calling thread up for any time: functions of the host.
void hirc_pool_begin_outside(void);
void hirc_pool_end_outside(void);

// Tasks taken up so far, as a number that only grows.
uint64_t hirc_pool_taken(void);
// Threads that do something, or wait inside of what they do; 0 where a task or shared work is on
// offer. Those that wait for their helpers do not count.
unsigned hirc_pool_busy(void);
// All threads of the pool.
unsigned hirc_pool_threads(void);

// Ends all threads once they are through with what they do; what is queued stays. For a library that
// is being unloaded.
void hirc_pool_end(void);
// Whether they are to end: what only waits is left.
bool hirc_pool_closes(void);

// engine.c: the calling thread of the pool ends.
void hirc_worker_ends(void);
// quiet.c: the pool's threads are gone.
void hirc_quiet_forget(void);

static inline void hirc_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

uint64_t hirc_nanoseconds(void);

#endif
