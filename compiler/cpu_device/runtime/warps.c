// Running one warp: all lanes while they stay together, else those that can go on.
#include "engine.h"

void hirc_warps_begin(struct hirc_running_block *block) {
  block->by_warps = true;
  uint32_t threads = block->block.threads, most = block->block.lanes;
  block->warp_count = (threads + most - 1) / most;
  for (uint32_t warp = 0; warp < block->warp_count; warp++) {
    uint32_t left = threads - warp * most, lanes = left < most ? left : most;
    hirc_lane_set exists = UINT64_MAX >> (64 - lanes);
    block->warps[warp] = (struct hirc_warp){.exists = exists, .ready = exists, .uniform = true};
  }
}

// --- where lanes have got to -------------------------------------------------------------------

void hirc_warp_separate(struct hirc_running_block *block, uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  for (uint32_t lane = 0; lane < block->block.lanes; lane++) {
    block->next[warp * block->block.lanes + lane] = state->state;
  }
  state->uniform = false;
}

static void thread_ended(struct hirc_running_block *block, uint32_t thread) {
  uint32_t lanes = block->block.lanes;
  block->warps[thread / lanes].ended |= hirc_lane_bit(thread % lanes);
  block->ended++;
  hirc_worker()->events++;
  hirc_cluster_ended(block, thread, 1);
}

