// One scenario by name: exits with 0 if the engine did what CUDA promises.
#include "kernels.h"
#include "pool.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// --- every thread of a grid once ---------------------------------------------------------------

REGION(count_threads) {
  uint32_t *counts = arguments[0];
  for EACH(thread) {
    counts[block_number(block) * block->threads + thread]++;
  }
  return HIRC_STATE_END;
}

static void grid(void) {
  static hirc_region *const regions[] = {count_threads};
  static const struct hirc_kernel kernel = KERNEL("count_threads", regions, NULL, 0);
  static uint32_t counts[7 * 5 * 3 * 60];
  memset(counts, 0, sizeof counts);
  for (uint32_t round = 1; round <= 50; round++) {
    CHECK(launch_on(&kernel, extent(7, 5, 3), extent(5, 4, 3), (void *[]){counts}) == 0);
    for (size_t i = 0; i < COUNT(counts); i++) {
      CHECK(counts[i] == round);
    }
  }
}

// --- block barriers ----------------------------------------------------------------------------

REGION(store_shared) {
  for EACH(thread) {
    ((uint32_t *)(void *)block->shared)[thread] = thread + (uint32_t)block_number(block);
    at_barrier(block, thread, 0, 0);
  }
  return 1;
}

REGION(load_reversed) {
  uint32_t *result = arguments[0];
  for EACH(thread) {
    result[block_number(block) * block->threads + thread] =
        ((uint32_t *)(void *)block->shared)[block->threads - 1 - thread];
  }
  return HIRC_STATE_END;
}

static void reversed(uint32_t flags) {
  static hirc_region *const regions[] = {store_shared, load_reversed};
  static const struct hirc_stop stops[] = {{0}, BARRIER_AT("prog.mlir:20:7")};
  struct hirc_kernel kernel = KERNEL("reversed", regions, stops, flags);
  enum { BLOCKS = 40, THREADS = 300 };
  static uint32_t result[BLOCKS * THREADS];
  CHECK(launch(&kernel, BLOCKS, THREADS, result) == 0);
  for (uint32_t i = 0; i < COUNT(result); i++) {
    CHECK(result[i] == THREADS - 1 - i % THREADS + i / THREADS);
  }
}

static void barrier(void) { reversed(0); }
static void barrier_by_warps(void) { reversed(HIRC_KERNEL_WARP_STOPS); }

