// Contents of inputs that need no file: counting up, and random numbers that depend on the seed and
// the element's place alone.

#include "command.h"

// Element i is i, modulo what the type holds.
void hirc_fill_iota(const struct hirc_value_info *value, const struct hirc_array *array) {
  int64_t count = hirc_count_of(array), bytes = value->element_bytes;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t kept = hirc_is_truth(value) ? (uint64_t)i & 1 : (uint64_t)i;
    struct hirc_number number = {.is_integer = true, .integer = kept, .real = (double)i};
    hirc_store_element(value, number, array->data + i * bytes);
  }
}

// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
static uint64_t random_bits(uint64_t seed, uint64_t place) {
  uint64_t bits = seed + (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
  bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
  return bits ^ bits >> 31;
}

// Floats are uniform in [-1, 1), integers in [-8, 8), unsigned ones in [0, 16), i1 either value.
void hirc_fill_random(const struct hirc_value_info *value, const struct hirc_array *array,
                      uint64_t seed) {
  int64_t count = hirc_count_of(array), bytes = value->element_bytes;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = random_bits(seed, (uint64_t)i);
    struct hirc_number number = {.is_integer = true};
    if (hirc_is_truth(value)) {
      number.integer = bits >> 63;
    } else if (hirc_is_float(value) || hirc_is_complex(value)) {
      number.real = (double)(bits >> 11) * 0x1p-52 - 1;
      number.imaginary = (double)(random_bits(~seed, (uint64_t)i) >> 11) * 0x1p-52 - 1;
    } else if (hirc_is_signed(value)) {
      number.integer = (bits >> 60) - 8;
      number.real = (double)(int64_t)number.integer;
    } else {
      number.integer = bits >> 60;
    }
    hirc_store_element(value, number, array->data + i * bytes);
  }
}
