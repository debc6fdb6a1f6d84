// Rounding an exact result that is given as the sum of two doubles.
#ifndef HIRC_ROUNDING_H
#define HIRC_ROUNDING_H

#include "device_library.h"

// A sum that is not rounded: `value` to nearest, and what that left out.
struct exact {
  double value;
  double rest;
};

// Two doubles' sum (D. Knuth's two-sum). The rest is NaN beside an infinity or NaN.
INLINE struct exact exact_sum(double a, double b) {
  double value = a + b;
  double of_b = value - a;
  double of_a = value - of_b;
  return (struct exact){value, (a - of_a) + (b - of_b)};
}

// The neighbour of a float that is no NaN, from an infinity too.
INLINE float next_down(float value) {
  uint32_t bits = bits_of_float(value);
  uint32_t next = (int32_t)bits < 0 ? bits + 1 : bits - 1;
  return float_of_bits(value == 0 ? 0x80000001 : next);
}

INLINE float next_up(float value) { return -next_down(-value); }

// Rounds to a float. Beside value + rest lie two floats; rounding it to nearest twice gives one of
// them, and which one shows in a comparison.
INLINE float round_to_float(struct exact exact, enum rounding mode) {
  float near = (float)exact.value;
  if (mode == RN) {
    return near;
  }
  double wide = near;
  bool same = wide == exact.value;
  bool above = wide > exact.value || (same && exact.rest < 0);
  bool below = wide < exact.value || (same && exact.rest > 0);
  bool negative = exact.value < 0;
  float down = next_down(near);
  float up = next_up(near);
  switch (mode) {
  case RM:
    return above ? down : near;
  case RP:
    return below ? up : near;
  default:
    return above && !negative ? down : below && negative ? up : near;
  }
}

// Rounds to odd: towards zero, and then the last bit is set if that lost anything. Rounding this to
// a format with at least two bits less gives what rounding the exact value does.
INLINE float round_to_odd(struct exact exact) {
  float near = (float)exact.value;
  double wide = near;
  bool same = wide == exact.value;
  bool above = wide > exact.value || (same && exact.rest < 0);
  bool below = wide < exact.value || (same && exact.rest > 0);
  bool even = (bits_of_float(near) & 1) == 0;
  return !even ? near : above ? next_down(near) : below ? next_up(near) : near;
}

// A sum that is exactly zero is -0 when rounding down, unless both were +0.
INLINE double zero_rounded_down(double sum, double a, double b) {
  uint64_t sign = (bits_of_double(a) | bits_of_double(b)) & UINT64_C(1) << 63;
  return sum == 0 ? double_of_bits(sign) : sum;
}

#endif
