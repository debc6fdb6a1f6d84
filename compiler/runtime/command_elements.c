// Elements of every type, from and to numbers.

#include "command.h"

#include <math.h>
#include <string.h>

// A float format: see command_floats.c.
struct format {
  const char *element;
  int exponent_bits;
  int mantissa_bits;
  char special;
};

static const struct format formats[] = {
    {"f64", 11, 52, 'i'},        {"f32", 8, 23, 'i'},      {"tf32", 8, 23, 'i'},
    {"f16", 5, 10, 'i'},         {"bf16", 8, 7, 'i'},      {"f8E5M2", 5, 2, 'i'},
    {"f8E4M3", 4, 3, 'i'},       {"f8E3M4", 3, 4, 'i'},    {"f8E4M3FN", 4, 3, 'n'},
    {"f8E5M2FNUZ", 5, 2, 'z'},   {"f8E4M3FNUZ", 4, 3, 'z'}, {"f8E4M3B11FNUZ", 4, 3, 'b'},
    {"f8E8M0FNU", 8, 0, 'e'},
};

static const struct format *format_of(const struct hirc_value_info *value) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i)
    if (strcmp(formats[i].element, value->element) == 0)
      return &formats[i];
  return NULL;
}

static int code_of(const struct hirc_value_info *value) { return (int)(value->dtype & 0xff); }

bool hirc_is_float(const struct hirc_value_info *value) { return format_of(value) != NULL; }
bool hirc_is_signed(const struct hirc_value_info *value) { return code_of(value) == DL_INT; }
bool hirc_is_truth(const struct hirc_value_info *value) { return code_of(value) == DL_BOOL; }
bool hirc_is_complex(const struct hirc_value_info *value) { return code_of(value) == DL_COMPLEX; }

// A number that tf32 holds: ten bits of mantissa, to nearest, ties away from zero.
static double as_tf32(double real) {
  float narrow = (float)real;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  if (isfinite(narrow))
    bits = (bits + 0x1000) & ~UINT32_C(0x1fff);
  memcpy(&narrow, &bits, sizeof narrow);
  return (double)narrow;
}

static void store_float(const struct hirc_value_info *value, double real, void *to) {
  const struct format *format = format_of(value);
  if (strcmp(value->element, "tf32") == 0)
    real = as_tf32(real);
  uint64_t bits;
  if (value->element_bytes == 8)
    memcpy(&bits, &real, sizeof bits);
  else if (format->special == 'b') // E4M3B11: a bias of 11 where the FNUZ format has 8
    bits = hirc_float_bits(real * 8, format->exponent_bits, format->mantissa_bits, 'z');
  else
    bits = hirc_float_bits(real, format->exponent_bits, format->mantissa_bits, format->special);
  memcpy(to, &bits, (size_t)value->element_bytes);
}

static double load_float(const struct hirc_value_info *value, const void *from) {
  const struct format *format = format_of(value);
  uint64_t bits = 0;
  double real;
  memcpy(&bits, from, (size_t)value->element_bytes);
  if (value->element_bytes == 8) {
    memcpy(&real, &bits, sizeof real);
    return real;
  }
  if (format->special == 'b')
    return hirc_float_value(bits, format->exponent_bits, format->mantissa_bits, 'z') / 8;
  return hirc_float_value(bits, format->exponent_bits, format->mantissa_bits, format->special);
}

static void store_complex(const struct hirc_value_info *value, struct hirc_number number,
                          void *to) {
  double parts[2] = {number.real, number.imaginary};
  float narrow[2] = {(float)number.real, (float)number.imaginary};
  if (value->element_bytes == 16)
    memcpy(to, parts, sizeof parts);
  else
    memcpy(to, narrow, sizeof narrow);
}

// Writes a number as an element. Returns whether the type has it.
bool hirc_store_element(const struct hirc_value_info *value, struct hirc_number number, void *to) {
  if (hirc_is_float(value)) {
    store_float(value, number.real, to);
    return true;
  }
  if (hirc_is_complex(value)) {
    store_complex(value, number, to);
    return true;
  }
  if (!number.is_integer)
    return false;
  int unused = 64 - (hirc_is_truth(value) ? 1 : 8 * value->element_bytes);
  uint64_t bits = number.integer;
  uint64_t back = hirc_is_signed(value) ? (uint64_t)((int64_t)(bits << unused) >> unused)
                                        : bits << unused >> unused;
  memcpy(to, &bits, (size_t)value->element_bytes);
  // What was negative has a sign; an unsigned type has no room for it.
  bool is_negative = number.real < 0;
  bool has_sign = hirc_is_signed(value) && (int64_t)bits < 0;
  return back == bits && is_negative == has_sign;
}

struct hirc_number hirc_load_element(const struct hirc_value_info *value, const void *from) {
  struct hirc_number number = {0};
  if (hirc_is_float(value)) {
    number.real = load_float(value, from);
    return number;
  }
  if (hirc_is_complex(value)) {
    float narrow[2];
    double parts[2];
    memcpy(narrow, from, sizeof narrow);
    if (value->element_bytes == 16)
      memcpy(parts, from, sizeof parts);
    number.real = value->element_bytes == 16 ? parts[0] : (double)narrow[0];
    number.imaginary = value->element_bytes == 16 ? parts[1] : (double)narrow[1];
    return number;
  }
  int unused = 64 - 8 * value->element_bytes;
  memcpy(&number.integer, from, (size_t)value->element_bytes);
  number.integer = hirc_is_signed(value)
                       ? (uint64_t)((int64_t)(number.integer << unused) >> unused)
                       : number.integer << unused >> unused;
  number.is_integer = true;
  number.real = hirc_is_signed(value) ? (double)(int64_t)number.integer : (double)number.integer;
  return number;
}
