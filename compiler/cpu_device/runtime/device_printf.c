// printf of device code. What is printed waits in a buffer for the next synchronisation.
//
// Conversions are those of the CUDA C++ Programming Guide, "Formatted Output". The arguments lie
// one after another, each aligned to its size, as vprintf of PTX takes them.
#include "execution.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BUFFER_BYTES = 1 << 20,
  CALL_BYTES = 1024, // what one call prints without allocating
  SPECIFICATION_BYTES = 64,
};

// --- arguments ---------------------------------------------------------------------------------

struct arguments {
  const char *start;
  size_t offset;
  int count;
};

static const void *next_argument(struct arguments *arguments, size_t bytes) {
  arguments->offset = (arguments->offset + bytes - 1) / bytes * bytes;
  const void *at = arguments->start + arguments->offset;
  arguments->offset += bytes;
  arguments->count++;
  return at;
}

static int next_int(struct arguments *arguments) {
  int value;
  memcpy(&value, next_argument(arguments, sizeof value), sizeof value);
  return value;
}

static long long next_long(struct arguments *arguments) {
  long long value;
  memcpy(&value, next_argument(arguments, sizeof value), sizeof value);
  return value;
}

static double next_double(struct arguments *arguments) {
  double value;
  memcpy(&value, next_argument(arguments, sizeof value), sizeof value);
  return value;
}

static const char *next_pointer(struct arguments *arguments) {
  const char *value;
  memcpy(&value, next_argument(arguments, sizeof value), sizeof value);
  return value;
}

// --- what one call prints ----------------------------------------------------------------------

struct line {
  char own[CALL_BYTES];
  char *characters;
  size_t used, room;
};

static bool reserve(struct line *line, size_t bytes) {
  if (line->used + bytes <= line->room) {
    return true;
  }
  size_t room = 2 * (line->used + bytes);
  char *larger = line->characters == line->own ? malloc(room) : realloc(line->characters, room);
  if (larger == NULL) {
    return false;
  }
  if (line->characters == line->own) {
    memcpy(larger, line->own, line->used);
  }
  line->characters = larger;
  line->room = room;
  return true;
}

static void put(struct line *line, const char *characters, size_t count) {
  if (reserve(line, count)) {
    memcpy(line->characters + line->used, characters, count);
    line->used += count;
  }
}

// A conversion, given to the C library as `format` with the value; twice if it takes more room.
#define PUT_FORMATTED(line, format, argument)                                                      \
  do {                                                                                             \
    __typeof__(argument) value = (argument);                                                       \
    size_t left = (line)->room - (line)->used;                                                     \
    int length = snprintf((line)->characters + (line)->used, left, (format), value);               \
    if (length > 0 && (size_t)length >= left && reserve((line), (size_t)length + 1)) {             \
      snprintf((line)->characters + (line)->used, (size_t)length + 1, (format), value);            \
      (line)->used += (size_t)length;                                                              \
    } else if (length > 0 && (size_t)length < left) {                                              \
      (line)->used += (size_t)length;                                                              \
    }                                                                                              \
  } while (0)

// --- conversions -------------------------------------------------------------------------------

// One conversion of a format: its flags, width and precision as text, and the sizes of integers.
struct conversion {
  char text[SPECIFICATION_BYTES]; // begins with %
  size_t used;
  int halves; // how many h
  bool is_long;
  char letter;
};

static void add(struct conversion *conversion, char character) {
  if (conversion->used < SPECIFICATION_BYTES - 4) {
    conversion->text[conversion->used++] = character;
  }
}

static const char *read_number(struct conversion *conversion, const char *at,
                               struct arguments *arguments) {
  if (*at == '*') {
    char digits[16];
    snprintf(digits, sizeof digits, "%d", next_int(arguments));
    for (const char *digit = digits; *digit != '\0'; digit++) {
      add(conversion, *digit);
    }
    return at + 1;
  }
  while (*at >= '0' && *at <= '9') {
    add(conversion, *at++);
  }
  return at;
}

// A precision below 0 is as none.
static const char *read_precision(struct conversion *conversion, const char *at,
                                  struct arguments *arguments) {
  size_t before = conversion->used;
  add(conversion, '.');
  at = read_number(conversion, at + 1, arguments);
  if (conversion->text[before + 1] == '-' && conversion->used > before + 1) {
    conversion->used = before;
  }
  return at;
}

