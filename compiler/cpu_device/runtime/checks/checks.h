// Checks that a GPU does not make: what the rest of the runtime calls.
//
// Device code built with --check=memory or --check=race calls the functions of access.c before each
// access (compiler/cpu_device/instrument.py). A program with such kernels runs in *check mode* from
// its start: memory has a shadow that says what may be read (shadow.c), what is enqueued waits
// until somebody waits for it, and memory of the device is out of the host's reach (pending.c).
#ifndef HIRC_CHECKS_H
#define HIRC_CHECKS_H

#include "../device_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  HIRC_CHECK_MEMORY = 1,
  HIRC_CHECK_RACE = 2,
  HIRC_CHECK_ORDER = 4, // races of commands in global memory: as HIRC_CHECK_RACE, if that can be
};

// What is checked in this process; does not change after the program's constructors.
extern unsigned hirc_checks;

static inline bool hirc_checks_memory(void) {
  return __builtin_expect((hirc_checks & HIRC_CHECK_MEMORY) != 0, 0);
}
static inline bool hirc_checks_race(void) {
  return __builtin_expect((hirc_checks & HIRC_CHECK_RACE) != 0, 0);
}

static inline bool hirc_checks_order(void) {
  return __builtin_expect((hirc_checks & HIRC_CHECK_ORDER) != 0, 0);
}
// Whether allocations are those of checked_allocation.c.
static inline bool hirc_checks_allocations(void) {
  return __builtin_expect((hirc_checks & (HIRC_CHECK_MEMORY | HIRC_CHECK_ORDER)) != 0, 0);
}

// The library is being unloaded: gives back all addresses that a
// checked program's memory may have.
void hirc_checks_end(void);

struct hirc_block;
struct hirc_stop_call;
struct hirc_command;
struct hirc_stream;

// --- pending work: stream.c ----------------------------------------------------------------------

// A command has been enqueued: the host may not touch what it uses any more.
void hirc_checks_enqueued(struct hirc_command *command);
// Around waiting for points: what is needed for them is told, then started. Waits may be nested.
void hirc_checks_begin_wait(void);
void hirc_checks_need(struct hirc_stream *stream, uint64_t position);
void hirc_checks_start(void);
void hirc_checks_end_wait(void);
// For a worker whose kernels can only go on if more is allowed: asks those who wait to allow all,
// which they do now and then. False if nothing is pending.
bool hirc_checks_want_all(void);
void hirc_checks_allow_wanted(void);

// --- the order of commands, with HIRC_CHECK_ORDER: stream.c -------------------------------------

// A command, which waits for the position of another stream if there is one, is about to be
// enqueued; the stream is locked.
void hirc_order_enqueueing(struct hirc_stream *stream, struct hirc_stream *after,
                           uint64_t position);
// Whether what is enqueued next comes after that position of the other stream anyway.
bool hirc_order_awaits(struct hirc_stream *stream, struct hirc_stream *other, uint64_t position);
// The host has waited for this.
void hirc_order_waited(struct hirc_stream *stream, uint64_t position);
// Whether the host has waited for all that is in the stream.
bool hirc_order_is_settled(struct hirc_stream *stream);
// Runs the stream's command of that position.
void hirc_order_run(struct hirc_stream *stream, struct hirc_command *command, uint64_t position);
// After fork(), in the child.
void hirc_order_forget_running(void);

// The running command frees this memory.
void hirc_checks_freed(void *start);

// --- memory of the host's calls: copies.c and fills.c -------------------------------------------

// Around whatever accesses memory of the device for a command or a call: lets it.
void hirc_checks_open(void);
void hirc_checks_close(void);

// Whether the host may have that much memory copied or filled; otherwise says what is wrong with
// it. `what` is for messages: "source of a copy".
bool hirc_checks_host_range(const void *address, size_t bytes, const char *what);

// What a copied row or a fill did.
void hirc_checks_copied(void *to, const void *from, size_t bytes);
void hirc_checks_filled(void *to, size_t bytes);
// What another process was sent; what one has sent is a fill.
void hirc_checks_sent(const void *from, size_t bytes);

// --- the engine ----------------------------------------------------------------------------------

// A block begins: what its shared memory held is gone.
void hirc_checks_block_begin(struct hirc_block *block);
// These lanes of a warp have met; all threads of a block have; these threads have at a barrier.
void hirc_checks_warp_met(struct hirc_block *block, uint32_t first_thread, hirc_lane_set lanes);
void hirc_checks_block_met(struct hirc_block *block);
void hirc_checks_barrier_arrived(struct hirc_block *block, uint32_t thread, uint32_t barrier);
void hirc_checks_barrier_passed(struct hirc_block *block, const hirc_lane_set *lanes_of_warps,
                                uint32_t warps, uint32_t barrier);
// All threads of the block's cluster have met; all threads of the block have ended.
void hirc_checks_cluster_met(struct hirc_block *block);
void hirc_checks_block_ended(struct hirc_block *block);

// --- operations of device code implemented in C --------------------------------------------------

enum hirc_check_kind { HIRC_CHECKED_READ, HIRC_CHECKED_WRITE };

// An operation is about to access memory. The first is for functions that generated code calls, in
// the name of the thread that called hirc_check_operation last; the second for a lane at a stop.
void hirc_checks_access(const void *address, size_t bytes, enum hirc_check_kind kind);
void hirc_checks_lane_access(const struct hirc_stop_call *call, uint32_t lane, const void *address,
                             size_t bytes, enum hirc_check_kind kind);
// A thread releases or acquires what an object in shared memory, an mbarrier, stands for.
void hirc_checks_release(const void *object);
void hirc_checks_acquire(struct hirc_block *block, uint32_t thread, const void *object);

// malloc and free of device code; the latter returns the bytes freed.
void *hirc_checks_device_malloc(size_t bytes);
size_t hirc_checks_device_free(struct hirc_block *block, uint32_t thread, void *pointer);

#endif
