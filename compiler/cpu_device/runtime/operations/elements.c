#include "elements.h"

#include <string.h>

uint32_t hirc_element_bits(int32_t type) {
  switch (type) {
  case HIRC_B1:
    return 1;
  case HIRC_S4:
  case HIRC_U4:
    return 4;
  case HIRC_E4M3:
  case HIRC_E5M2:
  case HIRC_S8:
  case HIRC_U8:
    return 8;
  case HIRC_F16:
  case HIRC_BF16:
    return 16;
  case HIRC_F64:
    return 64;
  default:
    return 32;
  }
}

bool hirc_element_is_integer(int32_t type) { return type >= HIRC_S8; }

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// A format of 1 sign bit, exponent and mantissa, of at most 16 bits, with IEEE's special values.
static double decode_small(uint32_t bits, uint32_t exponent_bits, uint32_t mantissa_bits) {
  uint32_t exponent = bits >> mantissa_bits & ((1u << exponent_bits) - 1);
  uint32_t mantissa = bits & ((1u << mantissa_bits) - 1);
  uint32_t sign = bits >> (exponent_bits + mantissa_bits) & 1;
  int32_t bias = (1 << (exponent_bits - 1)) - 1;
  if (exponent == (1u << exponent_bits) - 1)
    return float_of(sign << 31 | 0x7f800000 | mantissa << (23 - mantissa_bits));
  if (exponent == 0) {
    int32_t scale = 127 + 1 - bias - (int32_t)mantissa_bits;
    double value = (double)mantissa * float_of((uint32_t)scale << 23);
    return sign ? -value : value;
  }
  return float_of(sign << 31 | (uint32_t)((int32_t)exponent - bias + 127) << 23 |
                  mantissa << (23 - mantissa_bits));
}

// e4m3 has no infinity: all ones are NaN, and the other values of the last exponent are numbers.
static double decode_e4m3(uint32_t bits) {
  if ((bits & 0x7f) == 0x7f)
    return float_of(0x7fffffff);
  if ((bits & 0x78) == 0x78) {
    double value = 256.0 * (1.0 + (bits & 7) / 8.0);
    return bits & 0x80 ? -value : value;
  }
  return decode_small(bits, 4, 3);
}

// The most frequent format, without branches but for infinities and NaN: the bits are read as a
// float of a smaller exponent, and scaled by the difference of the biases, which also makes
// denormals right.
static double decode_half(uint32_t bits) {
  float scaled = float_of((bits & 0x7fff) << 13) * 0x1p112f;
  if ((bits & 0x7c00) == 0x7c00)
    scaled = float_of(0x7f800000 | (bits & 0x3ff) << 13);
  return float_of(bits_of(scaled) | (bits & 0x8000) << 16);
}

double hirc_decode_float(int32_t type, uint64_t bits) {
  switch (type) {
  case HIRC_F16:
    return decode_half((uint32_t)bits);
  case HIRC_BF16:
    return float_of((uint32_t)bits << 16);
  case HIRC_TF32: // the low 13 bits are ignored
    return float_of((uint32_t)bits & 0xffffe000);
  case HIRC_F32:
    return float_of((uint32_t)bits);
  case HIRC_E4M3:
    return decode_e4m3((uint32_t)bits);
  case HIRC_E5M2:
    return decode_small((uint32_t)bits, 5, 2);
  default: {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  }
}

// Rounds to nearest even, from a double at once: over a float it would be rounded twice.
static uint32_t encode_half(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
  int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023;
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 1024)
    return sign | (mantissa ? 0x7fff : 0x7c00);
  if (exponent < -25)
    return sign;
  if (exponent > 15)
    return sign | 0x7c00;
  mantissa |= UINT64_C(1) << 52;
  uint32_t drop = exponent >= -14 ? 42 : (uint32_t)(42 + (-14 - exponent));
  uint64_t kept = mantissa >> drop, rest = mantissa & ((UINT64_C(1) << drop) - 1);
  uint64_t half = UINT64_C(1) << (drop - 1);
  kept += rest > half || (rest == half && kept & 1);
  // The implicit bit, and a carry, add themselves to the exponent.
  uint32_t base = exponent >= -14 ? (uint32_t)(exponent + 14) << 10 : 0;
  return sign | (uint32_t)(base + kept);
}

uint64_t hirc_encode_float(int32_t type, double value) {
  switch (type) {
  case HIRC_F16:
    return encode_half(value);
  case HIRC_F32:
  case HIRC_TF32:
    if (value != value)
      return 0x7fffffff;
    return bits_of((float)value);
  case HIRC_BF16: {
    uint32_t bits = bits_of((float)value);
    if (value != value)
      return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  }
  default: {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  }
}

int64_t hirc_decode_integer(int32_t type, uint64_t bits) {
  switch (type) {
  case HIRC_S8:
    return (int8_t)bits;
  case HIRC_U8:
    return (uint8_t)bits;
  case HIRC_S4:
    return (int64_t)((bits & 15) ^ 8) - 8;
  case HIRC_U4:
    return (int64_t)(bits & 15);
  case HIRC_B1:
    return (int64_t)(bits & 1);
  default:
    return (int32_t)bits;
  }
}
