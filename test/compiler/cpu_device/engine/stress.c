// Random kernels of warp stops and barriers, and what a sequential model says they compute.
//
// A kernel is a row of segments. In each, a hash assigns every thread one of a few arms; the lanes
// of a warp in the same arm sum their values a few times, each time at a stop of its own with a
// mask that names just them; then the arm's threads, if the segment says so, meet at a barrier of
// their own with their number as its count, or yield; then all meet at a barrier of the whole
// block, unaligned, whose stop is another one for each arm. Some threads end on the way. The
// segment's barrier counts, by reduction, who is still there.
#include "kernels.h"

enum { SEGMENTS = 5, ARMS = 3, SUMS = 3, STEPS = SUMS + 2, STATES = 1 + SEGMENTS * ARMS * STEPS };
enum { MEET = SUMS, JOIN = SUMS + 1 }; // steps after the sums

struct plan {
  uint32_t seed;
  uint32_t threads;
  uint32_t *result; // of each thread of each block
};

static uint32_t mix(uint32_t value) {
  value = (value ^ value >> 16) * 0x7feb352d;
  value = (value ^ value >> 15) * 0x846ca68b;
  return value ^ value >> 16;
}

static uint32_t draw(const struct plan *plan, uint64_t block, uint32_t segment, uint32_t thread,
                     uint32_t what) {
  return mix(plan->seed + mix((uint32_t)block + mix(segment + mix(thread + mix(what)))));
}

static uint32_t arm_of(const struct plan *plan, uint64_t block, uint32_t segment,
                       uint32_t thread) {
  switch (draw(plan, block, segment, 0, 1) % 4) {
  case 0: return 0;                                                    // all together
  case 1: return draw(plan, block, segment, thread / 32, 2) % ARMS;    // by warps
  case 2: return thread * ARMS / (plan->threads + 1);                  // by ranges
  default: return draw(plan, block, segment, thread, 3) % ARMS;
  }
}

static bool is_there(const struct plan *plan, uint64_t block, uint32_t segment, uint32_t thread) {
  for (uint32_t before = 1; before <= segment; before++) {
    if (draw(plan, block, before, thread, 4) % 16 == 0 && plan->seed % 2 != 0) {
      return false;
    }
  }
  return true;
}

static bool in_arm(const struct plan *plan, uint64_t block, uint32_t segment, uint32_t thread,
                   uint32_t arm) {
  return thread < plan->threads && is_there(plan, block, segment, thread) &&
         arm_of(plan, block, segment, thread) == arm;
}

static uint32_t arm_lanes(const struct plan *plan, uint64_t block, uint32_t segment,
                          uint32_t thread) {
  uint32_t mask = 0, arm = arm_of(plan, block, segment, thread);
  for (uint32_t lane = 0; lane < 32; lane++) {
    mask |= (uint32_t)in_arm(plan, block, segment, thread / 32 * 32 + lane, arm) << lane;
  }
  return mask;
}

static uint32_t arm_size(const struct plan *plan, uint64_t block, uint32_t segment, uint32_t arm) {
  uint32_t size = 0;
  for (uint32_t thread = 0; thread < plan->threads; thread++) {
    size += in_arm(plan, block, segment, thread, arm);
  }
  return size;
}

static uint32_t first_value(uint32_t thread) { return mix(thread); }
static uint32_t add_sum(uint32_t value, uint32_t sum, uint32_t step) {
  return mix(value + sum + step);
}

// --- the kernel --------------------------------------------------------------------------------

static uint16_t state_of(uint32_t segment, uint32_t arm, uint32_t step) {
  return (uint16_t)(1 + (segment * ARMS + arm) * STEPS + step);
}

// Prepares the operands of a step's stop.
static void go_to(struct hirc_block *block, const struct plan *plan, uint32_t thread,
                  uint32_t segment, uint32_t step) {
  uint64_t number = block_number(block);
  uint32_t arm = arm_of(plan, number, segment, thread);
  if (step < SUMS) {
    U32(exchange, 0, thread) = arm_lanes(plan, number, segment, thread);
    U32(exchange, 4, thread) = U32(frames, 0, thread);
  } else if (step == MEET) {
    at_barrier(block, thread, 1 + arm, arm_size(plan, number, segment, arm));
  } else {
    at_barrier(block, thread, 0, 0);
    *at(block->exchange, block, 8, 1, thread) = 1;
  }
  block->next[thread] = state_of(segment, arm, step);
}

static void enter(struct hirc_block *block, const struct plan *plan, uint32_t thread,
                  uint32_t segment) {
  if (segment < SEGMENTS && is_there(plan, block_number(block), segment, thread)) {
    go_to(block, plan, thread, segment, 0);
    return;
  }
  plan->result[block_number(block) * plan->threads + thread] = U32(frames, 0, thread);
  block->next[thread] = HIRC_STATE_END;
}

static int32_t run(struct hirc_block *block, void *const *arguments, uint32_t first, uint32_t last,
                   uint32_t state) {
  const struct plan *plan = arguments[0];
  for EACH(thread) {
    if (state == 0) {
      U32(frames, 0, thread) = first_value(thread);
      enter(block, plan, thread, 0);
      continue;
    }
    uint32_t segment = (state - 1) / STEPS / ARMS, step = (state - 1) % STEPS;
    if (step != MEET) {
      uint32_t *value = &U32(frames, 0, thread);
      uint32_t arm = (state - 1) / STEPS % ARMS; // of the region, not of the thread
      *value = add_sum(*value, U32(exchange, 12, thread), step + STEPS * arm);
    }
    if (step == JOIN) {
      enter(block, plan, thread, segment + 1);
    } else {
      go_to(block, plan, thread, segment, step + 1);
    }
  }
  return ends(block, first, last);
}

