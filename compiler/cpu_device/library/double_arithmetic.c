// f64 add, mul, fma, div, rcp and sqrt in each rounding mode.
//
// To nearest they are LLVM's own operations. Those of the other modes are computed on integers: no
// wider format is there to hold an exact result, and programs seldom need them.
#include "rounding.h"

typedef unsigned __int128 wide;

// significand * 2^exponent; the significand of anything but zero has its highest bit at 52.
struct number {
  bool negative;
  int exponent;
  uint64_t significand;
};

INLINE bool finite_nonzero(double value) {
  uint64_t magnitude = bits_of_double(value) << 1;
  return magnitude != 0 && magnitude < UINT64_C(0x7ff) << 53;
}

static struct number unpacked(double value) {
  uint64_t bits = bits_of_double(value);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  int biased = (int)(bits >> 52 & 0x7ff);
  bool negative = bits >> 63;
  if (biased != 0) {
    return (struct number){negative, biased - 1075, fraction | UINT64_C(1) << 52};
  }
  int shift = fraction != 0 ? __builtin_clzll(fraction) - 11 : 0;
  return (struct number){negative, -1074 - shift, fraction << shift};
}

// Rounds significand * 2^exponent, where `more` says that the exact value is a little larger. Not
// to nearest. Where there is more, the significand has over 53 bits.
static double packed(bool negative, wide significand, int exponent, bool more,
                     enum rounding mode) {
  uint64_t high = (uint64_t)(significand >> 64);
  int top = high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)significand);
  int unit = exponent + top - 52;
  unit = unit < -1074 ? -1074 : unit;
  int shift = unit - exponent;
  uint64_t kept;
  if (shift <= 0) {
    kept = (uint64_t)(significand << -shift);
  } else if (shift > 127) {
    kept = 0;
    more = true;
  } else {
    kept = (uint64_t)(significand >> shift);
    more = more || (significand & (((wide)1 << shift) - 1)) != 0;
  }
  bool away = mode == (negative ? RM : RP);
  kept += more && away;
  if (kept >> 53 != 0) {
    kept >>= 1;
    unit++;
  }
  uint64_t bits = ((uint64_t)(unit + 1074) << 52) + kept;
  const uint64_t infinity = UINT64_C(0x7ff) << 52;
  if (unit > 971) {
    bits = away ? infinity : infinity - 1;
  }
  return double_of_bits(bits | (uint64_t)negative << 63);
}

__attribute__((noinline)) static double fma_directed(double a, double b, double c,
                                                     enum rounding mode) {
  if (!finite_nonzero(a) || !finite_nonzero(b)) {
    // An infinity, NaN, or a product of zero: nothing is rounded, but two zeros may cancel.
    double sum = a * b + c;
    return a * b == 0 && c == 0 && mode == RM ? zero_rounded_down(sum, a * b, c) : sum;
  }
  if (c != c || c - c != 0) {
    return c;
  }
  struct number x = unpacked(a), y = unpacked(b), z = unpacked(c);
  bool negative = x.negative != y.negative;
  // Both terms with their highest bit at 124 or 125, so that a sum fits and what is lost of the
  // smaller one is far below the larger one's end.
  wide large = (wide)x.significand * y.significand << 20;
  int exponent = x.exponent + y.exponent - 20;
  wide small = (wide)z.significand << 72;
  int distance = small == 0 ? 0 : exponent - (z.exponent - 72);
  bool other = z.negative;
  if (distance < 0) {
    wide swapped = large;
    large = small;
    small = swapped;
    other = negative;
    negative = z.negative;
    distance = -distance;
    exponent += distance;
  }
  bool more = distance > 127 || (small & (((wide)1 << distance) - 1)) != 0;
  small = distance > 127 ? 0 : small >> distance;
  if (negative == other) {
    return packed(negative, large + small, exponent, more, mode);
  }
  if (large < small) { // then they are aligned within two bits, and nothing is lost
    return packed(other, small - large, exponent, more, mode);
  }
  wide difference = large - small - more;
  if (difference == 0) {
    return mode == RM ? -0.0 : 0.0;
  }
  return packed(negative, difference, exponent, more, mode);
}

__attribute__((noinline)) static double mul_directed(double a, double b, enum rounding mode) {
  if (!finite_nonzero(a) || !finite_nonzero(b)) {
    return a * b;
  }
  struct number x = unpacked(a), y = unpacked(b);
  return packed(x.negative != y.negative, (wide)x.significand * y.significand,
                x.exponent + y.exponent, false, mode);
}

__attribute__((noinline)) static double div_directed(double a, double b, enum rounding mode) {
  if (!finite_nonzero(a) || !finite_nonzero(b)) {
    return a / b;
  }
  struct number x = unpacked(a), y = unpacked(b);
  uint64_t quotient = 0, remainder = x.significand;
  const int fraction_bits = 55;
  for (int bit = 0; bit <= fraction_bits; bit++) {
    bool fits = remainder >= y.significand;
    quotient = quotient << 1 | fits;
    remainder = (remainder - (fits ? y.significand : 0)) << 1;
  }
  return packed(x.negative != y.negative, quotient, x.exponent - y.exponent - fraction_bits,
                remainder != 0, mode);
}

INLINE double sqrt_directed(double a, enum rounding mode) {
  // Scaled by a square, so that the remainder of a small number does not vanish.
  bool small = a < 0x1p-900;
  double scaled = small ? a * 0x1p200 : a;
  double root = __builtin_elementwise_sqrt(scaled);
  double remainder = __builtin_elementwise_fma(-root, root, scaled);
  uint64_t bits = bits_of_double(root);
  bits -= remainder < 0 && mode != RP;
  bits += remainder > 0 && mode == RP;
  root = double_of_bits(bits);
  return small ? root * 0x1p-100 : root;
}

DEVICE double hirc_nvvm_add_rn_d(double a, double b) { return a + b; }
DEVICE double hirc_nvvm_mul_rn_d(double a, double b) { return a * b; }
DEVICE double hirc_nvvm_div_rn_d(double a, double b) { return a / b; }
DEVICE double hirc_nvvm_rcp_rn_d(double a) { return 1 / a; }
DEVICE double hirc_nvvm_sqrt_rn_d(double a) { return __builtin_elementwise_sqrt(a); }
DEVICE double hirc_nvvm_fma_rn_d(double a, double b, double c) {
  return __builtin_elementwise_fma(a, b, c);
}

#define DIRECTED(mode, MODE_)                                                                      \
  DEVICE double hirc_nvvm_add_##mode##_d(double a, double b) {                                     \
    return fma_directed(a, 1, b, MODE_);                                                           \
  }                                                                                                \
  DEVICE double hirc_nvvm_mul_##mode##_d(double a, double b) { return mul_directed(a, b, MODE_); } \
  DEVICE double hirc_nvvm_fma_##mode##_d(double a, double b, double c) {                           \
    return fma_directed(a, b, c, MODE_);                                                           \
  }                                                                                                \
  DEVICE double hirc_nvvm_div_##mode##_d(double a, double b) { return div_directed(a, b, MODE_); } \
  DEVICE double hirc_nvvm_rcp_##mode##_d(double a) { return div_directed(1, a, MODE_); }           \
  DEVICE double hirc_nvvm_sqrt_##mode##_d(double a) { return sqrt_directed(a, MODE_); }

DIRECTED(rz, RZ)
DIRECTED(rm, RM)
DIRECTED(rp, RP)