// Threads from 70 on have ended when the others come to the barrier.
REGION(some_end) {
  for EACH(thread) {
    ((uint32_t *)(void *)block->shared)[thread] = thread;
    at_barrier(block, thread, 0, 0);
    block->next[thread] = thread < 70 ? 1 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

REGION(load_last) {
  uint32_t *result = arguments[0];
  for EACH(thread) {
    result[thread] = ((uint32_t *)(void *)block->shared)[69 - thread];
  }
  return HIRC_STATE_END;
}

static void early_end(void) {
  static hirc_region *const regions[] = {some_end, load_last};
  static const struct hirc_stop stops[] = {{0}, BARRIER_AT("prog.mlir:20:7")};
  static const struct hirc_kernel kernel = KERNEL("early_end", regions, stops, 0);
  uint32_t result[70];
  CHECK(launch(&kernel, 1, 128, result) == 0);
  for (uint32_t i = 0; i < 70; i++) {
    CHECK(result[i] == 69 - i);
  }
}

// A reduction over odd threads; thread 5's predicate only for the last parameter.
REGION(predicates) {
  for EACH(thread) {
    at_barrier(block, thread, 3, 0);
    *at(block->exchange, block, 8, 1, thread) = thread < *(uint32_t *)arguments[1];
  }
  return 1;
}

REGION(store_reduction) {
  for EACH(thread) {
    ((uint32_t *)arguments[0])[thread] = U32(exchange, 12, thread);
  }
  return HIRC_STATE_END;
}

static void reduce(void) {
  static hirc_region *const regions[] = {predicates, store_reduction};
  for (int32_t how = HIRC_REDUCE_POPC; how <= HIRC_REDUCE_OR; how++) {
    for (uint32_t flags = 0; flags <= HIRC_KERNEL_WARP_STOPS; flags++) {
      for (uint32_t set = 0; set <= 100; set += 50) {
        struct hirc_stop stops[] = {{0},
                                    {.kind = HIRC_STOP_BARRIER_REDUCE,
                                     .operand_count = 3,
                                     .result_count = 1,
                                     .parameter_count = 1,
                                     .slots = barrier_reduce_slots,
                                     .parameters = &how}};
        struct hirc_kernel kernel = KERNEL("reduce", regions, stops, flags);
        uint32_t result[100], expected = how == HIRC_REDUCE_POPC  ? set
                                         : how == HIRC_REDUCE_AND ? set == 100
                                                                  : set != 0;
        void *arguments[] = {result, &set};
        CHECK(launch_on(&kernel, extent(1, 1, 1), extent(100, 1, 1), arguments) == 0);
        for (uint32_t i = 0; i < 100; i++) {
          CHECK(result[i] == expected);
        }
      }
    }
  }
}

// Warps 0 and 1 produce and arrive, warps 2 and 3 wait for that, ten times, with two barriers.
enum { PRODUCED = 10 };

REGION(produce) {
  for EACH(thread) {
    uint32_t *round = &U32(frames, 0, thread);
    *round = 0;
    at_barrier(block, thread, thread < 64 ? 2 : 1, 128);
    if (thread >= 64) {
      hirc_barrier_arrive(block, thread, 2, 128); // empty
    }
    block->next[thread] = thread < 64 ? 1 : 2;
  }
  return ends(block, first, last);
}

REGION(produced) { // after the producer's wait for "empty"
  for EACH(thread) {
    uint32_t *round = &U32(frames, 0, thread);
    ((uint32_t *)(void *)block->shared)[thread] = 100 * thread + *round;
    hirc_barrier_arrive(block, thread, 1, 128); // full
    at_barrier(block, thread, 2, 128);
    block->next[thread] = ++*round < PRODUCED ? 1 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

REGION(consumed) { // after the consumer's wait for "full"
  for EACH(thread) {
    uint32_t *round = &U32(frames, 0, thread);
    uint32_t *bad = arguments[0];
    *bad += ((uint32_t *)(void *)block->shared)[thread - 64] != 100 * (thread - 64) + *round;
    if (*round + 1 < PRODUCED) {
      hirc_barrier_arrive(block, thread, 2, 128);
    }
    at_barrier(block, thread, 1, 128);
    block->next[thread] = ++*round < PRODUCED ? 2 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

static void arrive(void) {
  static hirc_region *const regions[] = {produce, produced, consumed};
  static const struct hirc_stop stops[] = {{0}, BARRIER_AT("a"), BARRIER_AT("b")};
  for (uint32_t flags = 0; flags <= HIRC_KERNEL_WARP_STOPS; flags++) {
    struct hirc_kernel kernel = KERNEL("arrive", regions, stops, flags);
    uint32_t bad = 0;
    CHECK(launch(&kernel, 1, 128, &bad) == 0);
    CHECK(bad == 0);
  }
}

// --- clusters ----------------------------------------------------------------------------------

REGION(cluster_store) {
  for EACH(thread) {
    ((uint32_t *)(void *)block->shared)[thread] = block->rank_in_cluster * 1000 + thread;
    hirc_cluster_arrive(block, thread);
  }
  return 1;
}

REGION(cluster_load) {
  uint32_t *result = arguments[0];
  for EACH(thread) {
    uint32_t other = (block->rank_in_cluster + 1) % block->blocks_in_cluster;
    result[block_number(block) * block->threads + thread] =
        ((uint32_t *)(void *)block->cluster[other]->shared)[thread];
  }
  return HIRC_STATE_END;
}

static void cluster(void) {
  static hirc_region *const regions[] = {cluster_store, cluster_load};
  static const struct hirc_stop stops[] = {
      {0}, {.kind = HIRC_STOP_CLUSTER_WAIT, .operation = "barrier.cluster.wait"}};
  static const struct hirc_kernel kernel = KERNEL("cluster", regions, stops, 0);
  static uint32_t result[16 * 48];
  struct hirc_grid grid = {.kernel = &kernel,
                           .arguments = (void *[]){result},
                           .grid = {16, 1, 1},
                           .block = {48, 1, 1},
                           .cluster = {4, 1, 1}};
  CHECK(hirc_run_grid(&grid) == 0);
  for (uint32_t i = 0; i < COUNT(result); i++) {
    CHECK(result[i] == (i / 48 + 1) % 4 * 1000 + i % 48);
  }
  grid.cluster.x = 1;
  CHECK(hirc_run_grid(&grid) == 0);
  CHECK(result[47] == 47);
}

// The first block comes late; each block's last thread arrives and ends.
REGION(late_begin) {
  for EACH(thread) {
    U32(frames, 0, thread) = 0;
  }
  return 1;
}

REGION(late_store) {
  for EACH(thread) {
    uint32_t *yields = &U32(frames, 0, thread);
    if (block->rank_in_cluster == 0 && ++*yields < 10) {
      block->next[thread] = 1;
      continue;
    }
    ((uint32_t *)(void *)block->shared)[thread] =
        1 + (uint32_t)block_number(block); // no other cluster left that in the memory
    hirc_cluster_arrive(block, thread);
    block->next[thread] = thread < block->threads - 1 ? 2 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

static void cluster_late(void) {
  static hirc_region *const regions[] = {late_begin, late_store, cluster_load};
  static const struct hirc_stop stops[] = {
      {0}, {.kind = HIRC_STOP_YIELD}, {.kind = HIRC_STOP_CLUSTER_WAIT}};
  static const struct hirc_kernel kernel =
      KERNEL("cluster_late", regions, stops, HIRC_KERNEL_WARP_STOPS);
  enum { THREADS = 2 };
  static uint32_t result[64 * THREADS];
  struct hirc_grid grid = {.kernel = &kernel,
                           .arguments = (void *[]){result},
                           .grid = {64, 1, 1},
                           .block = {THREADS, 1, 1},
                           .cluster = {4, 1, 1}};
  for (uint32_t round = 0; round < 3; round++) {
    memset(result, 0, sizeof result);
    CHECK(hirc_run_grid(&grid) == 0);
    for (uint32_t i = 0; i < COUNT(result); i += THREADS) {
      uint32_t number = i / THREADS;
      CHECK(result[i] == 1 + number / 4 * 4 + (number + 1) % 4);
      CHECK(result[i + 1] == 0);
    }
  }
}

// --- blocks that wait for blocks ---------------------------------------------------------------

REGION(come) {
  for EACH(thread) {
    atomic_fetch_add((_Atomic uint32_t *)arguments[0], 1);
  }
  return 1;
}

REGION(spin) {
  for EACH(thread) {
    uint32_t come = atomic_load((_Atomic uint32_t *)arguments[0]);
    block->next[thread] = come == block->grid.x * block->threads ? HIRC_STATE_END : 1;
  }
  return ends(block, first, last);
}

static const struct hirc_stop yield_stops[] = {
    {0}, {.kind = HIRC_STOP_YIELD, .operation = "yield"}};

static void cooperative(void) {
  static hirc_region *const regions[] = {come, spin};
  static const struct hirc_kernel kernel =
      KERNEL("cooperative", regions, yield_stops, HIRC_KERNEL_WARP_STOPS);
  _Atomic uint32_t come_count = 0;
  struct hirc_grid grid = {.kernel = &kernel,
                           .arguments = (void *[]){&come_count},
                           .grid = {300, 1, 1},
                           .block = {64, 1, 1},
                           .cluster = {1, 1, 1},
                           .cooperative = true};
  CHECK(hirc_run_grid(&grid) == 0);
  CHECK(come_count == 300 * 64);
  come_count = 0; // more in flight than a worker begins with
  grid.cooperative = false;
  CHECK(hirc_run_grid(&grid) == 0);
}

REGION(look_begin) {
  return 1;
}

REGION(look_back) {
  _Atomic uint32_t *sums = arguments[0];
  for EACH(thread) {
    uint64_t number = block_number(block);
    uint32_t before = number == 0 ? 1 : atomic_load(&sums[number - 1]);
    if (before != 0) {
      atomic_store(&sums[number], before + 1);
    }
    block->next[thread] = before != 0 ? HIRC_STATE_END : 1;
  }
  return ends(block, first, last);
}

static void lookback(void) {
  static hirc_region *const regions[] = {look_begin, look_back};
  static const struct hirc_kernel kernel =
      KERNEL("lookback", regions, yield_stops, HIRC_KERNEL_WARP_STOPS);
  static _Atomic uint32_t sums[5000];
  CHECK(launch(&kernel, 5000, 1, sums) == 0);
  CHECK(sums[4999] == 5001);
}

// Lane 7 sets what all others of the block poll for, after a while of its own yields.
static _Atomic uint32_t flag;

static bool flag_is_set(const struct hirc_stop_call *call) {
  CHECK(__builtin_popcount(call->lanes) == 1);
  return atomic_load(&flag) != 0;
}

REGION(poll_begin) {
  for EACH(thread) {
    U32(frames, 0, thread) = 0;
    block->next[thread] = thread == 7 ? 2 : 1;
  }
  return ends(block, first, last);
}

REGION(polled) {
  for EACH(thread) {
    ((uint32_t *)arguments[0])[thread] = atomic_load(&flag);
  }
  return HIRC_STATE_END;
}

REGION(delay) {
  for EACH(thread) {
    bool over = ++U32(frames, 0, thread) == 1000;
    if (over) {
      atomic_store(&flag, 1);
      ((uint32_t *)arguments[0])[thread] = 1;
    }
    block->next[thread] = over ? HIRC_STATE_END : 2;
  }
  return ends(block, first, last);
}

static void poll(void) {
  static hirc_region *const regions[] = {poll_begin, polled, delay};
  static const struct hirc_stop stops[] = {
      {0}, {.kind = HIRC_STOP_POLL, .perform = flag_is_set}, {.kind = HIRC_STOP_YIELD}};
  static const struct hirc_kernel kernel = KERNEL("poll", regions, stops, HIRC_KERNEL_WARP_STOPS);
  uint32_t result[100] = {0};
  CHECK(launch(&kernel, 1, 100, result) == 0);
  for (uint32_t i = 0; i < 100; i++) {
    CHECK(result[i] == 1);
  }
}

// --- warps -------------------------------------------------------------------------------------

// All lanes sum, then odd and even ones by themselves at stops of their own, then all meet again.
REGION(sum_begin) {
  for EACH(thread) {
    U32(exchange, 0, thread) = UINT32_MAX;
    U32(exchange, 4, thread) = thread;
  }
  return 1;
}

REGION(sum_apart) {
  for EACH(thread) {
    U32(frames, 0, thread) = U32(exchange, 12, thread);
    bool odd = thread % 2 != 0;
    U32(exchange, 0, thread) = odd ? 0xaaaaaaaa : 0x55555555;
    block->next[thread] = odd ? 2 : 3;
  }
  return ends(block, first, last);
}

REGION(sum_again) {
  for EACH(thread) {
    U32(frames, 4, thread) = U32(exchange, 12, thread);
    U32(exchange, 0, thread) = UINT32_MAX;
  }
  return 4;
}

REGION(sum_store) {
  uint32_t *result = arguments[0];
  for EACH(thread) {
    result[3 * thread] = U32(frames, 0, thread);
    result[3 * thread + 1] = U32(frames, 4, thread);
    result[3 * thread + 2] = U32(exchange, 12, thread);
  }
  return HIRC_STATE_END;
}

static void warp(void) {
  static hirc_region *const regions[] = {sum_begin, sum_apart, sum_again, sum_again, sum_store};
  static const struct hirc_stop stops[] = {{0}, SUM_AT("a"), SUM_AT("b"), SUM_AT("c"), SUM_AT("d")};
  static const struct hirc_kernel kernel = KERNEL("warp", regions, stops, HIRC_KERNEL_WARP_STOPS);
  enum { THREADS = 72 }; // the last warp has 8 lanes
  uint32_t result[3 * THREADS];
  CHECK(launch(&kernel, 1, THREADS, result) == 0);
  for (uint32_t thread = 0; thread < THREADS; thread++) {
    uint32_t first = thread / 32 * 32, last = first + 32 < THREADS ? first + 32 : THREADS;
    uint32_t sums[2] = {0, 0};
    for (uint32_t other = first; other < last; other++) {
      sums[other % 2] += other;
    }
    CHECK(result[3 * thread] == sums[0] + sums[1]);
    CHECK(result[3 * thread + 1] == sums[thread % 2]);
    CHECK(result[3 * thread + 2] == sums[0] + sums[1]);
  }
}

// Halves of a warp at one stop, each with its own mask; the lanes from 28 on have ended.
REGION(halves_begin) {
  for EACH(thread) {
    U32(exchange, 0, thread) = thread % 32 < 16 ? 0xffff : 0xffff0000;
    U32(exchange, 4, thread) = thread;
    block->next[thread] = thread % 32 < *(uint32_t *)arguments[1] ? 1 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

REGION(halves_store) {
  for EACH(thread) {
    ((uint32_t *)arguments[0])[thread] = U32(exchange, 12, thread);
  }
  return HIRC_STATE_END;
}

static void halves(void) {
  static hirc_region *const regions[] = {halves_begin, halves_store};
  static const struct hirc_stop stops[] = {{0}, SUM_AT("a")};
  static const struct hirc_kernel kernel =
      KERNEL("halves", regions, stops, HIRC_KERNEL_WARP_STOPS);
  for (uint32_t lanes = 28; lanes <= 32; lanes += 4) {
    uint32_t result[32] = {0};
    CHECK(launch_on(&kernel, extent(1, 1, 1), extent(32, 1, 1), (void *[]){result, &lanes}) == 0);
    for (uint32_t lane = 0; lane < lanes; lane++) {
      CHECK(result[lane] == (lane < 16 ? 120 : (lanes - 16) * (lanes + 15) / 2));
    }
  }
}

// --- what is wrong -----------------------------------------------------------------------------

REGION(split_halves) {
  for EACH(thread) {
    at_barrier(block, thread, 0, *(uint32_t *)arguments[0]);
    block->next[thread] = thread < 64 ? 1 : 2;
  }
  return ends(block, first, last);
}

REGION(end) {
  return HIRC_STATE_END;
}

static void different_barriers(void) {
  static hirc_region *const regions[] = {split_halves, end, end};
  static const struct hirc_stop stops[] = {
      {0}, BARRIER_AT("prog.mlir:20:7"), BARRIER_AT("prog.mlir:24:7")};
  static const struct hirc_stop unaligned[] = {
      {0}, UNALIGNED_BARRIER_AT("prog.mlir:20:7"), UNALIGNED_BARRIER_AT("prog.mlir:24:7")};
  static struct hirc_kernel kernel = KERNEL("main_kernel", regions, stops, 0);
  uint32_t all = 0;
  CHECK(launch(&kernel, 10, 128, &all) == 719);
  CHECK(launch(&kernel, 10, 128, &all) == 719); // told once
  kernel.stops = unaligned;
  CHECK(launch(&kernel, 10, 128, &all) == 0);
}

REGION(one_ahead) { // barrier 0 for the lower half, 1 for the others: neither is ever full
  for EACH(thread) {
    at_barrier(block, thread, thread < 64 ? 0 : 1, 0);
  }
  return 1;
}

static void stuck_barriers(void) {
  static hirc_region *const regions[] = {one_ahead, end};
  static const struct hirc_stop stops[] = {{0}, BARRIER_AT("prog.mlir:20:7")};
  static const struct hirc_kernel kernel = KERNEL("main_kernel", regions, stops, 0);
  CHECK(launch(&kernel, 3, 128, NULL) == 719);
}

REGION(half_sum) { // lanes 16 to 31 never come
  for EACH(thread) {
    U32(exchange, 0, thread) = UINT32_MAX;
    if (thread >= 16) {
      at_barrier(block, thread, 0, 0);
    }
    block->next[thread] = thread < 16 ? 1 : 2;
  }
  return ends(block, first, last);
}

static void stuck_shuffle(void) {
  static hirc_region *const regions[] = {half_sum, end, end};
  static const struct hirc_stop stops[] = {
      {0}, SUM_AT("prog.mlir:31:9"), BARRIER_AT("prog.mlir:33:9")};
  static const struct hirc_kernel kernel =
      KERNEL("main_kernel", regions, stops, HIRC_KERNEL_WARP_STOPS);
  CHECK(launch(&kernel, 1, 32, NULL) == 719);
}

// --- faults ------------------------------------------------------------------------------------

REGION(touch) {
  for EACH(thread) {
    *(volatile int *)arguments[0] = (int)thread;
  }
  return HIRC_STATE_END;
}

REGION(divide) {
  for EACH(thread) {
    volatile int zero = 0;
    *(volatile int *)arguments[0] = (int)thread / zero;
  }
  return HIRC_STATE_END;
}

REGION(trap) {
  __builtin_trap();
}

__attribute__((noinline)) static int descend(volatile char *above, int depth) {
  volatile char local[4096];
  local[0] = above[0];
  return depth == 0 ? 0 : descend(local, depth - 1) + local[0];
}

REGION(overflow) {
  return descend(arguments[0], 1 << 30) & HIRC_STATE_END;
}

REGION(fail_assertion) {
  hirc_device_assert_all(block, first + 1, "i < n", "prog.cu", 7, "main_kernel");
}

REGION(call_abort) {
  hirc_device_abort(block, first, 719);
}

static void fails(hirc_region *region, void *argument, int error) {
  hirc_region *const regions[] = {region};
  static hirc_region *const good[] = {count_threads};
  struct hirc_kernel kernel = KERNEL("main_kernel", regions, NULL, 0);
  struct hirc_kernel next = KERNEL("next", good, NULL, 0);
  static uint32_t counts[100];
  CHECK(launch(&kernel, 200, 64, argument) == error);
  memset(counts, 0, sizeof counts);
  CHECK(launch(&next, 10, 10, counts) == 0); // the engine works on
  CHECK(counts[99] == 1);
}

static void illegal_address(void) { fails(touch, (void *)0x1230, 700); }
static void division(void) { fails(divide, &(int){0}, 719); }
static void trapped(void) { fails(trap, NULL, 719); }
static void stack_overflow(void) { fails(overflow, &(char){0}, 719); }
static void assertion(void) { fails(fail_assertion, NULL, 710); }
static void aborted(void) { fails(call_abort, NULL, 719); }

REGION(free_twice) {
  char *memory = hirc_device_malloc(block, first, 100);
  hirc_device_free(block, first, memory);
  hirc_device_free(block, first, memory);
  return HIRC_STATE_END;
}

static void freed_twice(void) { fails(free_twice, NULL, 719); }

// Frames of 8 GB a block where the process may have 4.
static void scarce(void) {
  static hirc_region *const regions[] = {count_threads};
  struct hirc_kernel kernel = KERNEL("main_kernel", regions, NULL, 0);
  static uint32_t counts[100];
  CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){UINT64_C(4) << 30, RLIM_INFINITY}) == 0);
  kernel.frame_bytes = 8 << 20;
  CHECK(launch(&kernel, 100, 1024, counts) == 701);
  kernel.frame_bytes = 16;
  CHECK(launch(&kernel, 10, 10, counts) == 0);
}

static void faults_again(void) {
  for (uint32_t round = 0; round < 3; round++) {
    illegal_address();
    division();
  }
}

static void host_fault(void) {
  illegal_address();
  fflush(stderr);
  *(volatile int *)0x4560 = 1;
}

// --- output, heap ------------------------------------------------------------------------------

struct packed {
  int32_t number;
  double real;
  const char *string;
  int64_t large;
  int32_t width;
  int32_t precision;
  double last;
  int32_t letter;
  const void *pointer;
};

REGION(print) {
  for EACH(thread) {
    struct packed packed = {-5, 1.5, "text", -(INT64_C(1) << 40), 8, 2, 3.14159, 'z', (void *)64};
    packed.number -= (int32_t)thread;
    int count = hirc_device_printf(block, thread, "%4d|%e|%-6s|%llx|%*.*f|%c|%p|%%|%k\n", &packed);
    CHECK(count == 9);
    CHECK(hirc_device_printf(block, thread, NULL, NULL) == -1);
    CHECK(hirc_device_printf(block, thread, "", NULL) == 0);
  }
  return HIRC_STATE_END;
}

static void printed(void) {
  static hirc_region *const regions[] = {print};
  static const struct hirc_kernel kernel = KERNEL("print", regions, NULL, 0);
  CHECK(launch(&kernel, 1, 2, NULL) == 0);
  puts("before");
  hirc_flush_printf();
  struct {
    int32_t width;
    int32_t value;
  } wide = {3000, 7};
  CHECK(hirc_device_printf(NULL, 0, "%*d\n", &wide) == 2);
  for (int32_t i = 0; i < 300000; i++) {
    hirc_device_printf(NULL, 0, "%d\n", &i);
  }
  hirc_flush_printf();
}

static void heap(void) {
  char *memory = hirc_device_malloc(NULL, 0, 5 << 20);
  CHECK(memory != NULL && (uintptr_t)memory % 16 == 0);
  memset(memory, 1, 5 << 20);
  CHECK(hirc_device_malloc(NULL, 0, 5 << 20) == NULL);
  hirc_device_free(NULL, 0, memory);
  hirc_device_free(NULL, 0, NULL);
  memory = hirc_device_malloc(NULL, 0, 5 << 20);
  CHECK(memory != NULL);
  hirc_device_free(NULL, 0, memory);
}

// --- the pool ----------------------------------------------------------------------------------

struct counted {
  struct hirc_task task;
  _Atomic int *done;
  struct counted *more; // submitted by the task
};

static void count_task(struct hirc_task *task) {
  struct counted *counted = (struct counted *)task;
  if (counted->more != NULL) {
    hirc_pool_submit(&counted->more->task);
  }
  grid();
  atomic_fetch_add(counted->done, 1);
}

static void wait_for(_Atomic int *value, int wanted) {
  for (int i = 0; i < 20000 && atomic_load(value) != wanted; i++) {
    usleep(1000);
  }
  CHECK(atomic_load(value) == wanted);
}

static void plain_task(struct hirc_task *task) {
  struct counted *counted = (struct counted *)task;
  if (counted->more != NULL) {
    hirc_pool_submit(&counted->more->task);
  }
  atomic_fetch_add(counted->done, 1);
}

static void tasks(void) {
  static struct counted all[2000];
  static _Atomic int done;
  for (size_t i = 0; i < COUNT(all); i++) {
    all[i] = (struct counted){{plain_task, NULL}, &done, i % 2 == 0 ? &all[i + 1] : NULL};
  }
  for (size_t i = 0; i < COUNT(all); i += 2) {
    hirc_pool_submit(&all[i].task);
  }
  wait_for(&done, COUNT(all));
  usleep(2000); // asleep now
  done = 0;
  hirc_pool_submit(&all[0].task);
  wait_for(&done, 2);
}

// Tasks of which each waits for the one submitted after it, outside of the engine's sight.
static _Atomic int passed;

static void outside_task(struct hirc_task *task) {
  struct counted *counted = (struct counted *)task;
  hirc_pool_begin_outside();
  wait_for(counted->done, (int)(intptr_t)counted->more);
  atomic_fetch_sub(counted->done, 1);
  hirc_pool_end_outside();
}

static void held_up(void) {
  enum { TASKS = 9 };
  struct counted all[TASKS];
  for (unsigned round = 0; round < 20; round++) {
    passed = TASKS - 1;
    for (int i = 0; i < TASKS; i++) {
      all[i] = (struct counted){{outside_task, NULL}, &passed, (struct counted *)(intptr_t)i};
      hirc_pool_submit(&all[i].task);
    }
    wait_for(&passed, -1);
  }
}

// Kernels that hand a number round, in tasks of their own: they wait for one another by turns.
enum { RING = 5, TURNS = 40 };
static _Atomic uint32_t turn;

REGION(ring_begin) {
  U32(frames, 0, 0) = 0;
  return 1;
}

REGION(ring_turn) {
  if (atomic_load(&turn) % RING == *(uint32_t *)arguments[0]) {
    atomic_fetch_add(&turn, 1);
    U32(frames, 0, 0)++;
  }
  return U32(frames, 0, 0) == TURNS ? HIRC_STATE_END : 1;
}

struct ring_task {
  struct hirc_task task;
  uint32_t number;
  _Atomic int *done;
};

static void run_ring(struct hirc_task *task) {
  static hirc_region *const regions[] = {ring_begin, ring_turn};
  static const struct hirc_kernel kernel =
      KERNEL("ring", regions, yield_stops, HIRC_KERNEL_WARP_STOPS);
  struct ring_task *ring = (struct ring_task *)task;
  CHECK(launch(&kernel, 1, 1, &ring->number) == 0);
  atomic_fetch_add(ring->done, 1);
}

static void rings(void) {
  struct ring_task all[RING];
  for (unsigned round = 0; round < 5; round++) {
    _Atomic int done = 0;
    for (uint32_t i = 0; i < RING; i++) {
      all[i] = (struct ring_task){{run_ring, NULL}, i, &done};
      hirc_pool_submit(&all[i].task);
    }
    wait_for(&done, RING);
  }
}

static void forked(void) {
  _Atomic int done = 0;
  struct counted second = {{count_task, NULL}, &done, NULL};
  struct counted first = {{plain_task, NULL}, &done, &second};
  hirc_pool_submit(&first.task);
  wait_for(&done, 2);
  pid_t child = fork();
  if (child == 0) {
    done = 0;
    hirc_pool_submit(&first.task);
    wait_for(&done, 2);
    _exit(0);
  }
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

#define SCENARIO(name) {#name, name}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } scenarios[] = {
      SCENARIO(grid), SCENARIO(barrier), SCENARIO(barrier_by_warps), SCENARIO(early_end),
      SCENARIO(reduce), SCENARIO(arrive), SCENARIO(cluster), SCENARIO(cluster_late), SCENARIO(halves), SCENARIO(faults_again), SCENARIO(cooperative),
      SCENARIO(lookback), SCENARIO(poll), SCENARIO(warp), SCENARIO(different_barriers),
      SCENARIO(stuck_barriers), SCENARIO(stuck_shuffle), SCENARIO(illegal_address),
      SCENARIO(division), SCENARIO(trapped), SCENARIO(stack_overflow), SCENARIO(assertion),
      SCENARIO(aborted), SCENARIO(host_fault), SCENARIO(printed), SCENARIO(heap), SCENARIO(tasks),
      SCENARIO(held_up), SCENARIO(freed_twice), SCENARIO(scarce), SCENARIO(rings), SCENARIO(forked),
  };
  for (size_t i = 0; argc == 2 && i < COUNT(scenarios); i++) {
    if (strcmp(scenarios[i].name, argv[1]) == 0) {
      scenarios[i].run();
      return 0;
    }
  }
  fprintf(stderr, "usage: %s scenario\n", argv[0]);
  return 2;
}
