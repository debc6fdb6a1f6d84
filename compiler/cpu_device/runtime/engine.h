// The engine's own structures: a block and a cluster in flight, a worker, and a grid being run.
//
// A cluster (mostly of one block) is run by one worker at a time. All its state is data, so that a
// cluster that can only wait is put aside and taken up again later. A block runs in one of two
// ways: *whole*, all its threads from one block barrier to the next, while they stay together; or
// *by warps*, once they do not, or if the kernel has stops of warps.
#ifndef HIRC_ENGINE_H
#define HIRC_ENGINE_H

#include "checks/checks.h"
#include "execution.h"

#include <setjmp.h>
#include <stdatomic.h>

enum {
  HIRC_MAX_WARPS = HIRC_MAX_THREADS / HIRC_WARP_SIZE,
  HIRC_BARRIERS = 16,
  HIRC_PASSES = 8,
  HIRC_TURNS = 8, // of a thread that are remembered
  HIRC_ERROR_ILLEGAL_ADDRESS = 700,
  HIRC_ERROR_OUT_OF_RESOURCES = 701,
  HIRC_ERROR_ASSERT = 710,
  HIRC_ERROR_LAUNCH_FAILURE = 719,
};

// A warp of a block that is run by warps. A lane is *ready* to run the region of its state, or has
// *ended*, or waits at the stop of its state.
struct hirc_warp {
  hirc_lane_set exists; // all lanes, but for a block's last warp
  hirc_lane_set ready;
  hirc_lane_set ended;
  hirc_lane_set idle; // of those that wait: at a poll or a yield
  uint32_t committed; // groups of wgmma
  uint8_t passes; // stops that led on since a lane was last idle, up to HIRC_PASSES
  // All lanes have this state, their `next` is not kept, none has ended.
  bool uniform;
  uint16_t state;
};

struct hirc_barrier {
  uint32_t waiting; // threads stopped at it
  uint32_t arrived; // threads that went on
  uint32_t expected;
};

struct hirc_running_block {
  struct hirc_block block; // what generated code sees; first
  struct hirc_cluster *cluster;
  uint32_t ended; // threads
  uint32_t warp_count;
  bool by_warps;
  bool barrier_used[HIRC_BARRIERS];
  struct hirc_barrier barriers[HIRC_BARRIERS];
  struct hirc_warp warps[HIRC_MAX_WARPS];
  // For each thread: 0, or 1 + the parity of the cluster's phase that it has arrived in.
  uint8_t cluster_arrival[HIRC_MAX_THREADS];
  bool cluster_arrival_used;
  uint16_t next[HIRC_MAX_THREADS];
  // What each thread has seen on its way, as a number: since its last poll or yield, and before that
  // in its last turns that differed.
  uint32_t seen[HIRC_MAX_THREADS];
  uint32_t seen_before[HIRC_MAX_THREADS][HIRC_TURNS];
  uint8_t turn[HIRC_MAX_THREADS];
  char *arena; // of shared memory
  struct hirc_block_checks *checks; // NULL: none are made
  size_t frames_room, exchange_room;
};

// A cluster in flight.
struct hirc_cluster {
  struct hirc_cluster *link; // in a worker's list
  uint32_t count;            // of blocks
  uint32_t room;
  struct hirc_running_block **blocks;
  uint32_t threads; // of all its blocks
  uint32_t ended;
  uint32_t arrived; // at the cluster's barrier
  uint32_t phase;
};

struct hirc_grid_run;

// A thread that runs blocks.
struct hirc_worker {
  struct hirc_cluster *spare; // clusters to use again
  struct hirc_grid_run *run;
  sigjmp_buf *escape;         // leaves device code; NULL outside it
  // What is running: set around every call of a region or of a performer.
  volatile int inside;
  struct hirc_running_block *block;
  uint32_t state, first, last;
  char *stack_low;
  void *signal_stack; // its own; NULL: none
  // For quiet.c. What got on, as a number, and as it was at the last look; the number of all
  // workers at that time, since when it has been so, and since when it was known that nobody else
  // writes, 0: it is not.
  uint64_t events, events_before;
  uint64_t progress, since, alone_since;
  _Atomic uint64_t calm_at; // when the last round began that led nowhere; 0: none, or not since
  struct hirc_worker *next_worker;
};

