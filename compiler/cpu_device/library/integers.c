// Integer operations: bytes, bit fields, high products, dot products.
#include "device_library.h"

// --- bits of doubles ---

DEVICE int32_t hirc_nvvm_d2i_hi(double x) { return (int32_t)(bits_of_double(x) >> 32); }
DEVICE int32_t hirc_nvvm_d2i_lo(double x) { return (int32_t)bits_of_double(x); }
DEVICE double hirc_nvvm_lohi_i2d(uint32_t low, uint32_t high) {
  return double_of_bits((uint64_t)high << 32 | low);
}

// --- prmt: bytes of two words, {b, a} numbered from a's lowest ---

INLINE uint32_t byte_of(uint64_t bytes, uint32_t index) {
  return (uint32_t)(bytes >> ((index & 7) * 8)) & 0xff;
}

INLINE uint32_t four_bytes(uint64_t bytes, uint32_t i0, uint32_t i1, uint32_t i2, uint32_t i3) {
  return byte_of(bytes, i0) | byte_of(bytes, i1) << 8 | byte_of(bytes, i2) << 16 |
         byte_of(bytes, i3) << 24;
}

INLINE uint32_t selected_byte(uint64_t bytes, uint32_t selector) {
  uint32_t byte = byte_of(bytes, selector);
  return (selector & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
}

DEVICE uint32_t hirc_nvvm_prmt(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = (uint64_t)b << 32 | a;
  return selected_byte(bytes, selector) | selected_byte(bytes, selector >> 4) << 8 |
         selected_byte(bytes, selector >> 8) << 16 | selected_byte(bytes, selector >> 12) << 24;
}

DEVICE uint32_t hirc_nvvm_prmt_f4e(uint32_t a, uint32_t b, uint32_t control) {
  uint32_t first = control & 3;
  return four_bytes((uint64_t)b << 32 | a, first, first + 1, first + 2, first + 3);
}

DEVICE uint32_t hirc_nvvm_prmt_b4e(uint32_t a, uint32_t b, uint32_t control) {
  uint32_t first = control & 3;
  return four_bytes((uint64_t)b << 32 | a, first, first - 1, first - 2, first - 3);
}

DEVICE uint32_t hirc_nvvm_prmt_rc8(uint32_t a, uint32_t control) {
  return byte_of(a, control & 3) * 0x01010101;
}

DEVICE uint32_t hirc_nvvm_prmt_rc16(uint32_t a, uint32_t control) {
  return ((a >> (control & 1) * 16) & 0xffff) * 0x00010001;
}

// Byte i of the edge clamped left is byte max(i, control), of the one clamped right min(i, control).
DEVICE uint32_t hirc_nvvm_prmt_ecl(uint32_t a, uint32_t control) {
  uint32_t c = control & 3;
  return four_bytes(a, c, c > 1 ? c : 1, c > 2 ? c : 2, 3);
}

DEVICE uint32_t hirc_nvvm_prmt_ecr(uint32_t a, uint32_t control) {
  uint32_t c = control & 3;
  return four_bytes(a, 0, c < 1 ? c : 1, c < 2 ? c : 2, c);
}

// --- products and sums ---

DEVICE int16_t hirc_nvvm_mulhi_s(int16_t a, int16_t b) { return (int16_t)((int32_t)a * b >> 16); }
DEVICE uint16_t hirc_nvvm_mulhi_us(uint16_t a, uint16_t b) {
  return (uint16_t)((uint32_t)a * b >> 16);
}
DEVICE int32_t hirc_nvvm_mulhi_i(int32_t a, int32_t b) { return (int32_t)((int64_t)a * b >> 32); }
DEVICE uint32_t hirc_nvvm_mulhi_ui(uint32_t a, uint32_t b) {
  return (uint32_t)((uint64_t)a * b >> 32);
}
DEVICE int64_t hirc_nvvm_mulhi_ll(int64_t a, int64_t b) {
  return (int64_t)((__int128)a * b >> 64);
}
DEVICE uint64_t hirc_nvvm_mulhi_ull(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned __int128)a * b >> 64);
}

DEVICE int32_t hirc_nvvm_mul24_i(int32_t a, int32_t b) {
  int64_t wide_a = (int32_t)((uint32_t)a << 8) >> 8;
  return (int32_t)(wide_a * ((int32_t)((uint32_t)b << 8) >> 8));
}
DEVICE uint32_t hirc_nvvm_mul24_ui(uint32_t a, uint32_t b) {
  return (a & 0xffffff) * (b & 0xffffff);
}

#define SAD(name, integer, unsigned_integer)                                                       \
  DEVICE integer hirc_nvvm_sad_##name(integer a, integer b, integer c) {                           \
    unsigned_integer difference = a < b ? (unsigned_integer)b - (unsigned_integer)a                \
                                        : (unsigned_integer)a - (unsigned_integer)b;               \
    return (integer)((unsigned_integer)c + difference);                                            \
  }

SAD(s, int16_t, uint16_t)
SAD(us, uint16_t, uint16_t)
SAD(i, int32_t, uint32_t)
SAD(ui, uint32_t, uint32_t)
SAD(ll, int64_t, uint64_t)
SAD(ull, uint64_t, uint64_t)

INLINE uint32_t part(uint32_t word, int index, int bits, bool is_signed) {
  uint32_t high = word << (32 - bits * (index + 1));
  return is_signed ? (uint32_t)((int32_t)high >> (32 - bits)) : high >> (32 - bits);
}

