// ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements between shared memory and the fragments
// of mma; movmatrix transposes one (PTX ISA, "ldmatrix", "stmatrix", "movmatrix").
// Lane 8 i + r holds the address of row r of matrix i.

#include "../checks/checks.h"
#include "lanes.h"
#include "operations.h"

typedef uint16_t matrix[8][8];

// The element of a matrix that lane `lane` holds in half `half` of its register.
static uint16_t *element(matrix m, bool transposed, uint32_t lane, uint32_t half) {
  uint32_t group = lane >> 2, along = 2 * (lane & 3) + half;
  return transposed ? &m[along][group] : &m[group][along];
}

static void from_registers(const struct hirc_stop_call *call, uint32_t slot, bool transposed,
                           matrix to) {
  for (FOR_LANES(lane, call->lanes)) {
    uint32_t word = (uint32_t)read_integer(lane_slot(call, slot, lane), 4);
    *element(to, transposed, lane, 0) = (uint16_t)word;
    *element(to, transposed, lane, 1) = (uint16_t)(word >> 16);
  }
}

static void to_registers(const struct hirc_stop_call *call, uint32_t slot, bool transposed,
                         matrix from) {
  for (FOR_LANES(lane, call->lanes)) {
    uint32_t low = *element(from, transposed, lane, 0), high = *element(from, transposed, lane, 1);
    write_integer(lane_slot(call, slot, lane), 4, low | high << 16);
  }
}

bool hirc_perform_ldmatrix(const struct hirc_stop_call *call) {
  uint32_t count = (uint32_t)parameter(call, 0);
  bool transposed = parameter(call, 1);
  matrix matrices[4] = {0};
  for (FOR_LANES(lane, call->lanes))
    if (lane < 8 * count) {
      hirc_checks_lane_access(call, lane, read_pointer(call, 0, lane), sizeof **matrices,
                              HIRC_CHECKED_READ);
      memcpy(matrices[lane / 8][lane % 8], read_pointer(call, 0, lane), sizeof **matrices);
    }
  for (uint32_t i = 0; i < count; ++i)
    to_registers(call, result_slot(call) + i, transposed, matrices[i]);
  return true;
}

bool hirc_perform_stmatrix(const struct hirc_stop_call *call) {
  uint32_t count = (uint32_t)parameter(call, 0);
  bool transposed = parameter(call, 1);
  for (uint32_t i = 0; i < count; ++i) {
    matrix one = {0};
    from_registers(call, 1 + i, transposed, one);
    for (FOR_LANES(lane, call->lanes))
      if (lane / 8 == i) {
        hirc_checks_lane_access(call, lane, read_pointer(call, 0, lane), sizeof *one,
                                HIRC_CHECKED_WRITE);
        memcpy(read_pointer(call, 0, lane), one[lane % 8], sizeof *one);
      }
  }
  return true;
}

bool hirc_perform_movmatrix(const struct hirc_stop_call *call) {
  matrix one = {0};
  from_registers(call, 0, false, one);
  to_registers(call, result_slot(call), true, one);
  return true;
}
