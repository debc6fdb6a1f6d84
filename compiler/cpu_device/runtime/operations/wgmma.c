// wgmma.mma_async (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"): each of the four
// warps of a warpgroup computes 16 of 64 rows, at once. The product is the warpgroup's: a group of
// them is complete, for whoever waits, when each of the four warps has committed it.
//
// A matrix descriptor holds, in units of 16 bytes, the start address (bits 0 to 13), the leading
// (16 to 29) and the stride dimension's byte offset (32 to 45); then the base offset of the swizzle
// pattern (49 to 51) and its mode (62 and 63): none, 128, 64 or 32 bytes.

#include "../engine.h"
#include "fragments.h"
#include "lanes.h"

enum {
  P_N,
  P_TYPE_D,
  P_TYPE_A,
  P_TYPE_B,
  P_A_IN_REGISTERS,
  P_SCALE_A,
  P_SCALE_B,
  P_TRANS_A,
  P_TRANS_B,
  P_BITS,
  P_SATURATE,
};
enum { ROWS = 16, K_BITS = 256, CORE_ROWS = 8, CHUNK = 16 };
#define ADDRESS_BITS UINT64_C(0x3ffff)

struct shared_matrix {
  uintptr_t start;
  uint64_t leading, stride; // bytes
  uint32_t swizzle;         // bytes of a row of the pattern, 0: none
  uint32_t base;
  uint32_t bits;    // of an element
  bool transposed;  // m or n is innermost
};

// A descriptor holds 18 bits of the address; the block's shared memory tells the others.
static struct shared_matrix decode(const struct hirc_block *block, uint64_t descriptor,
                                   int32_t type, bool transposed) {
  static const uint32_t widths[] = {0, 128, 64, 32};
  uintptr_t shared = (uintptr_t)block->shared;
  uintptr_t start = (shared & ~ADDRESS_BITS) | (descriptor & 0x3fff) << 4;
  if (start < (shared & ~(uintptr_t)15))
    start += ADDRESS_BITS + 1;
  return (struct shared_matrix){
      .start = start,
      .leading = (descriptor >> 16 & 0x3fff) << 4,
      .stride = (descriptor >> 32 & 0x3fff) << 4,
      .base = (uint32_t)(descriptor >> 49 & 7),
      .swizzle = widths[descriptor >> 62],
      .bits = hirc_element_bits(type),
      .transposed = transposed,
  };
}

// The bit offset of an element by the canonical layouts (PTX ISA, "Shared Memory Matrix Layout"):
// core matrices of 8 rows of 16 bytes, or of a swizzle's width.
static uint64_t bit_offset(const struct shared_matrix *it, uint32_t outer, uint32_t k) {
  uint64_t row = it->swizzle ? it->swizzle : CHUNK;
  if (!it->transposed) {
    uint64_t bit = (uint64_t)k * it->bits, chunk = bit / (row * 8);
    // A swizzled row holds all of an instruction's k: the leading dimension's offset is not used.
    uint64_t across = it->swizzle ? chunk * row : chunk * it->leading;
    uint64_t along = outer % CORE_ROWS * row + outer / CORE_ROWS * it->stride;
    return (along + across) * 8 + bit % (row * 8);
  }
  uint64_t bit = (uint64_t)outer * it->bits, chunk = bit / (row * 8);
  uint64_t of_outer = it->swizzle ? it->leading : it->stride;
  uint64_t of_k = it->swizzle ? it->stride : it->leading;
  return (k % CORE_ROWS * row + k / CORE_ROWS * of_k + chunk * of_outer) * 8 + bit % (row * 8);
}

// The pattern repeats every 8 rows of 128 bytes of the address space: chunks of 16 bytes change
// places within them by the number of the row.
static const char *swizzled(const struct shared_matrix *it, uintptr_t address) {
  uint32_t mask = it->swizzle ? it->swizzle / CHUNK - 1 : 0;
  uintptr_t row = (address >> 7) - it->base;
  return (const char *)(address ^ (row & mask) << 4);
}

static union number load(const struct shared_matrix *it, int32_t type, uint32_t outer, uint32_t k) {
  uint64_t bit = bit_offset(it, outer, k), value = 0;
  const char *from = swizzled(it, it->start + bit / 8);
  memcpy(&value, from, it->bits < 8 ? 1 : it->bits / 8);
  if (it->bits < 8)
    value = value >> (bit % 8) & ((1u << it->bits) - 1);
  return hirc_decode(type, value);
}

static void negate(union number *values, size_t count, bool integers) {
  for (size_t i = 0; i < count && !integers; ++i)
    values[i].real = -values[i].real;
}

