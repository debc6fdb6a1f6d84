// Conversions of 16-bit floating point that the code generator calls where a processor has no
// instruction for them, and that the host's support libraries may lack.
//
// Weak, so that a program that brings its own keeps them. Their operands and results are in
// floating point registers; all is done on bits here, as a conversion would call itself.
#include <stdint.h>
#include <string.h>

#define LIBCALL __attribute__((weak, visibility("hidden")))

static uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static _Float16 half_of_bits(uint32_t bits) {
  uint16_t half_bits = (uint16_t)bits;
  _Float16 value;
  memcpy(&value, &half_bits, sizeof value);
  return value;
}

static __bf16 bf16_of_bits(uint32_t bits) {
  uint16_t bf16_bits = (uint16_t)bits;
  __bf16 value;
  memcpy(&value, &bf16_bits, sizeof value);
  return value;
}

static uint32_t float_bits_of_half(_Float16 value) {
  uint16_t half_bits;
  memcpy(&half_bits, &value, sizeof half_bits);
  uint32_t sign = (uint32_t)(half_bits & 0x8000) << 16;
  uint32_t magnitude = half_bits & 0x7fff;
  if (magnitude >= 0x7c00) { // an infinity or NaN, which becomes quiet
    return sign | 0x7f800000 | magnitude << 13 | (magnitude > 0x7c00 ? 0x400000 : 0);
  }
  if (magnitude >= 0x400) { // the exponents' biases differ by 112
    return sign | (magnitude + (112 << 10)) << 13;
  }
  return sign | bits_of_float((float)(int32_t)magnitude * 0x1p-24f);
}

// `bits` without its lowest `count` bits, 1 to 63, to nearest and ties to even.
static uint64_t rounded(uint64_t bits, int count) {
  uint64_t kept = bits >> count;
  uint64_t rest = bits & ((UINT64_C(1) << count) - 1);
  uint64_t half = UINT64_C(1) << (count - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0));
}

// The f16 nearest to a double.
static uint32_t half_bits_of_double(double value) {
  uint64_t bits = bits_of_double(value);
  uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
  uint64_t magnitude = bits & (UINT64_MAX >> 1);
  const uint64_t infinity = UINT64_C(0x7ff) << 52;
  if (magnitude > infinity) {
    return sign | 0x7e00 | ((uint32_t)(magnitude >> 42) & 0x3ff);
  }
  int exponent = (int)(magnitude >> 52) - 1023;
  if (exponent >= 16) {
    return sign | 0x7c00;
  }
  if (exponent >= -14) { // a carry out of the fraction raises the exponent, up to infinity
    return sign | (uint32_t)rounded(magnitude - ((uint64_t)(1023 - 15) << 52), 42);
  }
  if (exponent < -25) {
    return sign;
  }
  uint64_t significand = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
  return sign | (uint32_t)rounded(significand, 42 - 14 - exponent);
}

// The bf16 nearest to a float.
static uint32_t bf16_bits_of_float(float value) {
  uint32_t bits = bits_of_float(value);
  return value != value ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

LIBCALL float __extendhfsf2(_Float16 value) { return float_of_bits(float_bits_of_half(value)); }

LIBCALL double __extendhfdf2(_Float16 value) { return float_of_bits(float_bits_of_half(value)); }

LIBCALL _Float16 __truncsfhf2(float value) { return half_of_bits(half_bits_of_double(value)); }

LIBCALL _Float16 __truncdfhf2(double value) { return half_of_bits(half_bits_of_double(value)); }

LIBCALL __bf16 __truncsfbf2(float value) { return bf16_of_bits(bf16_bits_of_float(value)); }

// Through a float that is rounded to odd, so that the second rounding is right.
LIBCALL __bf16 __truncdfbf2(double value) {
  float near = (float)value;
  double wide = near;
  uint32_t bits = bits_of_float(near);
  if (wide != value && value == value && (bits & 1) == 0) {
    int away = __builtin_fabs(value) > __builtin_fabs(wide);
    bits = away ? bits + 1 : bits - 1;
  }
  return bf16_of_bits(bf16_bits_of_float(float_of_bits(bits)));
}
