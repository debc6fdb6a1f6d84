// Printing one number as MLIR's runner functions do: floating point with six significant digits.
#ifndef HIRC_NUMBERS_H
#define HIRC_NUMBERS_H

#include <stdbool.h>
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

// Writes the nearest f16 or bf16, the even one of two. Returns false where that is infinite and the
// number is not.
static inline bool narrow_to_16_bits(double real, bool is_bf16, uint16_t *narrow) {
  enum { STORED = 52, BIAS = 1023, INFINITE = 0x7ff };
  int stored = is_bf16 ? 7 : 10, least = is_bf16 ? -126 : -14;
  uint16_t infinity = is_bf16 ? 0x7f80 : 0x7c00;
  uint64_t bits;
  memcpy(&bits, &real, sizeof bits);
  uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
  int exponent = (int)(bits >> STORED & INFINITE);
  uint64_t digits = bits & ((UINT64_C(1) << STORED) - 1);
  if (exponent == INFINITE) { // a NaN is a quiet one
    *narrow = (uint16_t)(sign | infinity | (digits ? 1 << (stored - 1) : 0));
    return true;
  }
  // A denormal of a double is less than half of the least number.
  digits |= exponent ? UINT64_C(1) << STORED : 0;
  exponent = exponent ? exponent - BIAS : 1 - BIAS;
  int dropped = STORED - stored + (exponent < least ? least - exponent : 0);
  uint64_t kept = 0;
  if (dropped <= STORED + 1) {
    uint64_t half = UINT64_C(1) << (dropped - 1), rest = digits & (2 * half - 1);
    kept = digits >> dropped;
    kept += rest > half || (rest == half && (kept & 1));
  }
  // The digit before the point counts as one of the exponent, and so does a carry into it.
  if (exponent > least)
    kept += (uint64_t)(exponent - least) << stored;
  *narrow = (uint16_t)(sign | (kept < infinity ? kept : infinity));
  return kept < infinity;
}

#endif
