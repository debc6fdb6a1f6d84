// Barriers of a block (bar.sync, bar.red, bar.arrive) and of a cluster.
//
// A barrier is complete when as many threads have come as it counts. One that counts all threads
// of the block takes those that have ended as having come.
#include "engine.h"

#include <string.h>

static uint32_t expected_threads(const struct hirc_running_block *block, uint32_t count) {
  return count == 0 ? block->block.threads : count;
}

static bool is_complete(const struct hirc_running_block *block,
                        const struct hirc_barrier *barrier) {
  uint32_t come = barrier->waiting + barrier->arrived;
  if (barrier->expected >= block->block.threads) {
    come += block->ended;
  }
  return come >= barrier->expected;
}

static bool is_same(const struct hirc_running_block *block, const struct hirc_stop *stop,
                    uint32_t slot, uint32_t first, uint32_t count) {
  if (stop->slots[slot].constant) {
    return true;
  }
  const uint32_t *values = (const void *)hirc_slot(block, stop, slot, first);
  uint32_t differ = 0;
  for (uint32_t i = 0; i < count; i++) {
    differ |= values[i] ^ values[0];
  }
  return differ == 0;
}

bool hirc_barrier_same(const struct hirc_running_block *block, const struct hirc_stop *stop,
                       uint32_t first, uint32_t count) {
  return is_same(block, stop, 0, first, count) && is_same(block, stop, 1, first, count);
}

// --- reductions --------------------------------------------------------------------------------

struct reduction {
  uint32_t threads, set;
};

static void reduction_add(struct reduction *reduction, const struct hirc_running_block *block,
                          const struct hirc_stop *stop, uint32_t thread) {
  reduction->threads++;
  reduction->set += (*hirc_slot(block, stop, 2, thread) & 1) != 0;
}

static void reduction_store(const struct reduction *reduction,
                            const struct hirc_running_block *block, const struct hirc_stop *stop,
                            uint32_t thread) {
  uint32_t value = reduction->set;
  if (stop->parameters[0] == HIRC_REDUCE_AND) {
    value = reduction->set == reduction->threads;
  } else if (stop->parameters[0] == HIRC_REDUCE_OR) {
    value = reduction->set != 0;
  }
  if (stop->result_count > 0) {
    const struct hirc_slot *slot = &stop->slots[stop->operand_count];
    memcpy(hirc_slot(block, stop, stop->operand_count, thread), &value,
           slot->bytes < sizeof value ? slot->bytes : sizeof value);
  }
}

// --- a block whose threads stay together -------------------------------------------------------

bool hirc_barrier_whole(struct hirc_running_block *block, const struct hirc_stop *stop) {
  uint32_t threads = block->block.threads;
  if (!hirc_barrier_same(block, stop, 0, threads)) {
    return false;
  }
  const struct hirc_barrier *barrier =
      &block->barriers[hirc_operand(block, stop, 0, 0) % HIRC_BARRIERS];
  if (barrier->arrived != 0 ||
      expected_threads(block, hirc_operand(block, stop, 1, 0)) != threads) {
    return false;
  }
  if (stop->kind == HIRC_STOP_BARRIER_REDUCE) {
    struct reduction reduction = {0, 0};
    for (uint32_t thread = 0; thread < threads; thread++) {
      reduction_add(&reduction, block, stop, thread);
    }
    for (uint32_t thread = 0; thread < threads; thread++) {
      reduction_store(&reduction, block, stop, thread);
    }
  }
  hirc_checks_block_met(&block->block);
  return true;
}

// --- a block run by warps ----------------------------------------------------------------------

// `threads` threads from this one on have stopped here, with the same operands.
void hirc_barrier_wait(struct hirc_running_block *block, const struct hirc_stop *stop,
                       uint32_t thread, uint32_t threads) {
  uint32_t number = hirc_operand(block, stop, 0, thread) % HIRC_BARRIERS;
  struct hirc_barrier *barrier = &block->barriers[number];
  block->barrier_used[number] = true;
  barrier->waiting += threads;
  barrier->expected = expected_threads(block, hirc_operand(block, stop, 1, thread));
}

