// Reads the header of a safetensors file, a JSON object:
//
//   {"__metadata__": {"key": "value"}, "name": {"dtype": "F32", "shape": [2, 3],
//    "data_offsets": [0, 24]}}
//
// Format: https://github.com/huggingface/safetensors, section "Format".

#include "safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

// What is read next, and the room that strings and numbers go to. A string with its end takes no
// more bytes there than with its quotes in the text; a number of a list, with what parts it from
// the next, takes two characters at least.
struct reader {
  const char *next, *end;
  char *strings;
  int64_t *numbers;
};

static void skip_space(struct reader *reader) {
  while (reader->next < reader->end &&
         (*reader->next == ' ' || *reader->next == '\t' || *reader->next == '\n' ||
          *reader->next == '\r'))
    ++reader->next;
}

// Takes one character, after white space, where it is there.
static bool take(struct reader *reader, char wanted) {
  skip_space(reader);
  if (reader->next == reader->end || *reader->next != wanted)
    return false;
  ++reader->next;
  return true;
}

static bool take_code(struct reader *reader, unsigned *code) {
  *code = 0;
  for (int digit = 0; digit < 4; ++digit) {
    if (reader->next == reader->end)
      return false;
    char each = *reader->next++;
    unsigned value = each >= '0' && each <= '9'   ? (unsigned)(each - '0')
                     : each >= 'a' && each <= 'f' ? (unsigned)(each - 'a') + 10
                     : each >= 'A' && each <= 'F' ? (unsigned)(each - 'A') + 10
                                                  : 16;
    if (value == 16)
      return false;
    *code = *code << 4 | value;
  }
  return true;
}