// Reads what follows a %; returns what follows the conversion.
static const char *read_conversion(struct conversion *conversion, const char *at,
                                   struct arguments *arguments) {
  memset(conversion, 0, sizeof *conversion);
  add(conversion, '%');
  while (*at != '\0' && strchr("-+ #0", *at) != NULL) {
    add(conversion, *at++);
  }
  at = read_number(conversion, at, arguments);
  if (*at == '.') {
    at = read_precision(conversion, at, arguments);
  }
  for (; *at != '\0' && strchr("hlLjzt", *at) != NULL; at++) {
    conversion->halves += *at == 'h';
    conversion->is_long |= *at != 'h';
  }
  conversion->letter = *at;
  return *at != '\0' ? at + 1 : at;
}

static void finish(struct conversion *conversion, const char *length) {
  for (; *length != '\0'; length++) {
    conversion->text[conversion->used++] = *length;
  }
  conversion->text[conversion->used++] = conversion->letter;
  conversion->text[conversion->used] = '\0';
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"

static void put_integer(struct line *line, struct conversion *conversion,
                        struct arguments *arguments) {
  if (conversion->is_long) {
    finish(conversion, "ll");
    PUT_FORMATTED(line, conversion->text, next_long(arguments));
  } else {
    finish(conversion, conversion->halves >= 2 ? "hh" : conversion->halves == 1 ? "h" : "");
    PUT_FORMATTED(line, conversion->text, next_int(arguments));
  }
}

static void put_string(struct line *line, struct conversion *conversion,
                       struct arguments *arguments) {
  const char *string = next_pointer(arguments);
  finish(conversion, "");
  PUT_FORMATTED(line, conversion->text, string != NULL ? string : "(null)");
}

static void put_conversion(struct line *line, struct conversion *conversion,
                           struct arguments *arguments) {
  switch (conversion->letter) {
  case 'd': case 'i': case 'o': case 'u': case 'x': case 'X':
    put_integer(line, conversion, arguments);
    break;
  case 'c':
    finish(conversion, "");
    PUT_FORMATTED(line, conversion->text, next_int(arguments));
    break;
  case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
    finish(conversion, "");
    PUT_FORMATTED(line, conversion->text, next_double(arguments));
    break;
  case 'p':
    finish(conversion, "");
    PUT_FORMATTED(line, conversion->text, (const void *)next_pointer(arguments));
    break;
  case 's':
    put_string(line, conversion, arguments);
    break;
  case '\0':
    put(line, conversion->text, conversion->used);
    break;
  default: // none of printf's: as it stands
    finish(conversion, "");
    put(line, conversion->text, conversion->used);
  }
}

#pragma clang diagnostic pop

static void put_all(struct line *line, const char *format, struct arguments *arguments) {
  while (*format != '\0') {
    size_t plain = strcspn(format, "%");
    put(line, format, plain);
    format += plain;
    if (format[0] == '%' && format[1] == '%') {
      put(line, "%", 1);
      format += 2;
    } else if (*format == '%') {
      struct conversion conversion;
      format = read_conversion(&conversion, format + 1, arguments);
      put_conversion(line, &conversion, arguments);
    }
  }
}

// --- the buffer --------------------------------------------------------------------------------

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
static size_t buffered;

static void write_buffer(void) {
  if (buffered != 0) {
    fwrite(buffer, 1, buffered, stdout);
    buffered = 0;
  }
}

// A full buffer is written at once; CUDA would lose what is oldest.
static void keep(const char *characters, size_t count) {
  pthread_mutex_lock(&lock);
  if (buffer == NULL) {
    buffer = malloc(BUFFER_BYTES);
  }
  if (buffer == NULL || buffered + count > BUFFER_BYTES) {
    write_buffer();
  }
  if (buffer == NULL || count > BUFFER_BYTES) {
    fwrite(characters, 1, count, stdout);
  } else {
    memcpy(buffer + buffered, characters, count);
    buffered += count;
  }
  pthread_mutex_unlock(&lock);
}

void hirc_flush_printf(void) {
  pthread_mutex_lock(&lock);
  write_buffer();
  pthread_mutex_unlock(&lock);
}

// The number of arguments that the format takes; -1 without a format.
int hirc_device_printf(struct hirc_block *block, uint32_t thread, const char *format,
                       const void *packed) {
  (void)block;
  (void)thread;
  if (format == NULL) {
    return -1;
  }
  struct line line;
  line.characters = line.own;
  line.used = 0;
  line.room = sizeof line.own;
  struct arguments arguments = {packed, 0, 0};
  put_all(&line, format, &arguments);
  keep(line.characters, line.used);
  if (line.characters != line.own) {
    free(line.characters);
  }
  return arguments.count;
}
