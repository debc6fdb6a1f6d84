// Running one cluster: its blocks whole while their threads stay together, by warps otherwise.
#include "engine.h"

#include <string.h>

// --- beginning ---------------------------------------------------------------------------------

static void block_begin(struct hirc_running_block *block) {
  hirc_checks_block_begin(&block->block);
  block->ended = 0;
  block->by_warps = false;
  if (block->block.kernel->state_count > 1) {
    memset(block->barriers, 0, sizeof block->barriers);
    memset(block->barrier_used, 0, sizeof block->barrier_used);
  }
  if (block->cluster_arrival_used) {
    memset(block->cluster_arrival, 0, sizeof block->cluster_arrival);
    block->cluster_arrival_used = false;
  }
}

void hirc_cluster_begin(struct hirc_cluster *cluster) {
  cluster->threads = cluster->count * cluster->blocks[0]->block.threads;
  cluster->ended = cluster->arrived = cluster->phase = 0;
  for (uint32_t rank = 0; rank < cluster->count; rank++) {
    block_begin(cluster->blocks[rank]);
  }
}

// --- blocks ------------------------------------------------------------------------------------

// The threads of a whole block have run from one state and may differ now.
static void take_apart(struct hirc_running_block *block, int32_t result) {
  hirc_warps_begin(block);
  for (uint32_t warp = 0; warp < block->warp_count; warp++) {
    struct hirc_warp *state = &block->warps[warp];
    uint32_t first = warp * block->block.lanes;
    if (result == HIRC_STATES_DIFFER) {
      state->uniform = false;
    } else {
      state->state = (uint16_t)result;
      hirc_warp_separate(block, warp);
    }
    hirc_warp_settle(block, first, first + (uint32_t)__builtin_popcountll(state->exists));
  }
}

// Runs the block from its beginning with all threads together; true if it has ended, false if it
// goes on by warps.
static bool run_whole(struct hirc_worker *worker, struct hirc_running_block *block) {
  uint32_t threads = block->block.threads;
  uint32_t state = 0;
  for (;;) {
    int32_t result = hirc_call_region(worker, block, state, 0, threads);
    if (result == HIRC_STATE_END) {
      block->ended = threads;
      return true;
    }
    if (result == HIRC_STATES_DIFFER) {
      take_apart(block, result);
      return false;
    }
    const struct hirc_stop *stop = &block->block.kernel->stops[result];
    if (!hirc_is_barrier(stop) || !hirc_barrier_whole(block, stop)) {
      take_apart(block, result);
      return false;
    }
    state = (uint32_t)result;
  }
}

// Runs the block's warps until all have ended or wait; true if that led anywhere.
static bool run_warps(struct hirc_worker *worker, struct hirc_running_block *block) {
  bool moved = false;
  do {
    for (uint32_t warp = 0; warp < block->warp_count; warp++) {
      moved |= hirc_warp_run(worker, block, warp);
    }
  } while (hirc_barriers_release(worker, block));
  return moved;
}

// --- waiting -----------------------------------------------------------------------------------

// Lets go on who yields, and whose poll succeeds. True if a poll did.
static bool wake_idle(struct hirc_worker *worker, struct hirc_running_block *block) {
  bool moved = false;
  for (uint32_t warp = 0; block->by_warps && warp < block->warp_count; warp++) {
    struct hirc_warp *state = &block->warps[warp];
    for (hirc_lane_set left = state->idle; left != 0; left &= left - 1) {
      uint32_t lane = hirc_lowest_lane(left), first = warp * block->block.lanes;
      hirc_lane_set bit = hirc_lane_bit(lane);
      uint32_t at = block->next[first + lane];
      bool polls = block->block.kernel->stops[at].kind == HIRC_STOP_POLL;
      if (polls && !hirc_call_perform(worker, block, at, first, bit)) {
        continue;
      }
      moved |= polls;
      state->idle &= ~bit;
      state->ready |= bit;
    }
  }
  return moved;
}

static bool has_idle(const struct hirc_running_block *block) {
  for (uint32_t warp = 0; block->by_warps && warp < block->warp_count; warp++) {
    if (block->warps[warp].idle != 0) {
      return true;
    }
  }
  return false;
}

// --- clusters ----------------------------------------------------------------------------------

static bool run_blocks(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  bool moved = false, again = true;
  while (again) {
    again = false;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
      moved |= run_warps(worker, cluster->blocks[rank]);
    }
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
      again |= hirc_cluster_release(cluster->blocks[rank]);
    }
    moved |= again;
  }
  return moved;
}

// Begins a block of a cluster; true if that has brought it to its end.
static bool first_run(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  struct hirc_running_block *block = cluster->blocks[0];
  if (cluster->count == 1 && (block->block.kernel->flags & HIRC_KERNEL_WARP_STOPS) == 0) {
    return run_whole(worker, block);
  }
  for (uint32_t rank = 0; rank < cluster->count; rank++) {
    hirc_warps_begin(cluster->blocks[rank]);
  }
  return false;
}

enum hirc_progress hirc_cluster_step(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  bool moved = false, idle = false;
  if (!cluster->blocks[0]->by_warps) {
    if (first_run(worker, cluster)) {
      return HIRC_DONE;
    }
    moved = true;
  }
  for (uint32_t rank = 0; rank < cluster->count; rank++) {
    moved |= wake_idle(worker, cluster->blocks[rank]);
  }
  moved |= run_blocks(worker, cluster);
  if (cluster->ended >= cluster->threads) {
    return HIRC_DONE;
  }
  for (uint32_t rank = 0; rank < cluster->count; rank++) {
    idle |= has_idle(cluster->blocks[rank]);
  }
  return !idle ? HIRC_BLOCKED : moved ? HIRC_MOVED : HIRC_IDLE;
}
