// Writing .npy files: version 1.0, or 2.0 where the header is longer than that allows.

#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_START = 10, LONG_START = 12, ALIGNMENT = 64 };

static size_t header_text(const struct hirc_value_info *value, const struct hirc_array *array,
                          char *text, size_t room) {
  int length = snprintf(text, room, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        hirc_npy_type(value));
  for (int64_t axis = 0; axis < array->rank; ++axis)
    length += snprintf(text + length, room - (size_t)length, "%s%" PRId64 "%s", axis ? " " : "",
                       array->sizes[axis], axis + 1 < array->rank || array->rank == 1 ? "," : "");
  length += snprintf(text + length, room - (size_t)length, "), }");
  return (size_t)length;
}

void hirc_write_npy(const struct hirc_value_info *value, const struct hirc_array *array,
                    const char *path) {
  size_t room = 128 + 24 * (size_t)array->rank;
  char *text = hirc_command_memory((int64_t)room + ALIGNMENT, 1);
  size_t length = header_text(value, array, text, room);
  bool is_short = length + ALIGNMENT < UINT16_MAX;
  size_t start = is_short ? SHORT_START : LONG_START;
  // The data begin at a multiple of 64 bytes, after spaces and a newline.
  size_t padded = (start + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - start;
  memset(text + length, ' ', padded - length);
  text[padded - 1] = '\n';
  unsigned char head[LONG_START] = "\x93NUMPY";
  head[6] = is_short ? 1 : 2;
  for (size_t i = 0; i < start - 8; ++i)
    head[8 + i] = (unsigned char)(padded >> 8 * i);
  size_t bytes = (size_t)(hirc_count_of(array) * value->element_bytes);
  FILE *file = hirc_open_output(path);
  // What is not written is an error of the stream's when it closes.
  fwrite(head, 1, start, file);
  fwrite(text, 1, padded, file);
  fwrite(array->data, 1, bytes, file);
  hirc_close_output(path, file);
  free(text);
}
