// A matrix product as loops over strided operands, and the same as cuBLASLt takes it.
#ifndef HIRC_MATMUL_SHAPE_H
#define HIRC_MATMUL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

// The operands, result(m, n) = first(m, k) * second(k, n) + bias + addend(m, n). Their bits say which
// a loop indexes.
enum {
  MATMUL_FIRST,
  MATMUL_SECOND,
  MATMUL_RESULT,
  MATMUL_BIAS,
  MATMUL_ADDEND,
  MATMUL_OPERANDS,
};

enum {
  MATMUL_LOOP_M = 1 << MATMUL_FIRST | 1 << MATMUL_RESULT,
  MATMUL_LOOP_N = 1 << MATMUL_SECOND | 1 << MATMUL_RESULT,
  MATMUL_LOOP_K = 1 << MATMUL_FIRST | 1 << MATMUL_SECOND,
  MATMUL_LOOP_BATCH = MATMUL_LOOP_M | MATMUL_LOOP_N,
  MATMUL_MAX_LOOPS = 16,
};

// One loop: its number of iterations, and the operands' strides in elements, 0 where it does not
// index an operand.
struct matmul_loop {
  int64_t size;
  int64_t strides[MATMUL_OPERANDS];
};

// A column-major matrix in memory.
struct matmul_matrix {
  int64_t rows, columns, leading, batch_stride;
  bool is_transposed; // whether the product takes its transpose
};

// The product left * right of column-major matrices. Where `is_swapped` left is the transpose of the
// second operand, right that of the first, and the result is transposed too, as one whose last dim
// is contiguous lies in memory, and with it the addend. The loops in `outer` run around calls of the library; those over k
// among them, which come last, add to what the first call gave.
struct matmul_shape {
  struct matmul_matrix left, right, result, addend;
  bool is_swapped;
  int64_t inner; // the products in a sum
  int64_t batch;
  int outer_count, outer_adding;
  struct matmul_loop outer[MATMUL_MAX_LOOPS];
};

// Whether any element of the result is there to be computed.
bool hirc_matmul_has_result(int count, const int64_t *kinds, const struct matmul_loop *loops);

// Finds the form for the library. `kinds` are bits of the operands that each loop indexes. False
// where strides allow none.
bool hirc_matmul_find_shape(struct matmul_shape *shape, int count, const int64_t *kinds,
                            const struct matmul_loop *loops);

#endif
