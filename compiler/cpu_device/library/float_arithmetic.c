// f32 add, mul, fma, div, rcp and sqrt in each rounding mode, with .ftz and .sat.
//
// To nearest they are LLVM's own operations. In the other modes the result is computed in double,
// exactly or with the sign of what rounding left out, and then rounded once: no mode of the
// processor is changed, so that the compiler may move and vectorise it all.
#include "rounding.h"

INLINE float add(float a, float b, enum rounding mode) {
  if (mode == RN) {
    return a + b;
  }
  struct exact sum = exact_sum(a, b);
  sum.value = mode == RM ? zero_rounded_down(sum.value, a, b) : sum.value;
  return round_to_float(sum, mode);
}

INLINE float mul(float a, float b, enum rounding mode) {
  if (mode == RN) {
    return a * b;
  }
  return round_to_float((struct exact){(double)a * b, 0}, mode);
}

INLINE float fma(float a, float b, float c, enum rounding mode) {
  if (mode == RN) {
    return __builtin_elementwise_fma(a, b, c);
  }
  double product = (double)a * b;
  struct exact sum = exact_sum(product, c);
  sum.value = mode == RM ? zero_rounded_down(sum.value, product, c) : sum.value;
  return round_to_float(sum, mode);
}

// The remainder of a quotient or root is exact in double, and has the sign of what was left out.
INLINE float div(float a, float b, enum rounding mode) {
  if (mode == RN) {
    return a / b;
  }
  double quotient = (double)a / b;
  double remainder = __builtin_elementwise_fma(-quotient, (double)b, (double)a);
  return round_to_float((struct exact){quotient, b < 0 ? -remainder : remainder}, mode);
}

INLINE float root(float a, enum rounding mode) {
  if (mode == RN) {
    return __builtin_elementwise_sqrt(a);
  }
  double near = __builtin_elementwise_sqrt((double)a);
  return round_to_float((struct exact){near, __builtin_elementwise_fma(-near, near, (double)a)},
                        mode);
}

#define MODE(mode, MODE_)                                                                          \
  DEVICE float hirc_nvvm_add_##mode##_f(float a, float b) { return add(a, b, MODE_); }             \
  DEVICE float hirc_nvvm_add_##mode##_ftz_f(float a, float b) {                                    \
    return flush(add(flush(a), flush(b), MODE_));                                                  \
  }                                                                                                \
  DEVICE float hirc_nvvm_add_##mode##_sat_f(float a, float b) {                                    \
    return saturate(add(a, b, MODE_));                                                             \
  }                                                                                                \
  DEVICE float hirc_nvvm_add_##mode##_ftz_sat_f(float a, float b) {                                \
    return saturate(hirc_nvvm_add_##mode##_ftz_f(a, b));                                           \
  }                                                                                                \
  DEVICE float hirc_nvvm_mul_##mode##_f(float a, float b) { return mul(a, b, MODE_); }             \
  DEVICE float hirc_nvvm_mul_##mode##_ftz_f(float a, float b) {                                    \
    return flush(mul(flush(a), flush(b), MODE_));                                                  \
  }                                                                                                \
  DEVICE float hirc_nvvm_fma_##mode##_f(float a, float b, float c) {                               \
    return fma(a, b, c, MODE_);                                                                    \
  }                                                                                                \
  DEVICE float hirc_nvvm_fma_##mode##_ftz_f(float a, float b, float c) {                           \
    return flush(fma(flush(a), flush(b), flush(c), MODE_));                                        \
  }                                                                                                \
  DEVICE float hirc_nvvm_fma_##mode##_sat_f(float a, float b, float c) {                           \
    return saturate(fma(a, b, c, MODE_));                                                          \
  }                                                                                                \
  DEVICE float hirc_nvvm_fma_##mode##_ftz_sat_f(float a, float b, float c) {                       \
    return saturate(hirc_nvvm_fma_##mode##_ftz_f(a, b, c));                                        \
  }                                                                                                \
  DEVICE float hirc_nvvm_div_##mode##_f(float a, float b) { return div(a, b, MODE_); }             \
  DEVICE float hirc_nvvm_div_##mode##_ftz_f(float a, float b) {                                    \
    return flush(div(flush(a), flush(b), MODE_));                                                  \
  }                                                                                                \
  DEVICE float hirc_nvvm_rcp_##mode##_f(float a) { return div(1, a, MODE_); }                      \
  DEVICE float hirc_nvvm_rcp_##mode##_ftz_f(float a) { return flush(div(1, flush(a), MODE_)); }    \
  DEVICE float hirc_nvvm_sqrt_##mode##_f(float a) { return root(a, MODE_); }                       \
  DEVICE float hirc_nvvm_sqrt_##mode##_ftz_f(float a) { return root(flush(a), MODE_); }

MODE(rn, RN)
MODE(rz, RZ)
MODE(rm, RM)
MODE(rp, RP)
