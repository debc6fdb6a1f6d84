// Where the elements of a matrix lie in the registers of a warp's lanes.
//
// The tables of the PTX ISA ("Matrix Fragments for mma.m16n8k16 with floating point type" and its
// siblings) follow one rule for every shape and type: lane = 4 * group + member; a register of E
// elements holds E neighbours along k, four members one row, eight groups eight rows or columns.
// A 16-row matrix takes two registers for the rows before the next columns. m8n8k4 of f16 and
// wmma, whose layout PTX leaves open, are apart.
#ifndef HIRC_OPERATIONS_FRAGMENTS_H
#define HIRC_OPERATIONS_FRAGMENTS_H

#include "lanes.h"
#include "product.h"

enum fragment_role { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C };

struct fragment {
  enum fragment_role role;
  int32_t kind;           // enum hirc_mma_kind
  uint32_t rows, columns; // of the whole matrix
  int32_t type;
  bool by_columns; // quad pairs only
};

struct position {
  uint32_t row, column;
  uint32_t matrix; // quad pairs: which of four
};

// The binary logarithm of the elements of a register.
static inline uint32_t register_shift(uint32_t bits) {
  return bits < 32 ? (uint32_t)__builtin_ctz(32 / bits) : 0;
}

// The elements that a lane holds.
static inline uint32_t hirc_fragment_elements(const struct fragment *it) {
  if (it->kind == HIRC_MMA_QUAD_PAIRS)
    return it->role == FRAGMENT_C ? 8 : 4;
  return it->rows * it->columns / 32;
}

// Every element once: lane by lane, rows first. Fragments of a and b that have more registers than
// elements (f16) leave the rest alone.
static inline struct position wmma_position(const struct fragment *it, uint32_t lane,
                                            uint32_t element) {
  uint32_t index = lane * hirc_fragment_elements(it) + element;
  return (struct position){index / it->columns, index % it->columns, 0};
}

// m8n8k4: lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 compute product q (PTX ISA, "Matrix Fragments
// for mma.m8n8k4 with .f16 floating point type").
static inline struct position quad_pair_position(const struct fragment *it, uint32_t lane,
                                                 uint32_t i) {
  uint32_t quad = lane >> 2 & 3, upper = lane >= 16 ? 4 : 0, member = lane & 3;
  if (it->role == FRAGMENT_C) {
    if (it->type == HIRC_F16)
      return (struct position){member + upper, i, quad};
    return (struct position){(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1), quad};
  }
  bool along_k = (it->role == FRAGMENT_A) != it->by_columns;
  uint32_t across = along_k ? member + upper : i + upper, k = along_k ? i : member;
  return it->role == FRAGMENT_A ? (struct position){across, k, quad}
                                : (struct position){k, across, quad};
}

static inline struct position hirc_fragment_position(const struct fragment *it, uint32_t lane,
                                                     uint32_t element) {
  if (it->kind == HIRC_MMA_WMMA)
    return wmma_position(it, lane, element);
  if (it->kind == HIRC_MMA_QUAD_PAIRS)
    return quad_pair_position(it, lane, element);
  uint32_t group = lane >> 2, member = lane & 3;
  if (it->role == FRAGMENT_C) {
    bool tall = it->rows > 8;
    uint32_t row = group + (tall ? 8 * (element >> 1 & 1) : 0);
    uint32_t tile = tall ? element >> 2 : element >> 1;
    return (struct position){row, 2 * member + (element & 1) + 8 * tile, 0};
  }
  uint32_t shift = register_shift(hirc_element_bits(it->type)), each = 1u << shift;
  uint32_t number = element >> shift, within = element & (each - 1);
  if (it->role == FRAGMENT_B)
    return (struct position){number * 4 * each + member * each + within, group, 0};
  uint32_t block = it->rows > 8 ? number >> 1 : number;
  uint32_t row = group + (it->rows > 8 ? 8 * (number & 1) : 0);
  return (struct position){row, block * 4 * each + member * each + within, 0};
}

// One element of a lane, of which the fragment's first register is operand or result `slot`.
static inline uint64_t hirc_fragment_read(const struct hirc_stop_call *call, uint32_t slot,
                                          uint32_t lane,
                            uint32_t element, uint32_t bits) {
  if (bits >= 32)
    return read_integer(lane_slot(call, slot + element, lane), bits / 8);
  uint32_t shift = register_shift(bits), within = element & ((1u << shift) - 1);
  uint64_t word = read_integer(lane_slot(call, slot + (element >> shift), lane), 4);
  return word >> (within * bits) & ((UINT64_C(1) << bits) - 1);
}

static inline void hirc_fragment_write(const struct hirc_stop_call *call, uint32_t slot,
                                       uint32_t lane,
                         uint32_t element, uint32_t bits, uint64_t value) {
  uint32_t shift = register_shift(bits), within = element & ((1u << shift) - 1);
  char *to = lane_slot(call, slot + (element >> shift), lane);
  to += within * bits / 8; // results have whole bytes
  write_integer(to, bits / 8, value);
}

#endif