INLINE uint32_t dot4(uint32_t a, bool a_signed, uint32_t b, bool b_signed, uint32_t sum) {
  for (int i = 0; i < 4; i++) {
    sum += part(a, i, 8, a_signed) * part(b, i, 8, b_signed);
  }
  return sum;
}

// Two 16-bit parts of a with the low or the high two bytes of b.
INLINE uint32_t dot2(uint32_t a, bool a_signed, uint32_t b, bool b_signed, bool high,
                     uint32_t sum) {
  uint32_t bytes = high ? b >> 16 : b;
  for (int i = 0; i < 2; i++) {
    sum += part(a, i, 16, a_signed) * part(bytes, i, 8, b_signed);
  }
  return sum;
}

#define DOT(name, a_signed, b_signed)                                                              \
  DEVICE uint32_t hirc_nvvm_idp4a_##name(uint32_t a, uint32_t b, uint32_t c) {                     \
    return dot4(a, a_signed, b, b_signed, c);                                                      \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_idp2a_##name(uint32_t a, uint32_t b, bool high, uint32_t c) {          \
    return dot2(a, a_signed, b, b_signed, high, c);                                                \
  }

DOT(s_s, true, true)
DOT(s_u, true, false)
DOT(u_s, false, true)
DOT(u_u, false, false)

// --- bit fields ---

// PTX ISA, fns: the position of the offset-th set bit from `base` on, or all ones.
DEVICE uint32_t hirc_nvvm_fns(uint32_t mask, uint32_t base, int32_t offset) {
  int step = offset < 0 ? -1 : 1;
  int64_t left = offset == 0 ? 0 : (int64_t)offset * step - 1;
  for (int64_t position = base; position >= 0 && position < 32; position += step) {
    if ((mask >> position & 1) != 0 && left-- == 0) {
      return (uint32_t)position;
    }
    if (offset == 0) {
      break;
    }
  }
  return UINT32_MAX;
}

// PTX ISA, bmsk: `width` bits from `position` on.
INLINE uint32_t bit_mask(uint32_t position, uint32_t width) {
  uint32_t from = position < 32 ? UINT32_MAX << position : 0;
  uint64_t end = (uint64_t)position + width;
  return end < 32 ? from & ~(UINT32_MAX << end) : from;
}

DEVICE uint32_t hirc_nvvm_bmsk_clamp(uint32_t position, uint32_t width) {
  return bit_mask(position, width);
}
DEVICE uint32_t hirc_nvvm_bmsk_wrap(uint32_t position, uint32_t width) {
  return bit_mask(position & 31, width & 31);
}

// PTX ISA, szext: extends the lowest `bits` bits.
INLINE uint32_t zero_extended(uint32_t value, uint32_t bits) {
  return bits < 32 ? value & ~(UINT32_MAX << bits) : value;
}
INLINE uint32_t sign_extended(uint32_t value, uint32_t bits) {
  bool negative = bits != 0 && bits < 32 && (value >> (bits - 1) & 1) != 0;
  return zero_extended(value, bits) | (negative ? UINT32_MAX << bits : 0);
}

DEVICE uint32_t hirc_nvvm_zext_clamp(uint32_t value, uint32_t bits) {
  return zero_extended(value, bits);
}
DEVICE uint32_t hirc_nvvm_zext_wrap(uint32_t value, uint32_t bits) {
  return zero_extended(value, bits & 31);
}
DEVICE uint32_t hirc_nvvm_sext_clamp(uint32_t value, uint32_t bits) {
  return sign_extended(value, bits);
}
DEVICE uint32_t hirc_nvvm_sext_wrap(uint32_t value, uint32_t bits) {
  return sign_extended(value, bits & 31);
}

// PTX ISA, bfind: the highest bit that is set, or of a negative number not set; all ones if there
// is none. As a shift amount: how far it is from the top.
#define FLO(type, integer, bits, clz)                                                              \
  DEVICE uint32_t hirc_nvvm_flo_u_##type(integer value, bool shift) {                              \
    if (value == 0) {                                                                              \
      return UINT32_MAX;                                                                           \
    }                                                                                              \
    uint32_t leading = (uint32_t)clz(value);                                                       \
    return shift ? leading : bits - 1 - leading;                                                   \
  }                                                                                                \
  DEVICE uint32_t hirc_nvvm_flo_s_##type(integer value, bool shift) {                              \
    return hirc_nvvm_flo_u_##type(value >> (bits - 1) != 0 ? ~value : value, shift);               \
  }

FLO(i32, uint32_t, 32, __builtin_clz)
FLO(i64, uint64_t, 64, __builtin_clzll)

// PTX ISA, shf.clamp: a shift by 32 or more moves a whole word.
DEVICE uint32_t hirc_nvvm_fshl_clamp_i32(uint32_t high, uint32_t low, uint32_t amount) {
  uint64_t both = (uint64_t)high << 32 | low;
  return amount < 32 ? (uint32_t)(both << amount >> 32) : low;
}
DEVICE uint32_t hirc_nvvm_fshr_clamp_i32(uint32_t high, uint32_t low, uint32_t amount) {
  uint64_t both = (uint64_t)high << 32 | low;
  return amount < 32 ? (uint32_t)(both >> amount) : high;
}
