// D = A B + C of small matrices, by the rules of the tensor cores' instructions.
#ifndef HIRC_OPERATIONS_PRODUCT_H
#define HIRC_OPERATIONS_PRODUCT_H

#include "elements.h"

enum { MAX_N = 256, MAX_K = 256 };

// Row-major matrices: a is m x k, b k x n, c and d m x n. Which of the two numbers of an element is
// used follows from the type of d.
union number {
  double real;
  int64_t integer;
};

struct product {
  uint32_t m, n, k;
  int32_t type_d, type_a, type_b, type_c;
  int32_t bits; // enum hirc_bit_product
  bool saturate;
  union number *a, *b, *c; // c is replaced by d, not rounded to its type
};

union number hirc_decode(int32_t type, uint64_t bits);
void hirc_multiply(const struct product *product);
// An element of d as bits of its type.
uint64_t hirc_encode_result(const struct product *product, union number value);

#endif
