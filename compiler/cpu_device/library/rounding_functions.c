// Rounding to integral values, absolute value, saturation, and the moves that do nothing.
#include "device_library.h"

// PTX's cvt.rni, which `round` stands for, takes ties to even.
#define ROUNDING(name, operation)                                                                  \
  DEVICE float hirc_nvvm_##name##_f(float x) { return operation(x); }                              \
  DEVICE float hirc_nvvm_##name##_ftz_f(float x) { return operation(flush(x)); }                   \
  DEVICE double hirc_nvvm_##name##_d(double x) { return operation(x); }

ROUNDING(floor, __builtin_elementwise_floor)
ROUNDING(ceil, __builtin_elementwise_ceil)
ROUNDING(trunc, __builtin_elementwise_trunc)
ROUNDING(round, __builtin_elementwise_roundeven)

DEVICE float hirc_nvvm_saturate_f(float x) { return saturate(x); }
DEVICE float hirc_nvvm_saturate_ftz_f(float x) { return saturate(flush(x)); }
DEVICE double hirc_nvvm_saturate_d(double x) {
  return __builtin_elementwise_minimumnum(__builtin_elementwise_maximumnum(x, 0.0), 1.0);
}

DEVICE float hirc_nvvm_fabs_f32(float x) { return __builtin_elementwise_abs(x); }
DEVICE float hirc_nvvm_fabs_ftz_f32(float x) { return flush(__builtin_elementwise_abs(x)); }
DEVICE double hirc_nvvm_fabs_f64(double x) { return __builtin_elementwise_abs(x); }
DEVICE _Float16 hirc_nvvm_fabs_f16(_Float16 x) { return half_of_bits(bits_of_half(x) & 0x7fff); }
DEVICE _Float16 hirc_nvvm_fabs_ftz_f16(_Float16 x) {
  return flush_half(hirc_nvvm_fabs_f16(x));
}
DEVICE __bf16 hirc_nvvm_fabs_bf16(__bf16 x) { return bf16_of_bits(bits_of_bf16(x) & 0x7fff); }
DEVICE __bf16 hirc_nvvm_neg_bf16(__bf16 x) { return bf16_of_bits(bits_of_bf16(x) ^ 0x8000); }

DEVICE float hirc_nvvm_move_float(float x) { return x; }
DEVICE double hirc_nvvm_move_double(double x) { return x; }
DEVICE int16_t hirc_nvvm_move_i16(int16_t x) { return x; }
DEVICE int32_t hirc_nvvm_move_i32(int32_t x) { return x; }
DEVICE int64_t hirc_nvvm_move_i64(int64_t x) { return x; }
DEVICE void *hirc_nvvm_move_ptr(void *x) { return x; }
