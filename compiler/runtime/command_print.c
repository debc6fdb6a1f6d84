// Printing arrays as NumPy does: rows in brackets, columns aligned, each number with the fewest
// digits that stand for it. Of arrays with more than a thousand elements, three at each end.

#include "command.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE = 1000, EDGE = 3, LINE = 100, TEXT_BYTES = 80 };

struct printer {
  const struct hirc_value_info *value;
  const struct hirc_array *array;
  bool shortened;
  int width;
};

// Whether the element that `number` is written as is `element`.
static bool is_same(const struct hirc_value_info *value, const void *element, double real) {
  char other[16];
  struct hirc_number number = {.real = real};
  struct hirc_number found = hirc_load_element(value, element);
  hirc_store_element(value, number, other);
  return hirc_load_element(value, other).real == found.real;
}

// The same of one part of a complex number.
static bool is_same_part(const struct hirc_value_info *value, double part, double real) {
  return value->element_bytes == 16 ? part == real : (float)part == (float)real;
}

// A real number with the fewest digits for its type; a part of a complex one with its type's most.
static int real_text(const struct hirc_value_info *value, const void *element, double real,
                     char *text, size_t room) {
  if (isnan(real) || isinf(real))
    return snprintf(text, room, "%s", isnan(real) ? "nan" : real < 0 ? "-inf" : "inf");
  int length = 0, most = value->element_bytes == 8 || value->element_bytes == 16 ? 17 : 9;
  for (int digits = 1; digits <= most; ++digits) {
    length = snprintf(text, room, "%.*g", digits, real);
    double back = strtod(text, NULL);
    if (hirc_is_complex(value) ? is_same_part(value, real, back) : is_same(value, element, back))
      break;
  }
  // %g writes 100 with one digit as 1e+02: whole numbers of common size are written out.
  if (real == floor(real) && fabs(real) < 1e8)
    length = snprintf(text, room, "%.0f", real);
  if (!strpbrk(text, ".e"))
    length += snprintf(text + length, room - (size_t)length, ".");
  return length;
}

static int element_text(const struct hirc_value_info *value, const void *element, char *text) {
  struct hirc_number number = hirc_load_element(value, element);
  if (hirc_is_truth(value))
    return snprintf(text, TEXT_BYTES, "%s", number.integer ? "true" : "false");
  if (hirc_is_float(value))
    return real_text(value, element, number.real, text, TEXT_BYTES);
  if (hirc_is_complex(value)) {
    int length = real_text(value, element, number.real, text, TEXT_BYTES / 2);
    if (!signbit(number.imaginary) || isnan(number.imaginary))
      text[length++] = '+';
    length += real_text(value, element, number.imaginary, text + length, TEXT_BYTES / 2 - 4);
    return length + snprintf(text + length, 3, "j");
  }
  return hirc_is_signed(value)
             ? snprintf(text, TEXT_BYTES, "%" PRId64, (int64_t)number.integer)
             : snprintf(text, TEXT_BYTES, "%" PRIu64, number.integer);
}

// The place after `i` of those that are shown in a dim of this size.
static int64_t next_shown(const struct printer *printer, int64_t i, int64_t size) {
  bool skips = printer->shortened && size > 2 * EDGE && i + 1 == EDGE;
  return skips ? size - EDGE : i + 1;
}

static void measure(struct printer *printer, int64_t axis, int64_t first) {
  char text[TEXT_BYTES];
  const struct hirc_array *array = printer->array;
  if (axis == array->rank) {
    int width = element_text(printer->value,
                             array->data + first * printer->value->element_bytes, text);
    printer->width = width > printer->width ? width : printer->width;
    return;
  }
  int64_t size = array->sizes[axis];
  for (int64_t i = 0; i < size; i = next_shown(printer, i, size))
    measure(printer, axis + 1, first * size + i);
}

static void print_from(const struct printer *printer, int64_t axis, int64_t first) {
  const struct hirc_array *array = printer->array;
  if (axis == array->rank) {
    char text[TEXT_BYTES];
    element_text(printer->value, array->data + first * printer->value->element_bytes, text);
    printf("%*s", printer->width, text);
    return;
  }
  int64_t size = array->sizes[axis];
  bool is_row = axis + 1 == array->rank;
  int column = (int)axis + 1;
  putchar('[');
  for (int64_t i = 0, next; i < size; i = next) {
    bool wraps = column + 1 + printer->width + array->rank > LINE; // the brackets have room too
    if (i > 0 && (!is_row || wraps)) {
      printf("\n%*s", (int)axis + 1, "");
      column = (int)axis + 1;
    } else if (i > 0) {
      putchar(' ');
      ++column;
    }
    column += printer->width;
    print_from(printer, axis + 1, first * size + i);
    next = next_shown(printer, i, size);
    if (next > i + 1)
      fputs(is_row ? " ..." : "\n ...", stdout);
  }
  putchar(']');
}

// Prints `name: 2x3xf32` and the elements below it; a scalar and an array without dims in its line.
void hirc_print_array(const struct hirc_value_info *value, const struct hirc_array *array) {
  struct printer printer = {value, array, hirc_count_of(array) > WHOLE, 0};
  printf("%s: ", value->name);
  for (int64_t axis = 0; axis < array->rank; ++axis)
    printf("%" PRId64 "x", array->sizes[axis]);
  fputs(value->element, stdout);
  fputs(array->rank ? "\n" : " ", stdout);
  if (hirc_count_of(array) > 0)
    measure(&printer, 0, 0);
  print_from(&printer, 0, 0);
  putchar('\n');
}
