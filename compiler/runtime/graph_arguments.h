// The arguments of a program's call that a device graph was last launched with: see
// graph_arguments.c. What compares them is here, as it is most of what a call takes of the host.
#ifndef HIRC_GRAPH_ARGUMENTS_H
#define HIRC_GRAPH_ARGUMENTS_H

#include "kept_memory.h"
#include "program.h"

#include <stddef.h>
#include <string.h>

// The numbers of a tensor: the device; rank and type; the bytes of a scalar, and whether there are
// strides; its data, or the scalar's value; the offset. Sizes and strides follow.
enum { DEVICE, KIND, FORM, DATA, OFFSET, TENSOR_NUMBERS };
enum { HAS_STRIDES = 1, SCALAR_BYTES = 1 };

// Of the outputs, and then of the inputs. A count of 0 is of no call.
struct kept_arguments {
  uint64_t *numbers;
  size_t count, room;
  uint64_t memory; // hirc_kept_memory_version
  const struct hirc_instance *instance;
  bool has_state;
};

// Keeps the arguments of a call, or none: of a program that computes its steps of more, and of a
// call without memory for an output, which lies elsewhere in each.
void hirc_arguments_keep(struct kept_arguments *kept, const struct hirc_program_info *program,
                         const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs);

static inline void read_layout(const struct dl_tensor *tensor, uint64_t layout[DATA],
                               size_t scalar_bytes) {
  memcpy(&layout[DEVICE], &tensor->device, sizeof *layout);
  memcpy(&layout[KIND], &tensor->rank, sizeof *layout);
  layout[FORM] = scalar_bytes << SCALAR_BYTES | (tensor->strides ? HAS_STRIDES : 0);
}
_Static_assert(offsetof(struct dl_tensor, rank) + sizeof(uint64_t) ==
                   offsetof(struct dl_tensor, sizes),
               "a tensor's rank and type are one number");

// A scalar lies in the host's memory.
static inline uint64_t scalar_of(const struct dl_tensor *tensor, size_t bytes) {
  uint64_t value = 0;
  memcpy(&value, (const char *)tensor->data + tensor->byte_offset, bytes);
  return value;
}

// Whether it is the tensor that the numbers are of; `*kept` becomes those of the next.
static inline bool follow(const uint64_t **kept, const struct dl_tensor *tensor) {
  const uint64_t *numbers = *kept, *axes = numbers + TENSOR_NUMBERS;
  size_t scalar_bytes = numbers[FORM] >> SCALAR_BYTES;
  uint64_t layout[DATA], differs = 0;
  read_layout(tensor, layout, scalar_bytes);
  for (int i = 0; i < DATA; ++i)
    differs |= layout[i] ^ numbers[i];
  if (differs || !tensor->data || (tensor->rank && !tensor->sizes))
    return false;
  if (scalar_bytes)
    differs = scalar_of(tensor, scalar_bytes) ^ numbers[DATA];
  else
    differs = ((uintptr_t)tensor->data ^ numbers[DATA]) | (tensor->byte_offset ^ numbers[OFFSET]);
  for (int32_t i = 0; i < tensor->rank; ++i)
    differs |= *axes++ ^ (uint64_t)tensor->sizes[i];
  for (int32_t i = 0; tensor->strides && i < tensor->rank; ++i)
    differs |= *axes++ ^ (uint64_t)tensor->strides[i];
  *kept = axes;
  return differs == 0;
}

// Whether a call has these arguments again, so that its steps are the same.
static inline bool hirc_arguments_repeat(const struct kept_arguments *kept,
                                         const struct hirc_program_info *program,
                                         const struct dl_tensor *const *inputs,
                                         struct dl_tensor *const *outputs) {
  const uint64_t *next = kept->numbers;
  if (kept->count == 0 || kept->memory != hirc_kept_memory_version())
    return false;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (!follow(&next, outputs[i]))
      return false;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (!follow(&next, inputs[i]))
      return false;
  return !kept->has_state || kept->instance == hirc_state_instance_1;
}

#endif
