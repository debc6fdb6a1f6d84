// Rounding to the 16-bit formats.
#ifndef HIRC_HALF_ROUNDING_H
#define HIRC_HALF_ROUNDING_H

#include "rounding.h"

enum { HALF_NAN = 0x7fff, BF16_NAN = 0x7fff };

// On bits, as a processor's instruction for it may be missing and a call would not be vectorised.
INLINE uint16_t bf16_bits(float value, enum rounding mode) {
  uint32_t bits = bits_of_float(value);
  uint32_t up = mode == RN ? 0x7fff + (bits >> 16 & 1) : 0;
  return value != value ? BF16_NAN : (uint16_t)((bits + up) >> 16);
}

INLINE __bf16 round_to_bf16(float value) { return bf16_of_bits(bf16_bits(value, RN)); }

// Towards zero: what the nearest has too much is one in its last place.
INLINE uint16_t half_bits(float value, enum rounding mode) {
  _Float16 near = (_Float16)value;
  uint16_t bits = bits_of_half(near);
  if (mode == RZ) {
    bool beyond = __builtin_elementwise_abs((float)near) > __builtin_elementwise_abs(value);
    bits = (uint16_t)(bits - beyond);
  }
  return value != value ? HALF_NAN : bits;
}

// .relu: what is negative becomes +0; .satfinite: what is too large becomes the largest number. NaN
// is the canonical one, the same bits in both formats.
INLINE uint16_t finished_16(uint16_t bits, bool relu, bool finite, uint16_t infinity) {
  uint16_t magnitude = bits & 0x7fff;
  uint16_t sign = bits & 0x8000;
  bool nan = magnitude > infinity;
  magnitude = finite && magnitude == infinity ? (uint16_t)(infinity - 1) : magnitude;
  return nan ? HALF_NAN : relu && sign != 0 ? 0 : (uint16_t)(sign | magnitude);
}

#endif
