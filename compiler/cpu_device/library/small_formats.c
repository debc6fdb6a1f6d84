// The formats of 4, 6 and 8 bits: e4m3, e5m2, e2m3, e3m2, e2m1 and ue8m0, two to a word.
//
// PTX ISA, cvt: the first operand, or the upper half of a pair, is the upper byte (of e2m1 the
// upper four bits). All results are finite: what is too large becomes the largest number. NaN is
// 0x7f in e4m3 and e5m2; the smaller formats have none, and take the largest number.
#include "half_rounding.h"

struct format {
  int fraction_bits;
  int least_exponent; // of normal numbers
  uint32_t most;      // the largest number's bits
  uint32_t nan;
  uint32_t sign;
};

#define FORMAT_e4m3 ((struct format){3, -6, 0x7e, 0x7f, 0x80})
#define FORMAT_e5m2 ((struct format){2, -14, 0x7b, 0x7f, 0x80})
#define FORMAT_e2m3 ((struct format){3, 0, 0x1f, 0x1f, 0x20})
#define FORMAT_e3m2 ((struct format){2, -2, 0x1f, 0x1f, 0x20})
#define FORMAT_e2m1 ((struct format){1, 0, 0x07, 0x07, 0x08})

INLINE float power_of_two(int exponent) { return float_of_bits((uint32_t)(exponent + 127) << 23); }

// A magnitude is a multiple of its exponent's unit. Beside the exponents above the least, which
// count in their own place, the multiple holds the leading bit, so that a carry does the right thing.
INLINE uint32_t encoded(float value, struct format format, bool relu) {
  uint32_t bits = bits_of_float(value);
  bool negative = bits >> 31 != 0;
  float magnitude = float_of_bits(bits & 0x7fffffff);
  magnitude = magnitude > 0x1p16f ? 0x1p16f : magnitude;
  int exponent = (int)(bits_of_float(magnitude) >> 23) - 127;
  exponent = exponent < format.least_exponent ? format.least_exponent : exponent;
  float units = magnitude * power_of_two(format.fraction_bits - exponent);
  uint32_t multiple = (uint32_t)__builtin_elementwise_roundeven(value == value ? units : 0);
  uint32_t code =
      ((uint32_t)(exponent - format.least_exponent) << format.fraction_bits) + multiple;
  code = code > format.most ? format.most : code;
  code = relu && negative ? 0 : negative ? code | format.sign : code;
  return value != value ? format.nan : code;
}

INLINE uint32_t decoded(uint32_t code, struct format format, bool relu) {
  uint32_t magnitude = code & (format.sign - 1);
  bool negative = (code & format.sign) != 0;
  uint32_t fraction = magnitude & ((1u << format.fraction_bits) - 1);
  int above_least = (int)(magnitude >> format.fraction_bits);
  fraction |= above_least != 0 ? 1u << format.fraction_bits : 0;
  int exponent = format.least_exponent + (above_least != 0 ? above_least - 1 : 0);
  float value = (float)fraction * power_of_two(exponent - format.fraction_bits);
  uint32_t bits = bits_of_half((_Float16)value);
  bool is_nan = format.nan != format.most && magnitude >= format.nan;
  if (format.sign == 0x80 && format.fraction_bits == 2) { // e5m2 is the upper byte of an f16
    bits = magnitude << 8;
    is_nan = magnitude > 0x7c;
  }
  return is_nan ? HALF_NAN : relu && negative ? 0 : bits | (negative ? 0x8000u : 0);
}

INLINE uint32_t both_encoded(float high, float low, struct format format, bool relu) {
  int place = format.sign == 8 ? 4 : 8;
  return encoded(high, format, relu) << place | encoded(low, format, relu);
}

INLINE uint32_t both_decoded(uint32_t codes, struct format format, bool relu) {
  int place = format.sign == 8 ? 4 : 8;
  return decoded(codes >> place, format, relu) << 16 | decoded(codes, format, relu);
}