void hirc_barrier_arrive(struct hirc_block *abi, uint32_t thread, uint32_t number,
                         uint32_t count) {
  struct hirc_running_block *block = (struct hirc_running_block *)abi;
  hirc_checks_barrier_arrived(abi, thread, number % HIRC_BARRIERS);
  struct hirc_barrier *barrier = &block->barriers[number % HIRC_BARRIERS];
  block->barrier_used[number % HIRC_BARRIERS] = true;
  barrier->arrived++;
  barrier->expected = expected_threads(block, count);
}

// Lanes of the warp that wait at this barrier.
static hirc_lane_set lanes_at(const struct hirc_running_block *block, uint32_t warp, uint32_t number) {
  const struct hirc_warp *state = &block->warps[warp];
  const struct hirc_stop *stops = block->block.kernel->stops;
  hirc_lane_set waiting = hirc_waiting(state);
  if (state->uniform) {
    const struct hirc_stop *stop = &stops[state->state];
    bool here = waiting != 0 && hirc_is_barrier(stop) &&
                hirc_operand(block, stop, 0, warp * block->block.lanes) % HIRC_BARRIERS == number;
    return here ? waiting : 0;
  }
  hirc_lane_set result = 0;
  for (hirc_lane_set left = waiting; left != 0; left &= left - 1) {
    uint32_t lane = hirc_lowest_lane(left);
    const struct hirc_stop *stop = &stops[hirc_lane_state(block, warp, lane)];
    if (hirc_is_barrier(stop) &&
        hirc_operand(block, stop, 0, warp * block->block.lanes + lane) % HIRC_BARRIERS == number) {
      result |= hirc_lane_bit(lane);
    }
  }
  return result;
}

static bool is_aligned(const struct hirc_stop *stop) {
  uint32_t parameter = stop->kind == HIRC_STOP_BARRIER_REDUCE ? 1 : 0;
  return stop->parameter_count > parameter && stop->parameters[parameter] == 1;
}

// What the threads at one barrier have in common.
struct meeting {
  uint32_t state; // of the first
  bool different;
  bool all_aligned;
  bool any_reduction;
  struct reduction reduction;
};

static void meet(struct meeting *meeting, const struct hirc_running_block *block, uint32_t warp,
                 hirc_lane_set lanes) {
  for (hirc_lane_set left = lanes; left != 0; left &= left - 1) {
    uint32_t lane = hirc_lowest_lane(left);
    uint32_t state = hirc_lane_state(block, warp, lane);
    const struct hirc_stop *stop = &block->block.kernel->stops[state];
    if (meeting->state == 0) {
      meeting->state = state;
    }
    meeting->different |= meeting->state != state;
    meeting->all_aligned &= is_aligned(stop);
    if (stop->kind == HIRC_STOP_BARRIER_REDUCE) {
      meeting->any_reduction = true;
      reduction_add(&meeting->reduction, block, stop, warp * block->block.lanes + lane);
    } else if (block->warps[warp].uniform) {
      return;
    }
  }
}

static void store_reductions(const struct reduction *reduction,
                             const struct hirc_running_block *block, uint32_t warp,
                             hirc_lane_set lanes) {
  for (hirc_lane_set left = lanes; left != 0; left &= left - 1) {
    uint32_t lane = hirc_lowest_lane(left);
    const struct hirc_stop *stop =
        &block->block.kernel->stops[hirc_lane_state(block, warp, lane)];
    if (stop->kind == HIRC_STOP_BARRIER_REDUCE) {
      reduction_store(reduction, block, stop, warp * block->block.lanes + lane);
    }
  }
}

