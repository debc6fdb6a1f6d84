// fma of f16 and bf16. The product is exact in double and the sum is rounded to odd, so that the
// last rounding is the only one.
#include "half_rounding.h"

INLINE _Float16 fma_half(_Float16 a, _Float16 b, _Float16 c) {
  struct exact sum = exact_sum((double)(float)a * (float)b, (double)(float)c);
  return (_Float16)round_to_odd(sum);
}

INLINE __bf16 fma_bf16(__bf16 a, __bf16 b, __bf16 c) {
  double product = (double)float_of_bf16(a) * float_of_bf16(b);
  return round_to_bf16(round_to_odd(exact_sum(product, float_of_bf16(c))));
}

INLINE _Float16 saturate_half(_Float16 value) {
  return (_Float16)saturate((float)value);
}

INLINE _Float16 relu_half(_Float16 value) {
  return half_of_bits(finished_16(bits_of_half(value), true, false, 0x7c00));
}

INLINE __bf16 saturate_bf16(__bf16 value) { return round_to_bf16(saturate(float_of_bf16(value))); }

INLINE __bf16 relu_bf16(__bf16 value) {
  return bf16_of_bits(finished_16(bits_of_bf16(value), true, false, 0x7f80));
}

#define FMA(type, name, fma_, flush_, saturate_, relu_)                                            \
  DEVICE type hirc_nvvm_fma_rn_##name(type a, type b, type c) { return fma_(a, b, c); }            \
  DEVICE type hirc_nvvm_fma_rn_ftz_##name(type a, type b, type c) {                                \
    return flush_(fma_(flush_(a), flush_(b), flush_(c)));                                          \
  }                                                                                                \
  DEVICE type hirc_nvvm_fma_rn_sat_##name(type a, type b, type c) {                                \
    return saturate_(fma_(a, b, c));                                                               \
  }                                                                                                \
  DEVICE type hirc_nvvm_fma_rn_relu_##name(type a, type b, type c) {                               \
    return relu_(fma_(a, b, c));                                                                   \
  }                                                                                                \
  DEVICE type hirc_nvvm_fma_rn_ftz_sat_##name(type a, type b, type c) {                            \
    return saturate_(hirc_nvvm_fma_rn_ftz_##name(a, b, c));                                        \
  }                                                                                                \
  DEVICE type hirc_nvvm_fma_rn_ftz_relu_##name(type a, type b, type c) {                           \
    return relu_(hirc_nvvm_fma_rn_ftz_##name(a, b, c));                                            \
  }

FMA(_Float16, f16, fma_half, flush_half, saturate_half, relu_half)
FMA(__bf16, bf16, fma_bf16, flush_bf16, saturate_bf16, relu_bf16)
