// The approximations of PTX (.approx): here correctly rounded, but for a rare last bit.
//
// Each is computed in double with an error of some 2^-40 and rounded once, without branches.
#include "half_rounding.h"

// 2^x for |x| <= 300: a whole power of two times the Taylor series of exp(r ln 2), |r| <= 1/2.
INLINE double exp2_of(double x) {
  const double ln2 = 0x1.62e42fefa39efp-1;
  const double magic = 0x1.8p52; // adding it leaves x's nearest integer in the last bits
  double shifted = x + magic;
  double r = (x - (shifted - magic)) * ln2;
  double sum = 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1;
  sum = sum * r + 1;
  return sum * double_of_bits((bits_of_double(shifted) + 1023) << 52);
}

INLINE float ex2(float x) {
  // A float overflows at 128 and is zero below -150; the order of operands keeps a NaN.
  float inside = x < -300.0f ? -300.0f : x > 300.0f ? 300.0f : x;
  return x != x ? x : (float)exp2_of(inside);
}

DEVICE float hirc_nvvm_ex2_approx_f32(float x) { return ex2(x); }
DEVICE float hirc_nvvm_ex2_approx_ftz_f32(float x) { return flush(ex2(flush(x))); }
DEVICE _Float16 hirc_nvvm_ex2_approx_f16(_Float16 x) { return (_Float16)ex2((float)x); }
DEVICE _Float16 hirc_nvvm_ex2_approx_ftz_f16(_Float16 x) {
  return flush_half((_Float16)ex2((float)flush_half(x)));
}
DEVICE __bf16 hirc_nvvm_ex2_approx_bf16(__bf16 x) { return round_to_bf16(ex2(float_of_bf16(x))); }
DEVICE __bf16 hirc_nvvm_ex2_approx_ftz_bf16(__bf16 x) {
  return flush_bf16(round_to_bf16(ex2(float_of_bf16(flush_bf16(x)))));
}

// log2 of a float: of x = m 2^e with m in [sqrt(1/2), sqrt(2)) it is e + 2 atanh(s) / ln 2, where
// s = (m - 1) / (m + 1).
INLINE float lg2(float x) {
  double value = x; // no float is a denormal double
  uint64_t bits = bits_of_double(value);
  const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd); // sqrt(1/2)
  int64_t exponent = (int64_t)(bits - half_root) >> 52;
  double m = double_of_bits(bits - ((uint64_t)exponent << 52));
  double s = (m - 1) / (m + 1);
  double square = s * s;
  double sum = 1.0 / 17;
  sum = sum * square + 1.0 / 15;
  sum = sum * square + 1.0 / 13;
  sum = sum * square + 1.0 / 11;
  sum = sum * square + 1.0 / 9;
  sum = sum * square + 1.0 / 7;
  sum = sum * square + 1.0 / 5;
  sum = sum * square + 1.0 / 3;
  sum = sum * square + 1;
  const double two_over_ln2 = 0x1.71547652b82fep1;
  float result = (float)((double)(int32_t)exponent + two_over_ln2 * s * sum);
  result = x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : result;
  return x > 0x1.fffffep127f || x != x ? x : result;
}

DEVICE float hirc_nvvm_lg2_approx_f(float x) { return lg2(x); }
DEVICE float hirc_nvvm_lg2_approx_ftz_f(float x) { return flush(lg2(flush(x))); }
DEVICE double hirc_nvvm_lg2_approx_d(double x) { return __builtin_log2(x); }

// Sine and cosine of r + quadrant * pi/2, where |r| <= pi/4.
INLINE double sine_of(double r, uint32_t quadrant) {
  double square = r * r;
  double sine = -1.0 / 39916800;
  sine = sine * square + 1.0 / 362880;
  sine = sine * square - 1.0 / 5040;
  sine = sine * square + 1.0 / 120;
  sine = sine * square - 1.0 / 6;
  sine = sine * square * r + r;
  double cosine = 1.0 / 479001600;
  cosine = cosine * square - 1.0 / 3628800;
  cosine = cosine * square + 1.0 / 40320;
  cosine = cosine * square - 1.0 / 720;
  cosine = cosine * square + 1.0 / 24;
  cosine = cosine * square - 0.5;
  cosine = cosine * square + 1;
  double chosen = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? -chosen : chosen;
}

// The slow way, for arguments whose multiple of pi/2 the short way cannot take off exactly.
__attribute__((noinline)) static float far_sine(float x, bool cosine) {
  return (float)(cosine ? __builtin_cos((double)x) : __builtin_sin((double)x));
}

INLINE float sine(float x, bool cosine) {
  if (!(__builtin_elementwise_abs(x) < 0x1p20f)) {
    return far_sine(x, cosine);
  }
  const double magic = 0x1.8p52;
  const double two_over_pi = 0x1.45f306dc9c883p-1;
  // pi/2 in three parts; the first two have so few bits that their multiples are exact.
  const double pio2_high = 0x1.921fb544p0, pio2_middle = 0x1.0b4611a6p-34,
               pio2_low = 0x1.3198a2e037073p-69;
  double shifted = (double)x * two_over_pi + magic;
  double count = shifted - magic;
  double r = ((double)x - count * pio2_high) - count * pio2_middle - count * pio2_low;
  float result = (float)sine_of(r, (uint32_t)bits_of_double(shifted) + cosine);
  return x == 0 && !cosine ? x : result;
}

