#include "product.h"

#include <math.h>

union number hirc_decode(int32_t type, uint64_t bits) {
  if (hirc_element_is_integer(type))
    return (union number){.integer = hirc_decode_integer(type, bits)};
  return (union number){.real = hirc_decode_float(type, bits)};
}

// Products of elements of up to 16 bits, and of tf32's, are exact in doubles, and their sums have
// far more bits than the accumulator: PTX leaves the order and the intermediate rounding open.
static void multiply_reals(const struct product *it) {
  for (uint32_t i = 0; i < it->m; ++i) {
    double *sum = &it->c[(size_t)i * it->n].real;
    for (uint32_t k = 0; k < it->k; ++k) {
      double a = it->a[(size_t)i * it->k + k].real;
      const double *b = &it->b[(size_t)k * it->n].real;
      for (uint32_t j = 0; j < it->n; ++j)
        sum[j] += a * b[j];
    }
  }
}

// Products of doubles are rounded once with their sum, as the hardware's fma.
static void multiply_doubles(const struct product *it) {
  for (uint32_t i = 0; i < it->m; ++i)
    for (uint32_t j = 0; j < it->n; ++j) {
      double *sum = &it->c[(size_t)i * it->n + j].real;
      for (uint32_t k = 0; k < it->k; ++k)
        *sum = fma(it->a[(size_t)i * it->k + k].real, it->b[(size_t)k * it->n + j].real, *sum);
    }
}

static void multiply_integers(const struct product *it) {
  for (uint32_t i = 0; i < it->m; ++i) {
    int64_t *sum = &it->c[(size_t)i * it->n].integer;
    for (uint32_t k = 0; k < it->k; ++k) {
      int64_t a = it->a[(size_t)i * it->k + k].integer;
      const int64_t *b = &it->b[(size_t)k * it->n].integer;
      bool exclusive = it->type_a == HIRC_B1 && it->bits == HIRC_BITS_XOR;
      for (uint32_t j = 0; j < it->n; ++j)
        sum[j] += exclusive ? a ^ b[j] : (int32_t)a * (int64_t)(int32_t)b[j];
    }
  }
}

void hirc_multiply(const struct product *product) {
  if (hirc_element_is_integer(product->type_d))
    multiply_integers(product);
  else if (product->type_d == HIRC_F64)
    multiply_doubles(product);
  else
    multiply_reals(product);
}

uint64_t hirc_encode_result(const struct product *product, union number value) {
  if (!hirc_element_is_integer(product->type_d)) {
    const double most = product->type_d == HIRC_F16 ? 65504.0 : 0x1.fffffep127;
    // wmma's .satfinite: NaN is 0, infinities the largest number.
    if (product->saturate)
      value.real = value.real != value.real ? 0 : fmax(-most, fmin(most, value.real));
    return hirc_encode_float(product->type_d, value.real);
  }
  int64_t sum = value.integer;
  if (product->saturate)
    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
  return (uint32_t)sum;
}
