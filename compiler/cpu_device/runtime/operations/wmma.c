// wmma.load and wmma.store: fragments whose layout is the CPU device's (see fragments.c). Every lane gives the
// same address and stride.

#include "../checks/checks.h"
#include "fragments.h"
#include "lanes.h"

enum { P_ROWS, P_COLUMNS, P_TYPE, P_BY_COLUMNS, P_HAS_STRIDE };

struct memory_matrix {
  char *start;
  uint64_t stride; // in elements, between rows, or columns where those are contiguous
  uint32_t rows, columns, bits;
  bool by_columns;
};

static struct memory_matrix memory_matrix(const struct hirc_stop_call *call, uint32_t lane,
                                          uint32_t stride_slot) {
  const int32_t *p = call->stop->parameters;
  struct memory_matrix it = {.start = read_pointer(call, 0, lane),
                             .rows = (uint32_t)p[P_ROWS],
                             .columns = (uint32_t)p[P_COLUMNS],
                             .bits = hirc_element_bits(p[P_TYPE]),
                             .by_columns = p[P_BY_COLUMNS]};
  it.stride = it.by_columns ? it.rows : it.columns;
  if (p[P_HAS_STRIDE])
    it.stride = read_integer(lane_slot(call, stride_slot, lane), slot_bytes(call, stride_slot));
  return it;
}

// The bit that element `index` of the fragment begins at.
static uint64_t bit_of(const struct memory_matrix *it, uint32_t index) {
  uint32_t row = index / it->columns, column = index % it->columns;
  return it->bits * (it->by_columns ? column * it->stride + row : row * it->stride + column);
}

bool hirc_perform_wmma_load(const struct hirc_stop_call *call) {
  uint32_t registers = call->stop->result_count, width = slot_bytes(call, result_slot(call));
  for (FOR_LANES(lane, call->lanes)) {
    struct memory_matrix it = memory_matrix(call, lane, 1);
    uint32_t all = it.rows * it.columns, mine = all / 32;
    uint32_t each = width * 8 / it.bits;
    for (uint32_t number = 0; number < registers; ++number) {
      uint64_t word = 0;
      for (uint32_t i = 0; i < each; ++i) {
        // Registers beyond the elements hold them again.
        uint64_t bit = bit_of(&it, lane * mine + (number * each + i) % mine);
        uint64_t value = 0;
        uint32_t bytes = it.bits < 8 ? 1 : it.bits / 8;
        hirc_checks_lane_access(call, lane, it.start + bit / 8, bytes, HIRC_CHECKED_READ);
        memcpy(&value, it.start + bit / 8, bytes);
        if (it.bits < 8)
          value = value >> (bit % 8) & ((UINT64_C(1) << it.bits) - 1);
        word |= value << (i * it.bits);
      }
      write_integer(lane_slot(call, result_slot(call) + number, lane), width, word);
    }
  }
  return true;
}

bool hirc_perform_wmma_store(const struct hirc_stop_call *call) {
  uint32_t stride_slot = call->stop->operand_count - 1;
  for (FOR_LANES(lane, call->lanes)) {
    struct memory_matrix it = memory_matrix(call, lane, stride_slot);
    uint32_t mine = it.rows * it.columns / 32;
    for (uint32_t i = 0; i < mine; ++i) {
      uint64_t value = hirc_fragment_read(call, 1, lane, i, it.bits);
      char *place = it.start + bit_of(&it, lane * mine + i) / 8;
      hirc_checks_lane_access(call, lane, place, it.bits / 8, HIRC_CHECKED_WRITE);
      memcpy(place, &value, it.bits / 8);
    }
  }
  return true;
}
