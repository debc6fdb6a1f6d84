// An input as it is given on the command line.
//
// A .npy file's path; or `SIZESxELEMENT=CONTENTS` (2x3xf32=1.5); or, where the program leaves no
// size open, CONTENTS alone. CONTENTS is one number for every element, as many numbers as there are
// elements with commas between them, @iota, or @random:SEED.

#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Reads the number in [text, end). Returns false where it is none of the element's type.
bool hirc_parse_number(const struct hirc_value_info *value, const char *text, const char *end,
                       struct hirc_number *number) {
  char copy[64], *stop;
  size_t length = (size_t)(end - text);
  if (length == 0 || length >= sizeof copy)
    return false;
  memcpy(copy, text, length);
  copy[length] = 0;
  *number = (struct hirc_number){0};
  if (hirc_is_truth(value) && (strcmp(copy, "true") == 0 || strcmp(copy, "false") == 0)) {
    number->is_integer = true;
    number->integer = copy[0] == 't';
    return true;
  }
  if (hirc_is_float(value) || hirc_is_complex(value)) {
    number->real = strtod(copy, &stop);
    return *stop == 0;
  }
  errno = 0;
  bool is_negative = copy[0] == '-';
  number->is_integer = true;
  number->integer =
      is_negative ? (uint64_t)strtoll(copy, &stop, 10) : (uint64_t)strtoull(copy, &stop, 10);
  number->real = is_negative && number->integer != 0 ? -1 : 0;
  return *stop == 0 && errno == 0;
}

static void store_number(const struct hirc_value_info *value, const char *text, const char *end,
                         void *to) {
  struct hirc_number number;
  if (!hirc_parse_number(value, text, end, &number) || !hirc_store_element(value, number, to))
    hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': '%.*s' is no %s", value->name,
                      (int)(end - text), text, value->element);
}

static void fill_with_list(const struct hirc_value_info *value, const struct hirc_array *array,
                           const char *text) {
  int64_t count = hirc_count_of(array), place = 0;
  for (const char *at = text, *end;; at = end + 1) {
    end = at + strcspn(at, ",");
    if (place < count)
      store_number(value, at, end, array->data + place * value->element_bytes);
    ++place;
    if (*end == 0)
      break;
  }
  if (place != count)
    hirc_command_fail(HIRC_EXIT_INPUT,
                      "input '%s': %" PRId64 " numbers are given for %" PRId64 " elements",
                      value->name, place, count);
}

static void fill(const struct hirc_value_info *value, const struct hirc_array *array,
                 const char *text) {
  int64_t bytes = value->element_bytes;
  if (strcmp(text, "@iota") == 0) {
    hirc_fill_iota(value, array);
  } else if (strncmp(text, "@random:", 8) == 0) {
    char *stop;
    uint64_t seed = strtoull(text + 8, &stop, 10);
    if (stop == text + 8 || *stop)
      hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': '%s' has no seed: @random:7", value->name,
                        text);
    hirc_fill_random(value, array, seed);
  } else if (text[0] == '@') {
    hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': '%s' is neither @iota nor @random:SEED",
                      value->name, text);
  } else if (strchr(text, ',')) {
    fill_with_list(value, array, text);
  } else {
    int64_t count = hirc_count_of(array);
    char element[16];
    store_number(value, text, text + strlen(text), element);
    for (int64_t i = 0; i < count; ++i)
      memcpy(array->data + i * bytes, element, (size_t)bytes);
  }
}

// Reads `2x3xf32` of [text, end) into sizes and the element type's name. Returns false where it is
// no such thing.
static bool parse_type(const char *text, const char *end, struct hirc_array *array,
                       const char **element) {
  int64_t rank = 0;
  for (const char *at = text; at < end; ++at)
    rank += *at == 'x';
  array->sizes = hirc_command_memory(rank + 1, sizeof(int64_t));
  array->rank = 0;
  *element = text;
  while (**element >= '0' && **element <= '9') {
    char *stop;
    errno = 0;
    int64_t size = strtoll(*element, &stop, 10);
    if (*stop != 'x' || stop >= end || errno)
      return false;
    array->sizes[array->rank++] = size;
    *element = stop + 1;
  }
  return *element < end;
}

// Memory for the array. Fails for sizes whose product does not fit.
static void make_room(const struct hirc_value_info *value, struct hirc_array *array) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < array->rank; ++axis)
    if (__builtin_mul_overflow(count, array->sizes[axis], &count) ||
        count > INT64_MAX / value->element_bytes)
      hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': no memory holds so many elements",
                        value->name);
  array->data = hirc_command_memory(count, value->element_bytes);
}

// Whether the text begins with a number, of any type: one that is not of the input's type is an
// error then, not a file's name.
static bool is_contents(const struct hirc_value_info *value, const char *text) {
  struct hirc_number number;
  char *stop;
  strtod(text, &stop);
  return text[0] == '@' || (stop != text && (*stop == 0 || *stop == ',')) ||
         hirc_parse_number(value, text, text + strcspn(text, ","), &number);
}

// Contents for the sizes that the program fixes.
static struct hirc_array read_contents(const struct hirc_value_info *value, const char *text) {
  struct hirc_array array = {.rank = value->rank};
  array.sizes = hirc_command_memory(value->rank, sizeof(int64_t));
  for (int axis = 0; axis < value->rank; ++axis) {
    if (value->sizes[axis] == HIRC_OPEN)
      hirc_command_fail(HIRC_EXIT_INPUT,
                        "input '%s' is %s, and sizes that are open have to be given: "
                        "2x3x%s=%s",
                        value->name, value->type, value->element, text);
    array.sizes[axis] = value->sizes[axis];
  }
  make_room(value, &array);
  fill(value, &array, text);
  return array;
}

// The values that an input's text stands for. Ends the command where it is wrong.
struct hirc_array hirc_read_value(const struct hirc_value_info *value, const char *text) {
  struct hirc_array array;
  // A file with a '=' in its name is one of a folder: ./a=b.
  const char *equals = text + strcspn(text, "=/"), *element;
  if (*equals == '=' && parse_type(text, equals, &array, &element)) {
    size_t length = strlen(value->element);
    bool is_type = (size_t)(equals - element) == length &&
                   strncmp(element, value->element, length) == 0;
    if (!is_type && array.rank == 0)
      hirc_command_fail(HIRC_EXIT_INPUT,
                        "input '%s' is %s, and elements of %.*s are given; a file of that name is "
                        "./%s",
                        value->name, value->type, (int)(equals - text), text, text);
    if (!is_type)
      hirc_command_fail(HIRC_EXIT_INPUT, "input '%s' is %s, and elements of %.*s are given",
                        value->name, value->type, (int)(equals - element), element);
    make_room(value, &array);
    fill(value, &array, equals + 1);
    return array;
  }
  return is_contents(value, text) ? read_contents(value, text) : hirc_read_npy(value, text);
}