INLINE float half_of_pair(uint32_t pair, int shift) {
  return (float)half_of_bits((uint16_t)(pair >> shift));
}

#define DECODE(name)                                                                               \
  DEVICE uint32_t hirc_nvvm_##name##x2_to_f16x2_rn_packed(uint16_t codes) {                        \
    return both_decoded(codes, FORMAT_##name, false);                                              \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_##name##x2_to_f16x2_rn_relu_packed(uint16_t codes) {                   \
    return both_decoded(codes, FORMAT_##name, true);                                               \
  }
#define ENCODE(name, suffix, relu)                                                                 \
  DEVICE uint16_t hirc_nvvm_ff_to_##name##x2_##suffix(float high, float low) {                     \
    return (uint16_t)both_encoded(high, low, FORMAT_##name, relu);                                 \
  }
#define ENCODE_HALVES(name, suffix, relu)                                                          \
  DEVICE uint16_t hirc_nvvm_f16x2_to_##name##x2_##suffix##_packed(uint32_t pair) {                 \
    return (uint16_t)both_encoded(half_of_pair(pair, 16), half_of_pair(pair, 0), FORMAT_##name,    \
                                  relu);                                                           \
  }

DECODE(e4m3)
DECODE(e5m2)
DECODE(e2m3)
DECODE(e3m2)
DECODE(e2m1)
ENCODE(e4m3, rn, false)
ENCODE(e4m3, rn_relu, true)
ENCODE(e5m2, rn, false)
ENCODE(e5m2, rn_relu, true)
ENCODE(e2m3, rn_satfinite, false)
ENCODE(e2m3, rn_relu_satfinite, true)
ENCODE(e3m2, rn_satfinite, false)
ENCODE(e3m2, rn_relu_satfinite, true)
ENCODE(e2m1, rn_satfinite, false)
ENCODE(e2m1, rn_relu_satfinite, true)
ENCODE_HALVES(e4m3, rn, false)
ENCODE_HALVES(e4m3, rn_relu, true)
ENCODE_HALVES(e5m2, rn, false)
ENCODE_HALVES(e5m2, rn_relu, true)

// --- ue8m0: a power of two from 2^-127 on, of the magnitude; 0xff is NaN ---

INLINE uint32_t power_code(float value, bool up, bool finite) {
  uint32_t bits = bits_of_float(value) & 0x7fffffff;
  uint32_t exponent = bits >> 23;
  uint32_t fraction = bits & 0x7fffff;
  // The least code, 2^-127, is a float's denormal.
  bool beyond = exponent == 0 ? fraction > 0x400000 : fraction != 0;
  uint32_t code = exponent + (up && beyond);
  code = finite && code >= 0xff ? 0xfe : code;
  return value != value ? 0xff : code;
}

#define POWERS(suffix, up, finite)                                                                 \
  DEVICE uint16_t hirc_nvvm_ff_to_ue8m0x2_##suffix(float high, float low) {                        \
    return (uint16_t)(power_code(high, up, finite) << 8 | power_code(low, up, finite));            \
  }                                                                                                \
  DEVICE uint16_t hirc_nvvm_bf16x2_to_ue8m0x2_##suffix##_packed(uint32_t pair) {                   \
    return hirc_nvvm_ff_to_ue8m0x2_##suffix(float_of_bits(pair & 0xffff0000),                      \
                                            float_of_bits(pair << 16));                            \
  }

POWERS(rz, false, false)
POWERS(rz_satfinite, false, true)
POWERS(rp, true, false)
POWERS(rp_satfinite, true, true)

INLINE uint32_t power_bf16(uint32_t code) {
  return code == 0xff ? BF16_NAN : code == 0 ? 0x0040 : code << 7;
}

DEVICE uint32_t hirc_nvvm_ue8m0x2_to_bf16x2_packed(uint16_t codes) {
  return power_bf16(codes >> 8) << 16 | power_bf16(codes & 0xff);
}
