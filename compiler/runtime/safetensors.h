// The header of a safetensors file: names, types, sizes and places of tensors, and metadata.
#ifndef HIRC_SAFETENSORS_H
#define HIRC_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The type as the format calls it ("F32"); `start` and `end` count from the first byte of data.
struct hirc_safetensor {
  const char *name;
  const char *dtype;
  const int64_t *sizes;
  int64_t rank;
  uint64_t start, end;
};

struct hirc_metadatum {
  const char *key;
  const char *value;
};

// Both arrays are sorted by name; all of it lies in `memory`.
struct hirc_safetensors {
  struct hirc_safetensor *tensors;
  struct hirc_metadatum *metadata;
  int64_t count, metadata_count;
  void *memory;
};

// safetensors.c
const char *hirc_safetensors_parse(const char *text, size_t bytes, struct hirc_safetensors *header);
void hirc_safetensors_free(struct hirc_safetensors *header);
const struct hirc_safetensor *hirc_safetensors_find(const struct hirc_safetensors *header,
                                                    const char *name);
const char *hirc_safetensors_metadatum(const struct hirc_safetensors *header, const char *key);
void hirc_safetensors_type_text(const char *dtype, const int64_t *sizes, int64_t rank, char *text,
                                size_t bytes);

#endif
