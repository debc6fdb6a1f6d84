// f32 and bf16 to f16, bf16 and tf32, with .relu and .satfinite.
//
// Two results in one word: the first operand is the upper half (PTX ISA, cvt).
#include "half_rounding.h"

DEVICE uint16_t hirc_nvvm_f2h_rn(float x) { return half_bits(x, RN); }
DEVICE uint16_t hirc_nvvm_f2h_rn_ftz(float x) { return half_bits(flush(x), RN); }
DEVICE uint16_t hirc_nvvm_bf2h_rn(__bf16 x) { return half_bits(float_of_bf16(x), RN); }
DEVICE uint16_t hirc_nvvm_bf2h_rn_ftz(__bf16 x) {
  return half_bits(flush(float_of_bf16(x)), RN);
}

INLINE uint32_t two_halves(float high, float low, enum rounding mode, bool relu, bool finite) {
  return (uint32_t)finished_16(half_bits(high, mode), relu, finite, 0x7c00) << 16 |
         finished_16(half_bits(low, mode), relu, finite, 0x7c00);
}

INLINE uint32_t two_bf16(float high, float low, enum rounding mode, bool relu, bool finite) {
  return (uint32_t)finished_16(bf16_bits(high, mode), relu, finite, 0x7f80) << 16 |
         finished_16(bf16_bits(low, mode), relu, finite, 0x7f80);
}

// tf32 is an f32 whose lower 13 bits are zero.
enum tie { TO_EVEN, AWAY, CUT };

INLINE uint32_t tf32_bits(float value, enum tie tie, bool relu, bool finite) {
  uint32_t bits = bits_of_float(value);
  uint32_t up = tie == TO_EVEN ? 0xfff + (bits >> 13 & 1) : tie == AWAY ? 0x1000 : 0;
  uint32_t rounded = (bits + up) & 0xffffe000;
  uint32_t magnitude = rounded & 0x7fffffff;
  magnitude = finite && magnitude >= 0x7f800000 ? 0x7f7fe000 : magnitude;
  rounded = relu && (rounded & 0x80000000) != 0 ? 0 : (rounded & 0x80000000) | magnitude;
  return value != value ? 0x7fc00000 : rounded;
}

#define VARIANT(suffix, mode, tie, relu, finite)                                                   \
  DEVICE _Float16 hirc_nvvm_f2f16_##suffix(float x) {                                              \
    return half_of_bits(finished_16(half_bits(x, mode), relu, finite, 0x7c00));                    \
  }                                                                                                \
  DEVICE __bf16 hirc_nvvm_f2bf16_##suffix(float x) {                                               \
    return bf16_of_bits(finished_16(bf16_bits(x, mode), relu, finite, 0x7f80));                    \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_ff2f16x2_##suffix##_packed(float high, float low) {                    \
    return two_halves(high, low, mode, relu, finite);                                              \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_ff2bf16x2_##suffix##_packed(float high, float low) {                   \
    return two_bf16(high, low, mode, relu, finite);                                                \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_f2tf32_##suffix(float x) { return tf32_bits(x, tie, relu, finite); }

VARIANT(rn, RN, TO_EVEN, false, false)
VARIANT(rn_relu, RN, TO_EVEN, true, false)
VARIANT(rn_satfinite, RN, TO_EVEN, false, true)
VARIANT(rn_relu_satfinite, RN, TO_EVEN, true, true)
VARIANT(rz, RZ, CUT, false, false)
VARIANT(rz_relu, RZ, CUT, true, false)
VARIANT(rz_satfinite, RZ, CUT, false, true)
VARIANT(rz_relu_satfinite, RZ, CUT, true, true)

DEVICE uint32_t hirc_nvvm_f2tf32_rna(float x) { return tf32_bits(x, AWAY, false, false); }
DEVICE uint32_t hirc_nvvm_f2tf32_rna_satfinite(float x) { return tf32_bits(x, AWAY, false, true); }
