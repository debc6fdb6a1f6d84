// Atomic operations with a scope. The host has one scope; all are relaxed, as PTX's atom is by
// default.
#include "device_library.h"

#define RELAXED __ATOMIC_RELAXED

// PTX ISA, atom.inc and atom.dec: counts from 0 to `most` and around.
#define COUNTING(integer, name, next)                                                              \
  INLINE integer name(integer *place, integer most) {                                              \
    integer old = __atomic_load_n(place, RELAXED);                                                 \
    while (!__atomic_compare_exchange_n(place, &old, next, true, RELAXED, RELAXED)) {              \
    }                                                                                              \
    return old;                                                                                    \
  }

COUNTING(uint32_t, inc_i32, old >= most ? 0 : old + 1)
COUNTING(uint64_t, inc_i64, old >= most ? 0 : old + 1)
COUNTING(uint32_t, dec_i32, old == 0 || old > most ? most : old - 1)
COUNTING(uint64_t, dec_i64, old == 0 || old > most ? most : old - 1)

#define INTEGER(type, integer, unsigned_integer, scope)                                            \
  DEVICE integer hirc_nvvm_atomic_add_gen_i_##scope##_##type(integer *place, integer value) {      \
    return __atomic_fetch_add(place, value, RELAXED);                                              \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_and_gen_i_##scope##_##type(integer *place, integer value) {      \
    return __atomic_fetch_and(place, value, RELAXED);                                              \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_or_gen_i_##scope##_##type(integer *place, integer value) {       \
    return __atomic_fetch_or(place, value, RELAXED);                                               \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_xor_gen_i_##scope##_##type(integer *place, integer value) {      \
    return __atomic_fetch_xor(place, value, RELAXED);                                              \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_max_gen_i_##scope##_##type(integer *place, integer value) {      \
    return __atomic_fetch_max(place, value, RELAXED);                                              \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_min_gen_i_##scope##_##type(integer *place, integer value) {      \
    return __atomic_fetch_min(place, value, RELAXED);                                              \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_exch_gen_i_##scope##_##type(integer *place, integer value) {     \
    return __atomic_exchange_n(place, value, RELAXED);                                             \
  }                                                                                                \
  DEVICE integer hirc_nvvm_atomic_cas_gen_i_##scope##_##type(integer *place, integer expected,     \
                                                             integer value) {                      \
    __atomic_compare_exchange_n(place, &expected, value, false, RELAXED, RELAXED);                 \
    return expected;                                                                               \
  }                                                                                                \
  DEVICE unsigned_integer hirc_nvvm_atomic_inc_gen_i_##scope##_##type(unsigned_integer *place,     \
                                                                      unsigned_integer most) {     \
    return inc_##type(place, most);                                                                \
  }                                                                                                \
  DEVICE unsigned_integer hirc_nvvm_atomic_dec_gen_i_##scope##_##type(unsigned_integer *place,     \
                                                                      unsigned_integer most) {     \
    return dec_##type(place, most);                                                                \
  }

#define REAL(type, real, scope)                                                                    \
  DEVICE real hirc_nvvm_atomic_add_gen_f_##scope##_##type(real *place, real value) {               \
    return __atomic_fetch_add(place, value, RELAXED);                                              \
  }

#define SCOPE(scope)                                                                               \
  INTEGER(i32, int32_t, uint32_t, scope)                                                           \
  INTEGER(i64, int64_t, uint64_t, scope)                                                           \
  REAL(f32, float, scope)                                                                          \
  REAL(f64, double, scope)

SCOPE(cta)
SCOPE(sys)

// PTX ISA, st.bulk: fills with zero bytes, the only value there is.
DEVICE void hirc_nvvm_st_bulk(void *place, uint64_t bytes, uint64_t value) {
  memset(place, (int)value, bytes);
}
DEVICE void hirc_nvvm_st_bulk_shared_cta(void *place, uint64_t bytes, uint64_t value) {
  memset(place, (int)value, bytes);
}
