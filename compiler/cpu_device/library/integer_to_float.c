// Integers to floating point in each rounding mode, and double to float.
#include "rounding.h"

// A 64-bit integer is the exact sum of two doubles: its high half and its low half.
INLINE struct exact exact_s64(int64_t value) {
  return exact_sum((double)(value >> 32) * 0x1p32, (double)(uint32_t)value);
}

INLINE struct exact exact_u64(uint64_t value) {
  return exact_sum((double)(uint32_t)(value >> 32) * 0x1p32, (double)(uint32_t)value);
}

INLINE double double_down(double value) {
  uint64_t bits = bits_of_double(value);
  return double_of_bits((int64_t)bits < 0 ? bits + 1 : bits - 1);
}

// Rounds to a double. The values here are integers, and no zero has a rest.
INLINE double round_to_double(struct exact exact, enum rounding mode) {
  bool above = exact.rest < 0 && (mode == RM || (mode == RZ && exact.value > 0));
  bool below = exact.rest > 0 && (mode == RP || (mode == RZ && exact.value < 0));
  double value = exact.value;
  return above ? double_down(value) : below ? -double_down(-value) : value;
}

#define MODE(mode, MODE_)                                                                          \
  DEVICE double hirc_nvvm_i2d_##mode(int32_t x) { return (double)x; }                              \
  DEVICE double hirc_nvvm_ui2d_##mode(uint32_t x) { return (double)x; }                            \
  DEVICE float hirc_nvvm_i2f_##mode(int32_t x) {                                                   \
    return MODE_ == RN ? (float)x : round_to_float((struct exact){(double)x, 0}, MODE_);           \
  }                                                                                                \
  DEVICE float hirc_nvvm_ui2f_##mode(uint32_t x) {                                                 \
    return MODE_ == RN ? (float)x : round_to_float((struct exact){(double)x, 0}, MODE_);           \
  }                                                                                                \
  DEVICE float hirc_nvvm_ll2f_##mode(int64_t x) {                                                  \
    return MODE_ == RN ? (float)x : round_to_float(exact_s64(x), MODE_);                           \
  }                                                                                                \
  DEVICE float hirc_nvvm_ull2f_##mode(uint64_t x) {                                                \
    return MODE_ == RN ? (float)x : round_to_float(exact_u64(x), MODE_);                           \
  }                                                                                                \
  DEVICE double hirc_nvvm_ll2d_##mode(int64_t x) {                                                 \
    return MODE_ == RN ? (double)x : round_to_double(exact_s64(x), MODE_);                         \
  }                                                                                                \
  DEVICE double hirc_nvvm_ull2d_##mode(uint64_t x) {                                               \
    return MODE_ == RN ? (double)x : round_to_double(exact_u64(x), MODE_);                         \
  }                                                                                                \
  DEVICE float hirc_nvvm_d2f_##mode(double x) {                                                    \
    return round_to_float((struct exact){x, 0}, MODE_);                                            \
  }                                                                                                \
  DEVICE float hirc_nvvm_d2f_##mode##_ftz(double x) { return flush(hirc_nvvm_d2f_##mode(x)); }

MODE(rn, RN)
MODE(rz, RZ)
MODE(rm, RM)
MODE(rp, RP)
