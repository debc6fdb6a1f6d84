// Where the elements of a matrix lie in the registers of a warp's lanes.
#ifndef HIRC_OPERATIONS_FRAGMENTS_H
#define HIRC_OPERATIONS_FRAGMENTS_H

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

// The elements that a lane holds.
uint32_t hirc_fragment_elements(const struct fragment *fragment);
struct position hirc_fragment_position(const struct fragment *fragment, uint32_t lane,
                                       uint32_t element);

// One element of a lane, of which the fragment's first register is operand or result `slot`.
uint64_t hirc_fragment_read(const struct hirc_stop_call *call, uint32_t slot, uint32_t lane,
                            uint32_t element, uint32_t bits);
void hirc_fragment_write(const struct hirc_stop_call *call, uint32_t slot, uint32_t lane,
                         uint32_t element, uint32_t bits, uint64_t value);

#endif
