// What the engine's tests have in common: kernels written by hand as generated code would be.
#ifndef ENGINE_KERNELS_H
#define ENGINE_KERNELS_H

#include "execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAY_IGNORE __attribute__((unused))
#define REGION(name)                                                                               \
  static int32_t name(MAY_IGNORE struct hirc_block *block, MAY_IGNORE void *const *arguments,      \
                      MAY_IGNORE uint32_t first, MAY_IGNORE uint32_t last)
#define EACH(thread) (uint32_t thread = first; thread < last; thread++)
#define COUNT(array) (sizeof(array) / sizeof *(array))

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// A thread's value in the exchange, or in the frame, at an offset.
static inline char *at(char *base, const struct hirc_block *block, uint32_t offset, uint32_t bytes,
                       uint32_t thread) {
  return base + (size_t)offset * block->padded_threads + (size_t)bytes * thread;
}
#define U32(base, offset, thread) (*(uint32_t *)(void *)at(block->base, block, offset, 4, thread))

// What a region returns whose threads' next states are in `next`.
static inline int32_t ends(const struct hirc_block *block, uint32_t first, uint32_t last) {
  for (uint32_t thread = first; thread < last; thread++) {
    if (block->next[thread] != block->next[first]) {
      return HIRC_STATES_DIFFER;
    }
  }
  return block->next[first];
}

static inline uint64_t block_number(const struct hirc_block *block) {
  return block->index.x +
         (uint64_t)block->grid.x * (block->index.y + (uint64_t)block->grid.y * block->index.z);
}

static inline struct hirc_extent extent(uint32_t x, uint32_t y, uint32_t z) {
  return (struct hirc_extent){x, y, z};
}

static inline int launch_on(const struct hirc_kernel *kernel, struct hirc_extent grid,
                            struct hirc_extent block, void *const *arguments) {
  struct hirc_grid launch = {.kernel = kernel,
                             .arguments = arguments,
                             .grid = grid,
                             .block = block,
                             .cluster = {1, 1, 1}};
  return hirc_run_grid(&launch);
}

static inline int launch(const struct hirc_kernel *kernel, uint32_t blocks, uint32_t threads,
                         void *argument) {
  void *arguments[] = {argument};
  return launch_on(kernel, extent(blocks, 1, 1), extent(threads, 1, 1), arguments);
}

// Operands at exchange offsets 0, 4 and 8, a result at 12.
static const struct hirc_slot three_words[] = {{0, 4, NULL}, {4, 4, NULL}, {12, 4, NULL}};
static const struct hirc_slot barrier_reduce_slots[] = {
    {0, 4, NULL}, {4, 4, NULL}, {8, 1, NULL}, {12, 4, NULL}};
static const int32_t aligned[] = {1};
#define BARRIER_AT(where)                                                                          \
  {.kind = HIRC_STOP_BARRIER, .operand_count = 2, .parameter_count = 1, .slots = three_words,      \
   .parameters = aligned, .operation = "bar.sync", .source = (where)}
#define UNALIGNED_BARRIER_AT(where)                                                                \
  {.kind = HIRC_STOP_BARRIER, .operand_count = 2, .slots = three_words,                            \
   .operation = "barrier.sync", .source = (where)}
#define KERNEL(function, table, stop_table, more)                                                  \
  {.name = (function), .source = "prog.mlir:12:5", .flags = (more), .state_count = COUNT(table),   \
   .regions = (table), .stops = (stop_table), .frame_bytes = 16, .exchange_bytes = 16}

// Sums a word over the lanes: mask, value -> sum.
static inline bool perform_sum(const struct hirc_stop_call *call) {
  uint32_t *values = hirc_lanes(call, 1), *results = hirc_lanes(call, 2), sum = 0;
  for (uint32_t left = call->lanes; left != 0; left &= left - 1) {
    sum += values[__builtin_ctz(left)];
  }
  for (uint32_t left = call->lanes; left != 0; left &= left - 1) {
    results[__builtin_ctz(left)] = sum;
  }
  return true;
}
#define SUM_AT(where)                                                                              \
  {.kind = HIRC_STOP_WARP, .operand_count = 2, .result_count = 1, .slots = three_words,            \
   .perform = perform_sum, .operation = "shfl.sync.bfly", .source = (where)}

// Prepares bar.sync `number`, `count` for a thread.
static inline void at_barrier(struct hirc_block *block, uint32_t thread, uint32_t number,
                              uint32_t count) {
  U32(exchange, 0, thread) = number;
  U32(exchange, 4, thread) = count;
}

#endif
