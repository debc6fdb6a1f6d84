// fmin and fmax with .ftz, .nan and .xorsign.abs.
//
// PTX ISA, min and max: of a number and NaN the number (with .nan NaN); -0 is less than +0.
// .xorsign.abs: of the magnitudes, with the sign that a product would have.
#include "device_library.h"

INLINE float float_with_sign(float magnitude, float a, float b) {
  uint32_t sign = (bits_of_float(a) ^ bits_of_float(b)) & 0x80000000;
  return float_of_bits((bits_of_float(magnitude) & 0x7fffffff) | sign);
}

INLINE float float_magnitude(float a) { return __builtin_elementwise_abs(a); }

// Of 16-bit formats the comparison is one of f32.
INLINE _Float16 half_with_sign(_Float16 magnitude, _Float16 a, _Float16 b) {
  int sign = (bits_of_half(a) ^ bits_of_half(b)) & 0x8000;
  return half_of_bits((uint16_t)((bits_of_half(magnitude) & 0x7fff) | sign));
}

INLINE _Float16 half_magnitude(_Float16 a) { return half_of_bits(bits_of_half(a) & 0x7fff); }

INLINE __bf16 bf16_with_sign(__bf16 magnitude, __bf16 a, __bf16 b) {
  int sign = (bits_of_bf16(a) ^ bits_of_bf16(b)) & 0x8000;
  return bf16_of_bits((uint16_t)((bits_of_bf16(magnitude) & 0x7fff) | sign));
}

INLINE __bf16 bf16_magnitude(__bf16 a) { return bf16_of_bits(bits_of_bf16(a) & 0x7fff); }

#define OF_FLOATS(operation)                                                                       \
  INLINE float operation##_float(float a, float b) {                                               \
    return __builtin_elementwise_##operation(a, b);                                                \
  }                                                                                                \
  INLINE _Float16 operation##_half(_Float16 a, _Float16 b) {                                       \
    return (_Float16)__builtin_elementwise_##operation((float)a, (float)b);                        \
  }                                                                                                \
  INLINE __bf16 operation##_bf16(__bf16 a, __bf16 b) {                                             \
    float chosen = __builtin_elementwise_##operation(float_of_bf16(a), float_of_bf16(b));          \
    return bf16_of_bits((uint16_t)(bits_of_float(chosen) >> 16));                                  \
  }

OF_FLOATS(minimum)
OF_FLOATS(maximum)
OF_FLOATS(minimumnum)
OF_FLOATS(maximumnum)

#define VARIANTS(type, suffix, kind, name, numbers, nans, flush_)                                  \
  DEVICE type hirc_nvvm_##name##_##suffix(type a, type b) { return numbers##_##kind(a, b); }       \
  DEVICE type hirc_nvvm_##name##_ftz_##suffix(type a, type b) {                                    \
    return numbers##_##kind(flush_(a), flush_(b));                                                 \
  }                                                                                                \
  DEVICE type hirc_nvvm_##name##_nan_##suffix(type a, type b) { return nans##_##kind(a, b); }      \
  DEVICE type hirc_nvvm_##name##_ftz_nan_##suffix(type a, type b) {                                \
    return nans##_##kind(flush_(a), flush_(b));                                                    \
  }                                                                                                \
  DEVICE type hirc_nvvm_##name##_xorsign_abs_##suffix(type a, type b) {                            \
    type chosen = numbers##_##kind(kind##_magnitude(a), kind##_magnitude(b));                      \
    return kind##_with_sign(chosen, a, b);                                                         \
  }                                                                                                \
  DEVICE type hirc_nvvm_##name##_nan_xorsign_abs_##suffix(type a, type b) {                        \
    type chosen = nans##_##kind(kind##_magnitude(a), kind##_magnitude(b));                         \
    return kind##_with_sign(chosen, a, b);                                                         \
  }                                                                                                \
  DEVICE type hirc_nvvm_##name##_ftz_xorsign_abs_##suffix(type a, type b) {                        \
    return hirc_nvvm_##name##_xorsign_abs_##suffix(flush_(a), flush_(b));                          \
  }                                                                                                \
  DEVICE type hirc_nvvm_##name##_ftz_nan_xorsign_abs_##suffix(type a, type b) {                    \
    return hirc_nvvm_##name##_nan_xorsign_abs_##suffix(flush_(a), flush_(b));                      \
  }

VARIANTS(float, f, float, fmin, minimumnum, minimum, flush)
VARIANTS(float, f, float, fmax, maximumnum, maximum, flush)
VARIANTS(_Float16, f16, half, fmin, minimumnum, minimum, flush_half)
VARIANTS(_Float16, f16, half, fmax, maximumnum, maximum, flush_half)
VARIANTS(__bf16, bf16, bf16, fmin, minimumnum, minimum, flush_bf16)
VARIANTS(__bf16, bf16, bf16, fmax, maximumnum, maximum, flush_bf16)

DEVICE double hirc_nvvm_fmin_d(double a, double b) {
  return __builtin_elementwise_minimumnum(a, b);
}
DEVICE double hirc_nvvm_fmax_d(double a, double b) {
  return __builtin_elementwise_maximumnum(a, b);
}