static void release(struct hirc_worker *worker, struct hirc_running_block *block,
                    uint32_t number) {
  hirc_lane_set lanes[HIRC_MAX_WARPS];
  struct meeting meeting = {.all_aligned = true};
  for (uint32_t warp = 0; warp < block->warp_count; warp++) {
    lanes[warp] = lanes_at(block, warp, number);
    meet(&meeting, block, warp, lanes[warp]);
  }
  struct hirc_barrier *barrier = &block->barriers[number];
  if (meeting.different && meeting.all_aligned && barrier->expected >= block->block.threads) {
    hirc_report_different_barriers(worker, block, number);
  }
  for (uint32_t warp = 0; warp < block->warp_count; warp++) {
    if (meeting.any_reduction) {
      store_reductions(&meeting.reduction, block, warp, lanes[warp]);
    }
    block->warps[warp].ready |= lanes[warp];
    if (lanes[warp] != 0) {
      hirc_warp_passes(&block->warps[warp]);
    }
  }
  bool counts_ended = barrier->waiting + barrier->arrived < barrier->expected;
  if (barrier->expected >= block->block.threads && barrier->arrived == 0) {
    hirc_checks_block_met(&block->block);
  } else if (hirc_checks_race()) {
    for (uint32_t warp = 0; counts_ended && warp < block->warp_count; warp++) {
      lanes[warp] |= block->warps[warp].ended;
    }
    hirc_checks_barrier_passed(&block->block, lanes, block->warp_count, number);
  }
  uint32_t rest = barrier->expected > barrier->waiting ? barrier->expected - barrier->waiting : 0;
  barrier->arrived -= rest < barrier->arrived ? rest : barrier->arrived;
  barrier->waiting = 0;
}

bool hirc_barriers_release(struct hirc_worker *worker, struct hirc_running_block *block) {
  bool any = false;
  for (uint32_t number = 0; number < HIRC_BARRIERS; number++) {
    struct hirc_barrier *barrier = &block->barriers[number];
    if (!block->barrier_used[number] || barrier->waiting + barrier->arrived == 0 ||
        !is_complete(block, barrier)) {
      continue;
    }
    any |= barrier->waiting != 0;
    release(worker, block, number);
  }
  return any;
}

// --- the cluster's barrier ---------------------------------------------------------------------

static uint8_t arrival_mark(const struct hirc_cluster *cluster) {
  return (uint8_t)(1 + (cluster->phase & 1));
}

static void cluster_complete(struct hirc_cluster *cluster) {
  if (cluster->arrived != 0 && cluster->arrived + cluster->ended >= cluster->threads) {
    cluster->phase++;
    cluster->arrived = 0;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
      hirc_checks_block_met(&cluster->blocks[rank]->block);
      hirc_checks_cluster_met(&cluster->blocks[rank]->block);
    }
  }
}

void hirc_cluster_arrive(struct hirc_block *abi, uint32_t thread) {
  struct hirc_running_block *block = (struct hirc_running_block *)abi;
  block->cluster_arrival_used = true;
  block->cluster_arrival[thread] = arrival_mark(block->cluster);
  block->cluster->arrived++;
  cluster_complete(block->cluster);
}

// Threads first to first + count - 1 have ended: those that had arrived count as ended only.
void hirc_cluster_ended(struct hirc_running_block *block, uint32_t first, uint32_t count) {
  struct hirc_cluster *cluster = block->cluster;
  cluster->ended += count;
  if (block->cluster_arrival_used) {
    for (uint32_t thread = first; thread < first + count; thread++) {
      cluster->arrived -= block->cluster_arrival[thread] == arrival_mark(cluster);
    }
  }
  cluster_complete(cluster);
  if (block->ended == block->block.threads) {
    hirc_checks_block_ended(&block->block);
  }
}

static bool cluster_passed(const struct hirc_running_block *block, uint32_t thread) {
  uint8_t mark = block->cluster_arrival[thread];
  return mark != 0 && mark != arrival_mark(block->cluster);
}

bool hirc_cluster_release(struct hirc_running_block *block) {
  bool any = false;
  if (!block->cluster_arrival_used) {
    return false;
  }
  for (uint32_t warp = 0; warp < block->warp_count; warp++) {
    struct hirc_warp *state = &block->warps[warp];
    for (hirc_lane_set left = hirc_waiting(state); left != 0; left &= left - 1) {
      uint32_t lane = hirc_lowest_lane(left), thread = warp * block->block.lanes + lane;
      uint32_t stop = hirc_lane_state(block, warp, lane);
      if (block->block.kernel->stops[stop].kind == HIRC_STOP_CLUSTER_WAIT &&
          cluster_passed(block, thread)) {
        block->cluster_arrival[thread] = 0;
        state->ready |= hirc_lane_bit(lane);
        hirc_warp_passes(state);
        any = true;
      }
    }
  }
  return any;
}