// A grid that workers run together.
struct hirc_grid_run {
  const struct hirc_grid *grid;
  struct hirc_extent clusters; // the grid's size in clusters
  uint64_t cluster_count;
  uint32_t blocks_in_cluster;
  uint32_t chunk;
  _Atomic uint64_t taken; // clusters handed out
  _Atomic int error;
  _Atomic bool asserted; // an assertion has failed: the others go on
};

enum hirc_progress { HIRC_BLOCKED, HIRC_IDLE, HIRC_MOVED, HIRC_DONE };

struct hirc_worker *hirc_worker(void);

static inline int32_t hirc_call_region(struct hirc_worker *worker, struct hirc_running_block *block,
                                       uint32_t state, uint32_t first, uint32_t last) {
  worker->block = block;
  worker->state = state;
  worker->first = first;
  worker->last = last;
  worker->inside = 1;
  int32_t result = block->block.kernel->regions[state](&block->block,
                                                       worker->run->grid->arguments, first, last);
  worker->inside = 0;
  return result;
}

static inline bool hirc_call_perform(struct hirc_worker *worker, struct hirc_running_block *block,
                                     uint32_t state, uint32_t first, hirc_lane_set lanes) {
  const struct hirc_stop *stop = &block->block.kernel->stops[state];
  if (hirc_checks_race() &&
      (stop->kind == HIRC_STOP_WARP || stop->kind == HIRC_STOP_CONVERGED)) {
    hirc_checks_warp_met(&block->block, first, lanes);
  }
  if (stop->perform == NULL) {
    return true;
  }
  struct hirc_stop_call call = {&block->block, stop, first, lanes};
  worker->block = block;
  worker->state = state;
  worker->first = first + hirc_lowest_lane(lanes);
  worker->last = first + 64 - (uint32_t)__builtin_clzll(lanes);
  worker->inside = 1;
  bool result = stop->perform(&call);
  worker->inside = 0;
  return result;
}

// The value of a stop's operand or result for a thread.
static inline char *hirc_slot(const struct hirc_running_block *block, const struct hirc_stop *stop,
                              uint32_t slot, uint32_t thread) {
  const struct hirc_slot *where = &stop->slots[slot];
  if (where->constant) {
    return (char *)where->constant + (size_t)where->bytes * (thread % HIRC_MAX_LANES);
  }
  return block->block.exchange + (size_t)where->offset * block->block.padded_threads +
         (size_t)where->bytes * thread;
}

static inline uint32_t hirc_operand(const struct hirc_running_block *block,
                                    const struct hirc_stop *stop, uint32_t slot, uint32_t thread) {
  return *(const uint32_t *)(const void *)hirc_slot(block, stop, slot, thread);
}

static inline uint32_t hirc_lane_state(const struct hirc_running_block *block, uint32_t warp,
                                       uint32_t lane) {
  return block->warps[warp].uniform ? block->warps[warp].state
                                    : block->block.next[warp * block->block.lanes + lane];
}

// Lanes that wait at a stop.
static inline hirc_lane_set hirc_waiting(const struct hirc_warp *warp) {
  return warp->exists & ~warp->ready & ~warp->ended;
}

static inline bool hirc_is_barrier(const struct hirc_stop *stop) {
  return stop->kind == HIRC_STOP_BARRIER || stop->kind == HIRC_STOP_BARRIER_REDUCE;
}

// --- block.c: a cluster from stop to stop ------------------------------------------------------

void hirc_cluster_begin(struct hirc_cluster *cluster);
// Runs the cluster until all its threads have ended, or wait. IDLE: only polls and yields are
// left, and none of them led to anything new; MOVED: as IDLE, but something happened.
enum hirc_progress hirc_cluster_step(struct hirc_worker *worker, struct hirc_cluster *cluster);

// --- clusters.c: their memory --------------------------------------------------------------------

// A cluster of the grid; NULL if there is no memory for it.
struct hirc_cluster *hirc_cluster_take(struct hirc_worker *worker,
                                       const struct hirc_grid_run *run);
