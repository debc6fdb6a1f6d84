// Printing one number as MLIR's runner functions do: floating point with six significant digits.
#ifndef HIRC_NUMBERS_H
#define HIRC_NUMBERS_H

#include <stdint.h>
#include <string.h>

// Conversions by their bits, since the compiler's helpers for them may be missing at link time.
static inline float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline float float_of_bf16(uint16_t bits) { return float_of_bits((uint32_t)bits << 16); }

static inline float float_of_f16(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f;
  uint32_t fraction = bits & 0x3ff;
  if (exponent == 0) { // zero, or a denormal: fraction * 2^-24, exact in a float
    float magnitude = (float)fraction * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  // The exponents' biases differ by 112; an infinity's or NaN's is all ones in both.
  uint32_t wide = exponent == 0x1f ? 0xff : exponent + 112;
  return float_of_bits(sign | wide << 23 | fraction << 13);
}

#endif
