// Floating point to integer in each rounding mode.
//
// PTX ISA, cvt: what lies outside the integer type saturates. NaN gives zero from f32 to a 32-bit
// integer, and otherwise the value whose highest bit alone is set.
#include "device_library.h"

#define ROUND_rn(x) __builtin_elementwise_roundeven(x)
#define ROUND_rz(x) __builtin_elementwise_trunc(x)
#define ROUND_rm(x) __builtin_elementwise_floor(x)
#define ROUND_rp(x) __builtin_elementwise_ceil(x)

// `limit` is the first power of two above the type's range; below it the conversion is exact. The
// value is brought into range first, as C leaves the conversion undefined outside of it.
#define SIGNED(name, integer, unsigned_integer, real, limit, nan)                                  \
  INLINE integer name(real value) {                                                                \
    bool reaches = value >= -(limit);                                                              \
    bool above = value >= (limit);                                                                 \
    integer inside = (integer)(reaches && !above ? value : 0);                                     \
    integer least = (integer)((unsigned_integer)1 << (sizeof(integer) * 8 - 1));                   \
    integer most = (integer)~least;                                                                \
    integer outside = above ? most : value != value ? (integer)(nan) : least;                      \
    return reaches && !above ? inside : outside;                                                   \
  }
#define UNSIGNED(name, integer, real, limit, nan)                                                  \
  INLINE integer name(real value) {                                                                \
    bool positive = value > 0;                                                                     \
    bool above = value >= (limit);                                                                 \
    integer inside = (integer)(positive && !above ? value : 0);                                    \
    return above ? (integer)-1 : value != value ? (integer)(nan) : inside;                         \
  }

SIGNED(s32_of_float, int32_t, uint32_t, float, 0x1p31f, 0)
SIGNED(s64_of_float, int64_t, uint64_t, float, 0x1p63f, INT64_MIN)
SIGNED(s32_of_double, int32_t, uint32_t, double, 0x1p31, INT32_MIN)
SIGNED(s64_of_double, int64_t, uint64_t, double, 0x1p63, INT64_MIN)
UNSIGNED(u32_of_float, uint32_t, float, 0x1p32f, 0)
UNSIGNED(u64_of_float, uint64_t, float, 0x1p64f, UINT64_C(1) << 63)
UNSIGNED(u32_of_double, uint32_t, double, 0x1p32, UINT32_C(1) << 31)
UNSIGNED(u64_of_double, uint64_t, double, 0x1p64, UINT64_C(1) << 63)

#define FROM_FLOAT(name, integer, convert, mode)                                                   \
  DEVICE integer hirc_nvvm_##name##_##mode(float x) { return convert(ROUND_##mode(x)); }           \
  DEVICE integer hirc_nvvm_##name##_##mode##_ftz(float x) {                                        \
    return convert(ROUND_##mode(flush(x)));                                                        \
  }
#define FROM_DOUBLE(name, integer, convert, mode)                                                  \
  DEVICE integer hirc_nvvm_##name##_##mode(double x) { return convert(ROUND_##mode(x)); }
#define MODES(FROM, name, integer, convert)                                                        \
  FROM(name, integer, convert, rn)                                                                 \
  FROM(name, integer, convert, rz)                                                                 \
  FROM(name, integer, convert, rm)                                                                 \
  FROM(name, integer, convert, rp)

MODES(FROM_FLOAT, f2i, int32_t, s32_of_float)
MODES(FROM_FLOAT, f2ui, uint32_t, u32_of_float)
MODES(FROM_FLOAT, f2ll, int64_t, s64_of_float)
MODES(FROM_FLOAT, f2ull, uint64_t, u64_of_float)
MODES(FROM_DOUBLE, d2i, int32_t, s32_of_double)
MODES(FROM_DOUBLE, d2ui, uint32_t, u32_of_double)
MODES(FROM_DOUBLE, d2ll, int64_t, s64_of_double)
MODES(FROM_DOUBLE, d2ull, uint64_t, u64_of_double)