static uint32_t mixed(uint32_t seen, uint64_t value) {
  return (uint32_t)(((seen ^ value) + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

// A thread that is where it was in one of its last turns, and sees what it saw then, has not got
// anywhere.
static void thread_idles(struct hirc_running_block *block, uint32_t thread) {
  uint32_t seen = mixed(block->seen[thread], block->next[thread]);
  uint32_t *before = block->seen_before[thread];
  block->seen[thread] = 0;
  for (uint32_t i = 0; i < HIRC_TURNS; i++) {
    if (before[i] == seen) {
      return;
    }
  }
  before[block->turn[thread]++ % HIRC_TURNS] = seen;
  hirc_worker()->events++;
}

void hirc_device_observe(struct hirc_block *abi, uint32_t thread, uint64_t value) {
  uint32_t *seen = &((struct hirc_running_block *)abi)->seen[thread];
  *seen = mixed(*seen, value);
}

void hirc_device_event(struct hirc_block *abi, uint32_t thread) {
  (void)abi;
  (void)thread;
  hirc_worker()->events++;
}

void hirc_warp_settle(struct hirc_running_block *block, uint32_t first, uint32_t last) {
  for (uint32_t thread = first; thread < last; thread++) {
    struct hirc_warp *warp = &block->warps[thread / block->block.lanes];
    hirc_lane_set lane = hirc_lane_bit(thread % block->block.lanes);
    warp->ready &= ~lane;
    if (block->next[thread] == HIRC_STATE_END) {
      thread_ended(block, thread);
      continue;
    }
    const struct hirc_stop *stop = &block->block.kernel->stops[block->next[thread]];
    if (hirc_is_barrier(stop)) {
      hirc_barrier_wait(block, stop, thread, 1);
    } else if (stop->kind == HIRC_STOP_POLL || stop->kind == HIRC_STOP_YIELD) {
      warp->idle |= lane;
      warp->passes = 0;
      thread_idles(block, thread);
    }
  }
}

// --- a warp whose lanes are together -----------------------------------------------------------

// The mask names all of the warp's lanes, in each of them.
static bool mask_is_whole(const struct hirc_running_block *block, const struct hirc_stop *stop,
                          uint32_t first, hirc_lane_set exists) {
  const uint32_t *masks = (const void *)hirc_slot(block, stop, 0, first);
  uint32_t lanes = 64 - (uint32_t)__builtin_clzll(exists);
  hirc_lane_set missing = 0;
  for (uint32_t lane = 0; lane < lanes; lane++) {
    missing |= exists & ~masks[lane];
  }
  return missing == 0;
}

static bool goes_on_together(struct hirc_worker *worker, struct hirc_running_block *block,
                             uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  const struct hirc_stop *stop = &block->block.kernel->stops[state->state];
  uint32_t first = warp * block->block.lanes;
  bool together = stop->kind == HIRC_STOP_CONVERGED ||
                  (stop->kind == HIRC_STOP_WARP && mask_is_whole(block, stop, first, state->exists));
  if (together) {
    hirc_call_perform(worker, block, state->state, first, state->exists);
    hirc_warp_passes(state);
  }
  return together;
}

// Runs a uniform warp that is ready. It is no longer ready then, or no longer uniform.
static void run_together(struct hirc_worker *worker, struct hirc_running_block *block,
                         uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  uint32_t first = warp * block->block.lanes;
  uint32_t count = (uint32_t)__builtin_popcountll(state->exists);
  for (;;) {
    int32_t result = hirc_call_region(worker, block, state->state, first, first + count);
    if (result == HIRC_STATES_DIFFER) {
      state->uniform = false;
      hirc_warp_settle(block, first, first + count);
      return;
    }
    if (result == HIRC_STATE_END) {
      state->ready = 0;
      state->ended = state->exists;
      state->uniform = false;
      block->ended += count;
      worker->events++;
      hirc_cluster_ended(block, first, count);
      return;
    }
    state->state = (uint16_t)result;
    if (goes_on_together(worker, block, warp)) {
      continue;
    }
    const struct hirc_stop *stop = &block->block.kernel->stops[result];
    state->ready = 0;
    if (hirc_is_barrier(stop) && hirc_barrier_same(block, stop, first, count)) {
      hirc_barrier_wait(block, stop, first, count);
      return;
    }
    hirc_warp_separate(block, warp);
    hirc_warp_settle(block, first, first + count);
    return;
  }
}

// --- a warp whose lanes are apart --------------------------------------------------------------

// All lanes are ready in the same state: they are together again.
static bool join_lanes(struct hirc_running_block *block, uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  const uint16_t *next = &block->next[warp * block->block.lanes];
  if (state->ready != state->exists) {
    return false;
  }
  for (hirc_lane_set left = state->exists; left != 0; left &= left - 1) {
    if (next[hirc_lowest_lane(left)] != next[0]) {
      return false;
    }
  }
  state->state = next[0];
  state->uniform = true;
  return true;
}

// Runs the first ready lanes that are neighbours in the same state. True if that led on: a thread
// that comes back to the yield it left has not got anywhere.
static bool run_neighbours(struct hirc_worker *worker, struct hirc_running_block *block,
                           uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  uint32_t lane = hirc_lowest_lane(state->ready), end = lane + 1;
  uint16_t *next = &block->next[warp * block->block.lanes];
  uint16_t from = next[lane];
  while (end < block->block.lanes && (state->ready >> end & 1) != 0 && next[end] == from) {
    end++;
  }
  uint32_t first = warp * block->block.lanes + lane, last = warp * block->block.lanes + end;
  int32_t result = hirc_call_region(worker, block, from, first, last);
  bool moved = from == 0 || block->block.kernel->stops[from].kind != HIRC_STOP_YIELD;
  for (uint32_t i = lane; i < end; i++) {
    if (result != HIRC_STATES_DIFFER) {
      next[i] = (uint16_t)result;
    }
    moved |= next[i] != from;
  }
  hirc_warp_settle(block, first, last);
  return moved;
}

// Lanes that wait at the same stop as this one, with the same mask. Stops that nothing is computed
// at (bar.warp.sync) are the same wherever they are.
static hirc_lane_set lanes_with(const struct hirc_running_block *block, uint32_t warp, uint32_t lane,
                           uint32_t *mask) {
  const struct hirc_stop *stops = block->block.kernel->stops;
  const uint16_t *next = &block->next[warp * block->block.lanes];
  const struct hirc_stop *stop = &stops[next[lane]];
  uint32_t first = warp * block->block.lanes;
  hirc_lane_set group = 0;
  *mask = hirc_operand(block, stop, 0, first + lane);
  for (hirc_lane_set left = hirc_waiting(&block->warps[warp]); left != 0; left &= left - 1) {
    uint32_t other = hirc_lowest_lane(left);
    const struct hirc_stop *its = &stops[next[other]];
    bool same = its == stop || (its->kind == HIRC_STOP_WARP && stop->perform == NULL &&
                                its->perform == NULL);
    if (same && hirc_operand(block, its, 0, first + other) == *mask) {
      group |= hirc_lane_bit(other);
    }
  }
  return group;
}

// Performs the stops of the warp whose lanes are all there; true if there was one.
static bool perform_masked(struct hirc_worker *worker, struct hirc_running_block *block,
                           uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  const uint16_t *next = &block->next[warp * block->block.lanes];
  bool any = false;
  for (hirc_lane_set left = hirc_waiting(state); left != 0; left &= left - 1) {
    uint32_t lane = hirc_lowest_lane(left), mask;
    if (block->block.kernel->stops[next[lane]].kind != HIRC_STOP_WARP) {
      continue;
    }
    hirc_lane_set group = lanes_with(block, warp, lane, &mask);
    left &= ~group | hirc_lane_bit(lane);
    if ((mask & state->exists & ~state->ended & ~group) == 0) {
      hirc_call_perform(worker, block, next[lane], warp * block->block.lanes, group);
      hirc_warp_passes(state);
      state->ready |= group;
      any = true;
    }
  }
  return any;
}

// No lane can go on: performs the first stop that takes whoever is there.
static bool perform_converged(struct hirc_worker *worker, struct hirc_running_block *block,
                              uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  const uint16_t *next = &block->next[warp * block->block.lanes];
  hirc_lane_set group = 0;
  uint16_t at = 0;
  for (hirc_lane_set left = hirc_waiting(state); left != 0; left &= left - 1) {
    uint32_t lane = hirc_lowest_lane(left);
    bool here = group != 0 ? next[lane] == at
                           : block->block.kernel->stops[next[lane]].kind == HIRC_STOP_CONVERGED;
    if (here) {
      at = next[lane];
      group |= hirc_lane_bit(lane);
    }
  }
  if (group != 0) {
    hirc_call_perform(worker, block, at, warp * block->block.lanes, group);
    hirc_warp_passes(state);
    state->ready |= group;
  }
  return group != 0;
}

// --- both ----------------------------------------------------------------------------------------

bool hirc_warp_run(struct hirc_worker *worker, struct hirc_running_block *block, uint32_t warp) {
  struct hirc_warp *state = &block->warps[warp];
  bool moved = false;
  for (;;) {
    if (state->uniform) {
      if (state->ready == 0) {
        return moved;
      }
      bool yielded = state->state != 0 &&
                     block->block.kernel->stops[state->state].kind == HIRC_STOP_YIELD;
      uint16_t from = state->state;
      run_together(worker, block, warp);
      // A uniform warp is separated before it waits at a yield.
      moved |= !yielded || state->idle != state->exists || state->state != from;
    } else if (state->ready != 0) {
      if (!join_lanes(block, warp)) {
        moved |= run_neighbours(worker, block, warp);
      }
    } else if (hirc_waiting(state) != 0 && (perform_masked(worker, block, warp) ||
                                            perform_converged(worker, block, warp))) {
      moved = true;
    } else {
      return moved;
    }
  }
}