DEVICE float hirc_nvvm_sin_approx_f(float x) { return sine(x, false); }
DEVICE float hirc_nvvm_cos_approx_f(float x) { return sine(x, true); }
DEVICE float hirc_nvvm_sin_approx_ftz_f(float x) { return flush(sine(flush(x), false)); }
DEVICE float hirc_nvvm_cos_approx_ftz_f(float x) { return flush(sine(flush(x), true)); }

// tanh of a float: 1 - 2 / (e^2x + 1), and near zero its series.
INLINE float tanh_of(float x) {
  double magnitude = __builtin_elementwise_abs((double)x);
  double inside = magnitude < 20 ? magnitude : 20;
  double square = inside * inside;
  double series = 62.0 / 2835;
  series = series * square - 17.0 / 315;
  series = series * square + 2.0 / 15;
  series = series * square - 1.0 / 3;
  series = series * square * inside + inside;
  const double two_over_ln2 = 0x1.71547652b82fep1;
  double far = 1 - 2 / (exp2_of(inside * two_over_ln2) + 1);
  float result = (float)(inside < 0x1p-5 ? series : far);
  uint32_t sign = bits_of_float(x) & 0x80000000;
  return x != x ? x : float_of_bits(bits_of_float(result) | sign);
}

DEVICE float hirc_tanh_f32(float x) { return tanh_of(x); }
DEVICE _Float16 hirc_tanh_f16(_Float16 x) { return (_Float16)tanh_of((float)x); }
DEVICE __bf16 hirc_tanh_bf16(__bf16 x) { return round_to_bf16(tanh_of(float_of_bf16(x))); }

// --- roots and quotients ---

INLINE float rsqrt(float x) { return (float)(1 / __builtin_elementwise_sqrt((double)x)); }

DEVICE float hirc_nvvm_rsqrt_approx_f(float x) { return rsqrt(x); }
DEVICE float hirc_nvvm_rsqrt_approx_ftz_f(float x) { return rsqrt(flush(x)); }
DEVICE float hirc_nvvm_sqrt_f(float x) { return __builtin_elementwise_sqrt(x); }
DEVICE float hirc_nvvm_sqrt_approx_f(float x) { return __builtin_elementwise_sqrt(x); }
DEVICE float hirc_nvvm_sqrt_approx_ftz_f(float x) { return __builtin_elementwise_sqrt(flush(x)); }
DEVICE float hirc_nvvm_rcp_approx_ftz_f(float x) { return flush(1 / flush(x)); }
// PTX ISA, div.approx: the reciprocal of a divisor beyond 2^126 is taken for zero.
INLINE float div_approx(float a, float b) {
  float magnitude = __builtin_elementwise_abs(b);
  bool beyond = magnitude > 0x1p126f && magnitude < __builtin_inff();
  return beyond ? a * __builtin_copysignf(0, b) : a / b;
}

DEVICE float hirc_nvvm_div_approx_f(float a, float b) { return div_approx(a, b); }
DEVICE float hirc_nvvm_div_approx_ftz_f(float a, float b) {
  return flush(div_approx(flush(a), flush(b)));
}
DEVICE float hirc_nvvm_div_full(float a, float b) { return a / b; }
DEVICE float hirc_nvvm_div_full_ftz(float a, float b) { return flush(flush(a) / flush(b)); }

// One step of Newton's on top of two rounded operations, away from where the square is subnormal or
// infinite.
DEVICE double hirc_nvvm_rsqrt_approx_d(double x) {
  double scale = x < 0x1p-900 ? 0x1p100 : x > 0x1p900 ? 0x1p-100 : 1;
  double scaled = x * scale * scale;
  double near = 1 / __builtin_elementwise_sqrt(scaled);
  double square = near * near;
  double rest = __builtin_elementwise_fma(near, near, -square);
  double error = __builtin_elementwise_fma(-scaled, square, 1.0) - scaled * rest;
  double better = near + near * error * 0.5;
  better = better == better ? better : near; // of 0 and infinity
  return better * scale;
}

// PTX ISA, rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: of the argument's and of the result's bits
// only the upper 32 count, denormals are zeros, and NaN is 0x7fffffff00000000.
INLINE double upper_half(double value) {
  return double_of_bits(bits_of_double(value) & UINT64_C(0xffffffff) << 32);
}

INLINE double upper_half_flushed(double value) {
  uint64_t bits = bits_of_double(value);
  bool denormal = (bits & UINT64_C(0x7ff) << 52) == 0;
  return denormal ? double_of_bits(bits & UINT64_C(1) << 63) : upper_half(value);
}

INLINE double cut_to_upper_half(double value) {
  return value != value ? double_of_bits(UINT64_C(0x7fffffff) << 32) : upper_half_flushed(value);
}

DEVICE double hirc_nvvm_rcp_approx_ftz_d(double x) {
  return cut_to_upper_half(1 / upper_half_flushed(x));
}
DEVICE double hirc_nvvm_rsqrt_approx_ftz_d(double x) {
  return cut_to_upper_half(1 / __builtin_elementwise_sqrt(upper_half_flushed(x)));
}
