// NumPy's names of element types in .npy files.
//
// Types that NumPy has no name for are raw bytes there (V2, V1); for one byte, a file of
// unsigned bytes serves too.

#include "command.h"

#include <string.h>

// What of an element type a file says; a trailing byte-order mark aside.
const char *hirc_npy_type(const struct hirc_value_info *value) {
  static const char *const names[][2] = {
      {"f64", "<f8"},  {"f32", "<f4"},  {"tf32", "<f4"}, {"f16", "<f2"},  {"bf16", "|V2"},
      {"i64", "<i8"},  {"i32", "<i4"},  {"i16", "<i2"},  {"i8", "|i1"},   {"index", "<i8"},
      {"ui64", "<u8"}, {"ui32", "<u4"}, {"ui16", "<u2"}, {"ui8", "|u1"},  {"i1", "|b1"},
      {"complex<f32>", "<c8"}, {"complex<f64>", "<c16"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i][0], value->element) == 0)
      return names[i][1];
  return "|V1"; // the floats of eight bits
}
