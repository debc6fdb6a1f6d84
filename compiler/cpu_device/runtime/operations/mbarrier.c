// mbarrier objects (PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier").
//
// The encoding of the 8 bytes, from the lowest bit: pending arrivals (20), expected arrivals of the
// next phase (20), bytes of asynchronous copies still to come (22, signed, biased), the phase's
// parity (bit 63). Copies are made at once, so the last may go below zero before it is expected. A
// copy's bytes come a few at a time on a GPU, so a phase that expects fewer than come completes as
// they pass its number, and what is left counts for the next.
// The state that an arrival returns is the object as it was before.

#include "../checks/checks.h"
#include "lanes.h"
#include "operations.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT_BITS = 20, BYTES_BITS = 22 };
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define BYTES_MASK ((UINT64_C(1) << BYTES_BITS) - 1)
#define NO_BYTES (INT64_C(1) << (BYTES_BITS - 1))

struct mbarrier {
  uint32_t pending, expected;
  int32_t bytes;
  uint32_t parity;
};

static struct mbarrier unpack(uint64_t object) {
  return (struct mbarrier){
      .pending = (uint32_t)(object & COUNT_MASK),
      .expected = (uint32_t)(object >> COUNT_BITS & COUNT_MASK),
      .bytes = (int32_t)((int64_t)(object >> 2 * COUNT_BITS & BYTES_MASK) - NO_BYTES),
      .parity = (uint32_t)(object >> 63),
  };
}

static uint64_t pack(struct mbarrier it) {
  return (it.pending & COUNT_MASK) | (it.expected & COUNT_MASK) << COUNT_BITS |
         ((uint64_t)(it.bytes + NO_BYTES) & BYTES_MASK) << 2 * COUNT_BITS |
         (uint64_t)it.parity << 63;
}

// Changes the object and, where nothing is awaited any more, begins the next phase. Returns the
// object as it was.
static uint64_t change(uint64_t *barrier, uint32_t arrivals, uint32_t dropped, int32_t bytes) {
  hirc_checks_release(barrier);
  uint64_t old = __atomic_load_n(barrier, __ATOMIC_RELAXED), new;
  do {
    struct mbarrier it = unpack(old);
    it.expected -= dropped;
    it.pending -= arrivals;
    it.bytes += bytes;
    if (it.pending == 0 && it.bytes <= 0) {
      it.pending = it.expected;
      it.parity ^= 1;
    }
    new = pack(it);
  } while (!__atomic_compare_exchange_n(barrier, &old, new, true, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED));
  return old;
}

void hirc_mbarrier_init(uint64_t *barrier, uint32_t count) {
  hirc_checks_access(barrier, sizeof *barrier, HIRC_CHECKED_WRITE);
  __atomic_store_n(barrier, pack((struct mbarrier){count, count, 0, 0}), __ATOMIC_RELEASE);
}

void hirc_mbarrier_inval(uint64_t *barrier) { __atomic_store_n(barrier, 0, __ATOMIC_RELEASE); }

uint64_t hirc_mbarrier_arrive(uint64_t *barrier, uint32_t count) {
  return change(barrier, count, 0, 0);
}

uint64_t hirc_mbarrier_arrive_drop(uint64_t *barrier, uint32_t count) {
  return change(barrier, count, count, 0);
}

uint64_t hirc_mbarrier_arrive_expect_tx(uint64_t *barrier, uint32_t bytes) {
  return change(barrier, 1, 0, (int32_t)bytes);
}

uint64_t hirc_mbarrier_arrive_drop_expect_tx(uint64_t *barrier, uint32_t bytes) {
  return change(barrier, 1, 1, (int32_t)bytes);
}

void hirc_mbarrier_expect_tx(uint64_t *barrier, uint32_t bytes) {
  change(barrier, 0, 0, (int32_t)bytes);
}

void hirc_mbarrier_complete_tx(uint64_t *barrier, uint32_t bytes) {
  change(barrier, 0, 0, -(int32_t)bytes);
}

uint32_t hirc_mbarrier_pending_count(uint64_t state) { return unpack(state).pending; }

void hirc_mbarrier_describe(const uint64_t *barrier, char *text, size_t room) {
  struct mbarrier it = unpack(__atomic_load_n(barrier, __ATOMIC_RELAXED));
  int used = snprintf(text, room, "%u of %u arrivals", it.pending, it.expected);
  if (it.bytes > 0 && used > 0 && (size_t)used < room) {
    snprintf(text + used, room - (size_t)used, " and %d more bytes", it.bytes);
  }
}

enum { P_PARITY, P_MOST_POLLS };

// How often the threads of a block have polled. Blocks that take turns on one worker share it, so
// that one may be answered early: a false answer is right at any time. Not in thread-local storage
// itself: a shared library that is loaded late may have little of it.
static _Thread_local uint32_t *polls;

void hirc_mbarrier_release_thread(void);
void hirc_mbarrier_release_thread(void) { free(polls); }

static bool polls_once_more(uint32_t thread, uint32_t most) {
  if (!polls && !(polls = calloc(HIRC_MAX_THREADS, sizeof *polls)))
    return false;
  return ++polls[thread % HIRC_MAX_THREADS] < most;
}

// A phase has completed where the object's parity is no longer the phase's.
bool hirc_poll_mbarrier(const struct hirc_stop_call *call) {
  uint32_t lane = first_lane(call), thread = call->first_thread + lane;
  const uint64_t *barrier = read_pointer(call, 0, lane);
  uint64_t phase = read_integer(lane_slot(call, 1, lane), slot_bytes(call, 1));
  uint32_t parity = parameter(call, P_PARITY) ? phase & 1 : unpack(phase).parity;
  bool complete = unpack(__atomic_load_n(barrier, __ATOMIC_ACQUIRE)).parity != parity;
  uint32_t most = (uint32_t)parameter(call, P_MOST_POLLS);
  if (!complete && (!most || polls_once_more(thread, most)))
    return false;
  if (polls)
    polls[thread % HIRC_MAX_THREADS] = 0;
  if (complete)
    hirc_checks_acquire(call->block, thread, barrier);
  if (call->stop->result_count)
    *lane_slot(call, result_slot(call), lane) = complete;
  return true;
}
