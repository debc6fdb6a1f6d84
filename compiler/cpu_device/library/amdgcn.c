// Intrinsics of AMD's chips: of a lane's place in its wavefront, what the launch is, and of floats.
#include "device_library.h"

#include "../runtime/device_abi.h"

#include <math.h>

// How many bits of the mask stand for lanes below the thread's own, and `base`: of lanes 0 to 31,
// and of 32 to 63.
DEVICE uint32_t hirc_amdgcn_mbcnt_lo(struct hirc_block *block, uint32_t thread, uint32_t mask,
                                     uint32_t base) {
  uint32_t lane = thread % block->lanes;
  uint32_t below = lane >= 32 ? UINT32_MAX : (UINT32_C(1) << lane) - 1;
  return base + (uint32_t)__builtin_popcount(mask & below);
}

DEVICE uint32_t hirc_amdgcn_mbcnt_hi(struct hirc_block *block, uint32_t thread, uint32_t mask,
                                     uint32_t base) {
  uint32_t lane = thread % block->lanes;
  uint32_t below = lane < 32 ? 0 : (UINT32_C(1) << (lane - 32)) - 1;
  return base + (uint32_t)__builtin_popcount(mask & below);
}

DEVICE uint32_t hirc_amdgcn_wavefrontsize(struct hirc_block *block, uint32_t thread) {
  (void)thread;
  return block->lanes;
}

DEVICE void *hirc_amdgcn_implicitarg_ptr(struct hirc_block *block, uint32_t thread) {
  (void)thread;
  return &block->hidden;
}

DEVICE float hirc_amdgcn_rcp_f32(float x) { return 1.0F / x; }
DEVICE double hirc_amdgcn_rcp_f64(double x) { return 1.0 / x; }
DEVICE float hirc_amdgcn_sqrt_f32(float x) { return __builtin_sqrtf(x); }
DEVICE double hirc_amdgcn_sqrt_f64(double x) { return __builtin_sqrt(x); }
DEVICE float hirc_amdgcn_rsq_f32(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
DEVICE double hirc_amdgcn_rsq_f64(double x) { return 1.0 / __builtin_sqrt(x); }

// v_fract: below 1 always, where x - floor(x) would round up to it.
DEVICE float hirc_amdgcn_fract_f32(float x) {
  float fraction = x - __builtin_floorf(x);
  return fraction < 1.0F ? fraction : fraction != fraction ? fraction : 0x1.fffffep-1F;
}

DEVICE double hirc_amdgcn_fract_f64(double x) {
  double fraction = x - __builtin_floor(x);
  return fraction < 1.0 ? fraction : fraction != fraction ? fraction : 0x1.fffffffffffffp-1;
}

// v_frexp_mant and v_frexp_exp: infinities and NaNs are their own, with exponent 0.
DEVICE double hirc_amdgcn_frexp_mant_f64(double x) {
  int exponent;
  return __builtin_isfinite(x) ? __builtin_frexp(x, &exponent) : x;
}

DEVICE int32_t hirc_amdgcn_frexp_exp_i32_f64(double x) {
  int exponent = 0;
  if (__builtin_isfinite(x)) {
    (void)__builtin_frexp(x, &exponent);
  }
  return exponent;
}

// The same of a float, whose mantissa a double holds as it is.
DEVICE float hirc_amdgcn_frexp_mant_f32(float x) { return (float)hirc_amdgcn_frexp_mant_f64(x); }
DEVICE int32_t hirc_amdgcn_frexp_exp_i32_f32(float x) { return hirc_amdgcn_frexp_exp_i32_f64(x); }

// v_trig_preop_f64: 53 bits of 2/pi, from a place that the exponent of x and the segment tell, as a
// number of that weight; 2^128 times as much for a very large x.
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
    0xdebbc561, 0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e,
    0xe88235f5, 0x2ebb4484, 0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b,
    0xbdf9283b, 0x1ff897ff, 0xde05980f, 0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7,
    0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b, 0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1,
    0x1f8d5d08, 0x56033046, 0xfc7b6bab};

DEVICE double hirc_amdgcn_trig_preop_f64(double x, uint32_t segment) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  uint32_t exponent = bits >> 52 & 0x7ff, shift = (segment & 31) * 53;
  shift += exponent > 1077 ? exponent - 1077 : 0;
  uint32_t word = shift / 32, rest = shift % 32;
  if (word + 2 >= sizeof two_over_pi / sizeof *two_over_pi) {
    return 0.0;
  }
  uint64_t high = (uint64_t)two_over_pi[word] << 32 | two_over_pi[word + 1];
  uint64_t low = (uint64_t)two_over_pi[word + 2] << 32;
  high = rest == 0 ? high : high << rest | low >> (64 - rest);
  int32_t scale = -53 - (int32_t)shift + (exponent >= 1968 ? 128 : 0);
  return __builtin_ldexp((double)(high >> 11), scale);
}

// v_cmp_class: bits 0 to 9 of the mask are signaling NaN, quiet NaN, -infinity, -normal,
// -subnormal, -0, +0, +subnormal, +normal, +infinity.
INLINE bool in_class(bool negative, bool is_nan, bool quiet, bool infinite, bool zero, bool normal,
                     uint32_t mask) {
  uint32_t bit;
  if (is_nan) {
    bit = quiet ? 1 : 0;
  } else {
    uint32_t size = infinite ? 3 : normal ? 2 : zero ? 0 : 1;
    bit = negative ? 5 - size : 6 + size;
  }
  return mask >> bit & 1;
}

DEVICE bool hirc_amdgcn_class_f32(float x, uint32_t mask) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  uint32_t exponent = bits >> 23 & 0xff, fraction = bits & 0x7fffff;
  return in_class(bits >> 31, exponent == 0xff && fraction != 0, fraction >> 22 & 1,
                  exponent == 0xff, exponent == 0 && fraction == 0, exponent != 0, mask);
}

DEVICE bool hirc_amdgcn_class_f64(double x, uint32_t mask) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  uint64_t exponent = bits >> 52 & 0x7ff, fraction = bits & UINT64_C(0xfffffffffffff);
  return in_class(bits >> 63, exponent == 0x7ff && fraction != 0, fraction >> 51 & 1,
                  exponent == 0x7ff, exponent == 0 && fraction == 0, exponent != 0, mask);
}

// v_med3_f32: the middle one.
DEVICE float hirc_amdgcn_fmed3_f32(float x, float y, float z) {
  float low = __builtin_fminf(x, y), high = __builtin_fmaxf(x, y);
  return __builtin_fmaxf(low, __builtin_fminf(high, z));
}