static void put_utf8(struct reader *reader, unsigned code) {
  if (code < 0x80) {
    *reader->strings++ = (char)code;
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
  *reader->strings++ = (char)(first[more] | code >> 6 * more);
  while (more-- > 0)
    *reader->strings++ = (char)(0x80 | (code >> 6 * more & 0x3F));
}

// An escape, of which the backslash is taken.
static bool take_escape(struct reader *reader) {
  static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  if (reader->next == reader->end)
    return false;
  char letter = *reader->next++;
  const char *found = strchr(letters, letter);
  if (letter && found) {
    *reader->strings++ = values[found - letters];
    return true;
  }
  unsigned code, low;
  if (letter != 'u' || !take_code(reader, &code) || code == 0)
    return false;
  if (code >= 0xD800 && code < 0xDC00) {
    if (reader->end - reader->next < 2 || reader->next[0] != '\\' || reader->next[1] != 'u')
      return false;
    reader->next += 2;
    if (!take_code(reader, &low) || low < 0xDC00 || low > 0xDFFF)
      return false;
    code = 0x10000 + ((code - 0xD800) << 10 | (low - 0xDC00));
  }
  put_utf8(reader, code);
  return true;
}

// A string, which ends with a NUL in `strings`; NULL where there is none.
static const char *take_string(struct reader *reader) {
  if (!take(reader, '"'))
    return NULL;
  const char *start = reader->strings;
  while (reader->next < reader->end && *reader->next != '"') {
    char each = *reader->next++;
    if (each == '\\') {
      if (!take_escape(reader))
        return NULL;
    } else if ((unsigned char)each < 0x20) {
      return NULL;
    } else {
      *reader->strings++ = each;
    }
  }
  if (reader->next == reader->end)
    return NULL;
  ++reader->next;
  *reader->strings++ = 0;
  return start;
}

static bool take_number(struct reader *reader, int64_t *number) {
  skip_space(reader);
  const char *start = reader->next;
  uint64_t value = 0;
  while (reader->next < reader->end && *reader->next >= '0' && *reader->next <= '9') {
    unsigned digit = (unsigned)(*reader->next++ - '0');
    if (value > ((uint64_t)INT64_MAX - digit) / 10)
      return false;
    value = 10 * value + digit;
  }
  *number = (int64_t)value;
  return reader->next > start;
}

// A list of numbers, which `numbers` gets.
static bool take_list(struct reader *reader, const int64_t **list, int64_t *count) {
  *list = reader->numbers;
  *count = 0;
  if (!take(reader, '['))
    return false;
  if (take(reader, ']'))
    return true;
  do {
    if (!take_number(reader, reader->numbers++))
      return false;
    ++*count;
  } while (take(reader, ','));
  return take(reader, ']');
}

// Any value: what later versions of the format may say of a tensor.
static bool skip_value(struct reader *reader, int depth) {
  skip_space(reader);
  if (depth == DEEPEST || reader->next == reader->end)
    return false;
  char first = *reader->next;
  if (first == '"')
    return take_string(reader) != NULL;
  if (first == '{' || first == '[') {
    char last = first == '{' ? '}' : ']';
    ++reader->next;
    if (take(reader, last))
      return true;
    do {
      if (first == '{' && (!take_string(reader) || !take(reader, ':')))
        return false;
      if (!skip_value(reader, depth + 1))
        return false;
    } while (take(reader, ','));
    return take(reader, last);
  }
  const char *start = reader->next;
  while (reader->next < reader->end && !strchr(",]} \t\r\n", *reader->next))
    ++reader->next;
  return reader->next > start;
}

static bool take_tensor(struct reader *reader, struct hirc_safetensor *tensor) {
  const int64_t *offsets = NULL;
  int64_t offset_count = 0;
  if (!take(reader, '{'))
    return false;
  do {
    const char *key = take_string(reader);
    if (!key || !take(reader, ':'))
      return false;
    bool is_taken;
    if (strcmp(key, "dtype") == 0)
      is_taken = (tensor->dtype = take_string(reader)) != NULL;
    else if (strcmp(key, "shape") == 0)
      is_taken = take_list(reader, &tensor->sizes, &tensor->rank);
    else if (strcmp(key, "data_offsets") == 0)
      is_taken = take_list(reader, &offsets, &offset_count);
    else
      is_taken = skip_value(reader, 0);
    if (!is_taken)
      return false;
  } while (take(reader, ','));
  if (!take(reader, '}') || !tensor->dtype || !tensor->sizes || offset_count != 2 ||
      offsets[0] > offsets[1])
    return false;
  tensor->start = (uint64_t)offsets[0];
  tensor->end = (uint64_t)offsets[1];
  return true;
}

static bool take_metadata(struct reader *reader, struct hirc_safetensors *header) {
  if (!take(reader, '{'))
    return false;
  if (take(reader, '}'))
    return true;
  do {
    struct hirc_metadatum *each = &header->metadata[header->metadata_count];
    if (!(each->key = take_string(reader)) || !take(reader, ':') ||
        !(each->value = take_string(reader)))
      return false;
    ++header->metadata_count;
  } while (take(reader, ','));
  return take(reader, '}');
}

static bool take_header(struct reader *reader, struct hirc_safetensors *header) {
  if (!take(reader, '{'))
    return false;
  if (!take(reader, '}')) {
    do {
      const char *name = take_string(reader);
      if (!name || !take(reader, ':'))
        return false;
      if (strcmp(name, "__metadata__") == 0) {
        if (!take_metadata(reader, header))
          return false;
        continue;
      }
      struct hirc_safetensor *tensor = &header->tensors[header->count++];
      *tensor = (struct hirc_safetensor){.name = name};
      if (!take_tensor(reader, tensor))
        return false;
    } while (take(reader, ','));
    if (!take(reader, '}'))
      return false;
  }
  skip_space(reader);
  return reader->next == reader->end;
}

// Both structs begin with the name.
static int compare_names(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

// Reads a header into `header`, which is to be freed. Returns what is wrong, NULL if nothing is;
// then there is nothing to free.
const char *hirc_safetensors_parse(const char *text, size_t bytes,
                                   struct hirc_safetensors *header) {
  *header = (struct hirc_safetensors){0};
  // An entry of a tensor or of metadata has a colon at least.
  size_t entries = 0;
  for (size_t i = 0; i < bytes; ++i)
    entries += text[i] == ':';
  size_t each = sizeof *header->tensors + sizeof *header->metadata;
  size_t numbers = (bytes / 2 + 1) * sizeof(int64_t);
  char *memory = malloc(entries * each + numbers + bytes + 1);
  if (!memory)
    return "there is no memory for its header";
  header->memory = memory;
  header->tensors = (void *)memory;
  header->metadata = (void *)(memory + entries * sizeof *header->tensors);
  struct reader reader = {text, text + bytes, memory + entries * each + numbers,
                          (void *)(memory + entries * each)};
  const char *fault = NULL;
  if (!take_header(&reader, header))
    fault = "its header is no header of a safetensors file";
  qsort(header->tensors, (size_t)header->count, sizeof *header->tensors, compare_names);
  qsort(header->metadata, (size_t)header->metadata_count, sizeof *header->metadata,
        compare_names);
  for (int64_t i = 1; !fault && i < header->count; ++i)
    if (strcmp(header->tensors[i - 1].name, header->tensors[i].name) == 0)
      fault = "its header has two tensors of one name";
  if (fault)
    hirc_safetensors_free(header);
  return fault;
}

void hirc_safetensors_free(struct hirc_safetensors *header) {
  free(header->memory);
  *header = (struct hirc_safetensors){0};
}

// The tensor of a name, or NULL.
const struct hirc_safetensor *hirc_safetensors_find(const struct hirc_safetensors *header,
                                                    const char *name) {
  return header->count ? bsearch(&name, header->tensors, (size_t)header->count,
                                 sizeof *header->tensors, compare_names)
                       : NULL;
}

// What the metadata say of a key, or NULL.
const char *hirc_safetensors_metadatum(const struct hirc_safetensors *header, const char *key) {
  const struct hirc_metadatum *found =
      header->metadata_count ? bsearch(&key, header->metadata, (size_t)header->metadata_count,
                                       sizeof *header->metadata, compare_names)
                             : NULL;
  return found ? found->value : NULL;
}

// "F32 [2, 3]".
void hirc_safetensors_type_text(const char *dtype, const int64_t *sizes, int64_t rank, char *text,
                                size_t bytes) {
  size_t length = (size_t)snprintf(text, bytes, "%s [", dtype);
  for (int64_t axis = 0; axis < rank && length < bytes; ++axis)
    length += (size_t)snprintf(text + length, bytes - length, "%s%" PRId64, axis ? ", " : "",
                               sizes[axis]);
  if (length < bytes)
    snprintf(text + length, bytes - length, "]");
}
