// What all files of the scalar device library share.
//
// The library holds the functions that device code calls instead of `llvm.nvvm.*` intrinsics: of
// `llvm.nvvm.add.rz.f` it is `hirc_nvvm_add_rz_f`. It is compiled to bitcode and linked into device
// code, where its functions are inlined and vectorised: those that equal an operation of LLVM are
// that operation, the others have no branches where they can do without.
//
// Functions whose type C does not pass as LLVM IR writes it (vectors of 16-bit floating point) take
// and give their bits in an integer and end in `_packed`; packed.py makes the others of them.
#ifndef HIRC_DEVICE_LIBRARY_H
#define HIRC_DEVICE_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Every rounding is one of the algorithm: none may be left out.
#pragma STDC FP_CONTRACT OFF

// A function that device code calls. Always inlined, so that neither its attributes nor those of
// the call (an i16's extension) have to match.
#define DEVICE __attribute__((always_inline, visibility("default")))
#define INLINE static inline __attribute__((always_inline, unused))

// The modes of PTX: to nearest even, towards zero, minus infinity, plus infinity.
enum rounding { RN, RZ, RM, RP };

INLINE uint32_t bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE float float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

INLINE uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE double double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

INLINE uint16_t bits_of_half(_Float16 value) {
  uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE _Float16 half_of_bits(uint16_t bits) {
  _Float16 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

INLINE uint16_t bits_of_bf16(__bf16 value) {
  uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

INLINE __bf16 bf16_of_bits(uint16_t bits) {
  __bf16 value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

INLINE float float_of_bf16(__bf16 value) {
  return float_of_bits((uint32_t)bits_of_bf16(value) << 16);
}

// The .ftz modifier: a denormal becomes a zero of its sign.
INLINE float flush(float value) {
  uint32_t bits = bits_of_float(value);
  return float_of_bits((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}

INLINE _Float16 flush_half(_Float16 value) {
  uint16_t bits = bits_of_half(value);
  return half_of_bits((uint16_t)((bits & 0x7c00) == 0 ? bits & 0x8000 : bits));
}

INLINE __bf16 flush_bf16(__bf16 value) {
  uint16_t bits = bits_of_bf16(value);
  return bf16_of_bits((uint16_t)((bits & 0x7f80) == 0 ? bits & 0x8000 : bits));
}

INLINE float same_float(float value) { return value; }

// The .sat modifier: into [0, 1]; NaN and -0 give +0.
INLINE float saturate(float value) {
  return __builtin_elementwise_minimumnum(__builtin_elementwise_maximumnum(value, 0.0f), 1.0f);
}

#endif
