// mma.sync and wmma.mma.

#include "fragments.h"
#include "lanes.h"

enum { P_M, P_N, P_K, P_TYPE_D, P_TYPE_A, P_TYPE_B, P_TYPE_C, P_BITS, P_KIND, P_SATURATE };
enum { P_A_BY_COLUMNS = 10, P_B_BY_COLUMNS };

// One of the call's products; m8n8k4 of f16 has four.
static void gather(const struct hirc_stop_call *call, const struct fragment *fragment,
                   uint32_t slot, uint32_t matrix, union number *to) {
  uint32_t bits = hirc_element_bits(fragment->type), elements = hirc_fragment_elements(fragment);
  memset(to, 0, (size_t)fragment->rows * fragment->columns * sizeof *to);
  for (FOR_LANES(lane, call->lanes))
    for (uint32_t i = 0; i < elements; ++i) {
      struct position at = hirc_fragment_position(fragment, lane, i);
      if (at.matrix == matrix)
        to[at.row * fragment->columns + at.column] =
            hirc_decode(fragment->type, hirc_fragment_read(call, slot, lane, i, bits));
    }
}

static void scatter(const struct hirc_stop_call *call, const struct fragment *fragment,
                    const struct product *product, uint32_t matrix) {
  uint32_t bits = hirc_element_bits(fragment->type), elements = hirc_fragment_elements(fragment);
  for (FOR_LANES(lane, call->lanes))
    for (uint32_t i = 0; i < elements; ++i) {
      struct position at = hirc_fragment_position(fragment, lane, i);
      if (at.matrix != matrix)
        continue;
      union number value = product->c[at.row * product->n + at.column];
      hirc_fragment_write(call, result_slot(call), lane, i, bits,
                          hirc_encode_result(product, value));
    }
}

// The registers of a fragment. wmma's a and b of f16 have each element twice.
static uint32_t registers(const struct hirc_stop_call *call, const struct fragment *fragment,
                          uint32_t slot) {
  uint32_t bits = hirc_element_bits(fragment->type);
  uint32_t count = hirc_fragment_elements(fragment) * bits / (slot_bytes(call, slot) * 8);
  if (!count)
    count = 1;
  bool twice = fragment->kind == HIRC_MMA_WMMA && fragment->type == HIRC_F16 &&
               fragment->role != FRAGMENT_C;
  return twice ? 8 : count;
}

bool hirc_perform_mma(const struct hirc_stop_call *call) {
  union number a[16 * MAX_K], b[MAX_K * 8], c[32 * 32]; // the largest are those of bits
  const int32_t *p = call->stop->parameters;
  uint32_t m = (uint32_t)p[P_M], n = (uint32_t)p[P_N], k = (uint32_t)p[P_K];
  struct fragment fa = {FRAGMENT_A, p[P_KIND], m, k, p[P_TYPE_A], parameter(call, P_A_BY_COLUMNS)};
  struct fragment fb = {FRAGMENT_B, p[P_KIND], k, n, p[P_TYPE_B], parameter(call, P_B_BY_COLUMNS)};
  struct fragment fc = {FRAGMENT_C, p[P_KIND], m, n, p[P_TYPE_C], false};
  struct fragment fd = {FRAGMENT_C, p[P_KIND], m, n, p[P_TYPE_D], false};
  struct product product = {
      .m = m, .n = n, .k = k,
      .type_d = p[P_TYPE_D], .type_a = p[P_TYPE_A], .type_b = p[P_TYPE_B], .type_c = p[P_TYPE_C],
      .bits = p[P_BITS], .saturate = p[P_SATURATE],
      .a = a, .b = b, .c = c,
  };
  uint32_t slot_b = registers(call, &fa, 0), slot_c = slot_b + registers(call, &fb, slot_b);
  uint32_t matrices = p[P_KIND] == HIRC_MMA_QUAD_PAIRS ? 4 : 1;
  for (uint32_t matrix = 0; matrix < matrices; ++matrix) {
    gather(call, &fa, 0, matrix, product.a);
    gather(call, &fb, slot_b, matrix, product.b);
    gather(call, &fc, slot_c, matrix, product.c);
    hirc_multiply(&product);
    scatter(call, &fd, &product, matrix);
  }
  return true;
}