void hirc_cluster_give(struct hirc_worker *worker, struct hirc_cluster *cluster);
// Frees those that the worker keeps.
void hirc_clusters_release(struct hirc_worker *worker);
// Makes it the grid's cluster of that number and begins it.
void hirc_cluster_place(struct hirc_cluster *cluster, const struct hirc_grid_run *run,
                        uint64_t number);

// --- warps.c: a warp from stop to stop -----------------------------------------------------------

// The block is run by warps from now on.
void hirc_warps_begin(struct hirc_running_block *block);
// Runs the warp until none of its lanes can go on by itself; true if that led anywhere.
bool hirc_warp_run(struct hirc_worker *worker, struct hirc_running_block *block, uint32_t warp);
// The lanes of a uniform warp get states of their own.
void hirc_warp_separate(struct hirc_running_block *block, uint32_t warp);
// Threads first to last - 1, of one warp with separate lanes, have run as far as `next` says.
void hirc_warp_settle(struct hirc_running_block *block, uint32_t first, uint32_t last);

// Lanes of the warp go on from a stop that others had a part in. A few such stops on the way round
// a loop that waits are no event.
static inline void hirc_warp_passes(struct hirc_warp *warp) {
  if (warp->passes < HIRC_PASSES) {
    warp->passes++;
  } else {
    hirc_worker()->events++;
  }
}

// --- barriers.c --------------------------------------------------------------------------------

// The block's threads all stand at this stop: true if they are through, having come together.
bool hirc_barrier_whole(struct hirc_running_block *block, const struct hirc_stop *stop);
void hirc_barrier_wait(struct hirc_running_block *block, const struct hirc_stop *stop,
                       uint32_t thread, uint32_t threads);
// The warp's lanes have the same operands.
bool hirc_barrier_same(const struct hirc_running_block *block, const struct hirc_stop *stop,
                       uint32_t first, uint32_t count);
// Lets go on those who wait at barriers that are complete; true if there were any.
bool hirc_barriers_release(struct hirc_worker *worker, struct hirc_running_block *block);
bool hirc_cluster_release(struct hirc_running_block *block);
void hirc_cluster_ended(struct hirc_running_block *block, uint32_t first, uint32_t count);

// --- divergence.c: what is wrong, in words -----------------------------------------------------

_Noreturn void hirc_report_stuck(struct hirc_worker *worker, struct hirc_cluster *cluster);
// The same where nothing that a poll or a yield waits for can come any more.
_Noreturn void hirc_report_quiet(struct hirc_worker *worker, struct hirc_cluster *cluster);
_Noreturn void hirc_report_different_barriers(struct hirc_worker *worker,
                                              struct hirc_running_block *block, uint32_t barrier);

// --- quiet.c: whether anything can go on at all -------------------------------------------------

void hirc_quiet_register(struct hirc_worker *worker);
// A round over all that this worker has begun, which started at this time, is over. True if nothing
// in this process will ever get on: what waits here waits in vain.
bool hirc_quiet_round(struct hirc_worker *worker, uint64_t started);
// The worker does something else than going round what waits.
static inline void hirc_quiet_end(struct hirc_worker *worker) {
  atomic_store_explicit(&worker->calm_at, 0, memory_order_relaxed);
}

// --- operations/mbarrier.c ---------------------------------------------------------------------

// Frees what the calling thread keeps there.
void hirc_mbarrier_release_thread(void);

// --- faults.c ----------------------------------------------------------------------------------

void hirc_faults_install(void);
// Takes the handlers away again, for a library that is being unloaded.
void hirc_faults_remove(void);
void hirc_faults_prepare_thread(struct hirc_worker *worker);
void hirc_faults_release_thread(struct hirc_worker *worker);
// Ends the running grid with this error, from inside hirc_run_grid.
_Noreturn void hirc_leave_grid(struct hirc_worker *worker, int error);

// --- shared_arena.c ----------------------------------------------------------------------------

enum { HIRC_ARENA_BYTES = 256 << 10 };
// NULL if there is no memory, or no address below 4 GiB.
char *hirc_arena_create(void);
// Gives all of them back.
void hirc_arenas_release(void);

#endif