#define STATE(n) REGION(region_##n) { return run(block, arguments, first, last, 1##n - 1000); }
#define TEN(n) STATE(n##0) STATE(n##1) STATE(n##2) STATE(n##3) STATE(n##4) STATE(n##5)             \
  STATE(n##6) STATE(n##7) STATE(n##8) STATE(n##9)
#define NAMES(n) region_##n##0, region_##n##1, region_##n##2, region_##n##3, region_##n##4,        \
  region_##n##5, region_##n##6, region_##n##7, region_##n##8, region_##n##9
TEN(00) TEN(01) TEN(02) TEN(03) TEN(04) TEN(05) TEN(06) TEN(07)
static hirc_region *const regions[] = {NAMES(00), NAMES(01), NAMES(02), NAMES(03),
                                       NAMES(04), NAMES(05), NAMES(06), NAMES(07)};
_Static_assert(STATES <= COUNT(regions), "a region for each state");

static const int32_t popc[] = {HIRC_REDUCE_POPC, 0};
static struct hirc_stop stops[STATES];

static void fill_stops(const struct plan *plan) {
  for (uint32_t state = 1; state < STATES; state++) {
    uint32_t step = (state - 1) % STEPS;
    if (step < SUMS) {
      stops[state] = (struct hirc_stop)SUM_AT("sum");
    } else if (step == JOIN) {
      stops[state] = (struct hirc_stop){.kind = HIRC_STOP_BARRIER_REDUCE,
                                        .operand_count = 3,
                                        .result_count = 1,
                                        .parameter_count = 2,
                                        .slots = barrier_reduce_slots,
                                        .parameters = popc,
                                        .operation = "join"};
    } else if (draw(plan, 0, state, 0, 5) % 2 == 0) {
      stops[state] = (struct hirc_stop){.kind = HIRC_STOP_YIELD, .operation = "yield"};
    } else {
      stops[state] = (struct hirc_stop)UNALIGNED_BARRIER_AT("meet");
    }
  }
}

// --- the model ---------------------------------------------------------------------------------

static void model_segment(const struct plan *plan, uint64_t block, uint32_t segment,
                          uint32_t *values) {
  uint32_t there = 0;
  for (uint32_t step = 0; step < SUMS; step++) {
    uint32_t sums[HIRC_MAX_THREADS];
    for (uint32_t thread = 0; thread < plan->threads; thread++) {
      sums[thread] = 0;
      uint32_t mask = arm_lanes(plan, block, segment, thread);
      for (; mask != 0; mask &= mask - 1) {
        sums[thread] += values[thread / 32 * 32 + (uint32_t)__builtin_ctz(mask)];
      }
    }
    for (uint32_t thread = 0; thread < plan->threads; thread++) {
      if (is_there(plan, block, segment, thread)) {
        values[thread] = add_sum(values[thread], sums[thread],
                                 step + STEPS * arm_of(plan, block, segment, thread));
      }
    }
  }
  for (uint32_t thread = 0; thread < plan->threads; thread++) {
    there += is_there(plan, block, segment, thread);
  }
  for (uint32_t thread = 0; thread < plan->threads; thread++) {
    if (is_there(plan, block, segment, thread)) {
      values[thread] = add_sum(values[thread], there,
                               JOIN + STEPS * arm_of(plan, block, segment, thread));
    }
  }
}

static void compare(const struct plan *plan, uint64_t block) {
  uint32_t values[HIRC_MAX_THREADS];
  for (uint32_t thread = 0; thread < plan->threads; thread++) {
    values[thread] = first_value(thread);
  }
  for (uint32_t segment = 0; segment < SEGMENTS; segment++) {
    model_segment(plan, block, segment, values);
  }
  for (uint32_t thread = 0; thread < plan->threads; thread++) {
    uint32_t result = plan->result[block * plan->threads + thread];
    if (result != values[thread]) {
      fprintf(stderr, "seed %u, %u threads: block %u, thread %u: %08x, not %08x\n", plan->seed,
              plan->threads, (uint32_t)block, thread, result, values[thread]);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  enum { BLOCKS = 6 };
  static const uint32_t sizes[] = {1, 20, 32, 33, 64, 100, 160};
  static uint32_t result[BLOCKS * HIRC_MAX_THREADS];
  uint32_t rounds = argc == 2 ? (uint32_t)atoi(argv[1]) : 10;
  for (uint32_t seed = 0; seed < rounds; seed++) {
    struct plan plan = {seed, sizes[seed % COUNT(sizes)], result};
    fill_stops(&plan);
    struct hirc_kernel kernel = KERNEL("stress", regions, stops, 0);
    kernel.state_count = STATES;
    kernel.flags = seed % 3 != 0 ? HIRC_KERNEL_WARP_STOPS : 0; // 0: begins with whole blocks
    memset(result, 0, sizeof result);
    CHECK(launch(&kernel, BLOCKS, plan.threads, &plan) == 0);
    for (uint64_t block = 0; block < BLOCKS; block++) {
      compare(&plan, block);
    }
  }
  return 0;
}