bool hirc_perform_wgmma(const struct hirc_stop_call *call) {
  const int32_t *p = call->stop->parameters;
  uint32_t n = (uint32_t)p[P_N], k = K_BITS / hirc_element_bits(p[P_TYPE_A]);
  uint32_t warp = call->first_thread / HIRC_WARP_SIZE % 4, some = first_lane(call);
  bool integers = hirc_element_is_integer(p[P_TYPE_D]);
  union number a[ROWS * MAX_K] = {0}, b[MAX_N * MAX_K], d[ROWS * MAX_N] = {0};
  struct fragment fd = {FRAGMENT_C, HIRC_MMA_SYNC, ROWS, n, p[P_TYPE_D], false};
  struct fragment fa = {FRAGMENT_A, HIRC_MMA_SYNC, ROWS, k, p[P_TYPE_A], false};
  uint32_t bits_d = hirc_element_bits(p[P_TYPE_D]), elements_d = hirc_fragment_elements(&fd);
  uint32_t slot_a = call->stop->result_count;
  uint32_t slot_b = slot_a + (p[P_A_IN_REGISTERS] ? 4 : 1);

  if (*lane_slot(call, slot_b + 1, some) & 1)
    for (FOR_LANES(lane, call->lanes))
      for (uint32_t i = 0; i < elements_d; ++i) {
        struct position at = hirc_fragment_position(&fd, lane, i);
        d[at.row * n + at.column] =
            hirc_decode(p[P_TYPE_D], hirc_fragment_read(call, 0, lane, i, bits_d));
      }
  if (p[P_A_IN_REGISTERS]) {
    for (FOR_LANES(lane, call->lanes))
      for (uint32_t i = 0; i < hirc_fragment_elements(&fa); ++i) {
        struct position at = hirc_fragment_position(&fa, lane, i);
        uint32_t bits = hirc_element_bits(p[P_TYPE_A]);
        a[at.row * k + at.column] =
            hirc_decode(p[P_TYPE_A], hirc_fragment_read(call, slot_a, lane, i, bits));
      }
  } else {
    uint64_t descriptor = read_integer(lane_slot(call, slot_a, some), 8);
    struct shared_matrix matrix = decode(call->block, descriptor, p[P_TYPE_A], p[P_TRANS_A]);
    for (uint32_t row = 0; row < ROWS; ++row)
      for (uint32_t i = 0; i < k; ++i)
        a[row * k + i] = load(&matrix, p[P_TYPE_A], ROWS * warp + row, i);
  }
  uint64_t descriptor = read_integer(lane_slot(call, slot_b, some), 8);
  struct shared_matrix matrix = decode(call->block, descriptor, p[P_TYPE_B], p[P_TRANS_B]);
  for (uint32_t column = 0; column < n; ++column)
    for (uint32_t i = 0; i < k; ++i)
      b[i * n + column] = load(&matrix, p[P_TYPE_B], column, i);
  if (p[P_SCALE_A] * p[P_SCALE_B] < 0)
    negate(a, (size_t)ROWS * k, integers);

  struct product product = {
      .m = ROWS, .n = n, .k = k,
      .type_d = p[P_TYPE_D], .type_a = p[P_TYPE_A], .type_b = p[P_TYPE_B], .type_c = p[P_TYPE_D],
      .bits = p[P_BITS], .saturate = p[P_SATURATE],
      .a = a, .b = b, .c = d,
  };
  hirc_multiply(&product);
  for (FOR_LANES(lane, call->lanes))
    for (uint32_t i = 0; i < elements_d; ++i) {
      struct position at = hirc_fragment_position(&fd, lane, i);
      hirc_fragment_write(call, result_slot(call), lane, i, bits_d,
                          hirc_encode_result(&product, d[at.row * n + at.column]));
    }
  return true;
}

enum { WARPS = 4 };

bool hirc_perform_wgmma_commit(const struct hirc_stop_call *call) {
  struct hirc_running_block *block = (struct hirc_running_block *)call->block;
  block->warps[call->first_thread / HIRC_WARP_SIZE].committed++;
  return true;
}

bool hirc_poll_wgmma_groups(const struct hirc_stop_call *call) {
  const struct hirc_running_block *block = (const struct hirc_running_block *)call->block;
  uint32_t warp = call->first_thread / HIRC_WARP_SIZE, first = warp - warp % WARPS;
  uint64_t left = read_integer(lane_slot(call, 0, first_lane(call)), slot_bytes(call, 0));
  uint32_t committed = block->warps[warp].committed;
  if (left >= committed)
    return true;
  for (uint32_t other = first; other < first + WARPS && other < block->warp_count; ++other)
    if (block->warps[other].committed + left < committed)
      return false;
  return true;
}
