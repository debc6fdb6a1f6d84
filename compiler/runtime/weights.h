// The values of weights: where they are before they are on a device. See weight_values.c.
#ifndef HIRC_WEIGHTS_H
#define HIRC_WEIGHTS_H

#include "program.h"
#include "safetensors.h"
#include "strided.h"

// The caller's tensors, by name.
struct hirc_named_tensors {
  const char *const *names;
  const struct dl_tensor *const *tensors;
  int64_t count;
};

// A safetensors file that is mapped.
struct hirc_weights_file {
  const char *path;
  int descriptor;
  const char *memory; // NULL where no file is open
  uint64_t bytes;
  uint64_t data_offset;
  struct hirc_safetensors header;
};

// A weight, where its value is, and where it or a part of it lies on the device; `part` is NULL where
// that has all of it.
struct hirc_place {
  const struct hirc_safetensor *weight;
  const char *from;
  uint64_t start, end;
  const struct hirc_weight_part *part;
};

// The places are in the order of offsets on the device. A file or the linked file is one memory;
// where values have gaps, what is between two may be copied too.
struct hirc_values {
  struct hirc_safetensors wanted;
  struct hirc_weights_file file;
  struct hirc_place *places;
  int64_t count;
  bool is_one_memory;
  bool has_gaps;
};

bool hirc_values_open(struct hirc_values *values, const struct hirc_weights *weights,
                      bool is_embedded, const char *path, const struct hirc_named_tensors *given);
void hirc_values_close(struct hirc_values *values);
bool hirc_value_part(const struct hirc_place *place, int64_t rank, void *to,
                     struct strided_copy *copy);
bool hirc_value_is_in_place(const struct hirc_values *values, int64_t place);
uint64_t hirc_values_in_place(const struct hirc_values *values, uint64_t page);

#endif
