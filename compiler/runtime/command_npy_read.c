// Reading .npy files: versions 1.0 to 3.0 of the format, little-endian, rows or columns first.
//
// Format: NumPy Enhancement Proposal 1 (numpy.lib.format): a magic string, the version, the length
// of a header, the header as a Python dictionary of 'descr', 'fortran_order' and 'shape', the data.

#include "command.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The file in hand, for messages.
struct reader {
  const struct hirc_value_info *value;
  const char *path;
  FILE *file;
};

_Noreturn static void refuse(const struct reader *reader, const char *what) {
  hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': %s %s", reader->value->name, reader->path, what);
}

static void read_bytes(const struct reader *reader, void *to, size_t bytes) {
  if (bytes && fread(to, 1, bytes, reader->file) != bytes)
    refuse(reader, ferror(reader->file) ? "cannot be read" : "ends before its data do");
}

static char *read_header(const struct reader *reader) {
  unsigned char start[8], length[4] = {0};
  if (fread(start, 1, sizeof start, reader->file) != sizeof start ||
      memcmp(start, "\x93NUMPY", 6) != 0)
    refuse(reader, "is no .npy file");
  if (start[6] < 1 || start[6] > 3)
    refuse(reader, "is of a version of the .npy format that is not known (1.0 to 3.0 are)");
  read_bytes(reader, length, start[6] == 1 ? 2 : 4);
  size_t bytes = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
                 (size_t)length[3] << 24;
  if (bytes > 1 << 20)
    refuse(reader, "has a header of more than a million bytes");
  char *header = hirc_command_memory((int64_t)bytes + 1, 1);
  read_bytes(reader, header, bytes);
  return header;
}

// What follows a key of the header's dictionary.
static const char *value_of(const struct reader *reader, const char *header, const char *key) {
  for (const char *at = header; (at = strstr(at, key)); ++at) {
    const char *after = at + strlen(key);
    bool is_key = at > header && (at[-1] == '\'' || at[-1] == '"') && *after == at[-1];
    if (!is_key)
      continue;
    for (++after; isspace((unsigned char)*after); ++after)
      ;
    if (*after == ':') {
      for (++after; isspace((unsigned char)*after); ++after)
        ;
      return after;
    }
  }
  refuse(reader, "has a header that is not a .npy file's");
}

// Checks that the file's elements are what the program takes.
static void check_type(const struct reader *reader, const char *header) {
  const char *wanted = hirc_npy_type(reader->value), *found = value_of(reader, header, "descr");
  if (*found != '\'' && *found != '"')
    refuse(reader, "holds records, not numbers");
  int length = (int)strcspn(found + 1, "'\"");
  ++found;
  // The mark of the byte order means nothing for one byte, and '=' never stands in a file.
  bool same = length > 1 && strlen(wanted + 1) == (size_t)(length - 1) &&
              strncmp(found + 1, wanted + 1, (size_t)(length - 1)) == 0;
  bool is_raw = wanted[1] == 'V';
  bool as_bytes = is_raw && wanted[2] == '1' && length == 3 && strncmp(found + 1, "u1", 2) == 0;
  bool other_order = *found == '>' && reader->value->element_bytes > 1;
  if ((same || as_bytes) && !other_order)
    return;
  hirc_command_fail(HIRC_EXIT_INPUT,
                    "input '%s': %s holds elements '%.*s', the program takes %s ('%s' in a .npy "
                    "file)",
                    reader->value->name, reader->path, length, found, reader->value->element,
                    wanted);
}

static void read_sizes(const struct reader *reader, const char *header, struct hirc_array *array) {
  const char *at = value_of(reader, header, "shape");
  int64_t room = 1;
  for (const char *c = at; *c && *c != ')'; ++c)
    room += *c == ',';
  array->sizes = hirc_command_memory(room, sizeof(int64_t));
  array->rank = 0;
  if (*at++ != '(')
    refuse(reader, "has a header that is not a .npy file's");
  for (;;) {
    while (isspace((unsigned char)*at) || *at == ',')
      ++at;
    if (*at == ')')
      return;
    char *stop;
    errno = 0;
    int64_t size = strtoll(at, &stop, 10);
    if (stop == at || errno || size < 0 || array->rank == room)
      refuse(reader, "has a header that is not a .npy file's");
    array->sizes[array->rank++] = size;
    at = *stop == 'L' ? stop + 1 : stop;
  }
}

// Puts data that lie column by column into rows.
static void into_rows(const struct hirc_array *array, const char *columns, int64_t bytes) {
  int64_t count = hirc_count_of(array);
  int64_t *place = hirc_command_memory(array->rank, sizeof *place);
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0, stride = 1;
    for (int64_t axis = 0; axis < array->rank; ++axis) {
      from += place[axis] * stride;
      stride *= array->sizes[axis];
    }
    memcpy(array->data + i * bytes, columns + from * bytes, (size_t)bytes);
    for (int64_t axis = array->rank - 1; axis >= 0 && ++place[axis] == array->sizes[axis]; --axis)
      place[axis] = 0;
  }
  free(place);
}

// The sizes are checked before memory is asked for: a file's header may hold any number.
static void check_bytes(const struct reader *reader, const struct hirc_array *array) {
  int64_t bytes = reader->value->element_bytes;
  for (int64_t axis = 0; axis < array->rank; ++axis)
    if (__builtin_mul_overflow(bytes, array->sizes[axis], &bytes))
      refuse(reader, "ends before its data do");
  long here = ftell(reader->file);
  if (here < 0 || fseek(reader->file, 0, SEEK_END) != 0)
    return; // a pipe: reading it tells
  long end = ftell(reader->file);
  if (end - here < bytes)
    hirc_command_fail(HIRC_EXIT_INPUT,
                      "input '%s': %s ends before its data do: %ld bytes for %" PRId64,
                      reader->value->name, reader->path, end - here, bytes);
  fseek(reader->file, here, SEEK_SET);
}

// The array in a file, of any sizes. Ends the command where the file is not there or is wrong.
struct hirc_array hirc_read_npy(const struct hirc_value_info *value, const char *path) {
  struct reader reader = {value, path, fopen(path, "rb")};
  struct hirc_array array;
  if (!reader.file)
    hirc_command_fail(HIRC_EXIT_INPUT, "input '%s': cannot read %s: %s", value->name, path,
                      strerror(errno));
  char *header = read_header(&reader);
  check_type(&reader, header);
  read_sizes(&reader, header, &array);
  check_bytes(&reader, &array);
  int64_t count = hirc_count_of(&array), bytes = value->element_bytes;
  array.data = hirc_command_memory(count, bytes);
  read_bytes(&reader, array.data, (size_t)(count * bytes));
  const char *order = value_of(&reader, header, "fortran_order");
  if (strncmp(order, "True", 4) == 0 && array.rank > 1) {
    char *columns = array.data;
    array.data = hirc_command_memory(count, bytes);
    into_rows(&array, columns, bytes);
    free(columns);
  }
  free(header);
  fclose(reader.file);
  return array;
}
