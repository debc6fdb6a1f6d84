// Whether a call's tensors are what the program takes.
//
// Nearly all are, and in the simplest way: what stands here takes a few nanoseconds a tensor to see
// that. Of any other it does not know: input_errors.c decides, and says what is wrong.

#include "program.h"

#include <stdbool.h>
#include <string.h>

// The bytes of so many tensors are compared pair by pair.
enum { MOST_COMPARED = 32 };

// More than any tensor has, so that sums over dims have 64 bits.
#define MOST_BYTES (INT64_C(1) << 56)

// The first byte of a tensor and the one after its last.
struct bytes {
  uintptr_t start, end;
};

static uint64_t word_at(const void *address) {
  uint64_t word;
  memcpy(&word, address, sizeof word);
  return word;
}

static bool is_of_type(const struct dl_tensor *tensor, const struct hirc_value_info *value) {
  // The rank and the type of an element, which lie side by side in both.
  return word_at(&tensor->rank) == word_at(&value->rank);
}

static bool begins_nearby(const struct dl_tensor *tensor) {
  return tensor->data && tensor->byte_offset < (uint64_t)MOST_BYTES;
}

static bool is_right_scalar(const struct dl_tensor *tensor, const struct hirc_value_info *value,
                            struct bytes *bytes) {
  bytes->start = (uintptr_t)tensor->data + tensor->byte_offset;
  bytes->end = bytes->start + (uintptr_t)value->element_bytes;
  return is_of_type(tensor, value) && tensor->device.type == DL_CPU && begins_nearby(tensor);
}

// Where a tensor's last elements lie, in elements from its first: before it and after it.
struct reach {
  int64_t low, high;
};

// Whether the sizes and strides are right, and there is an element. An output's are where each dim
// strides over what the dims after it span, so that no two elements lie in one place.
static bool has_right_extents(const struct dl_tensor *tensor, const struct hirc_value_info *value,
                              bool is_output, struct reach *reach) {
  int64_t packed = 1, most = MOST_BYTES / value->element_bytes, low = 0, high = 0;
  for (int axis = value->rank - 1; axis >= 0; --axis) {
    int64_t size = tensor->sizes[axis], wanted = value->sizes[axis];
    if (size < 1 || (size != wanted && wanted != HIRC_OPEN))
      return false;
    int64_t stride = tensor->strides ? tensor->strides[axis] : packed;
    int64_t expected = value->strides ? value->strides[axis] : packed;
    if (size > 1) {
      int64_t last;
      if (is_output ? stride <= high : stride != expected && expected != HIRC_OPEN)
        return false;
      if (__builtin_mul_overflow(size - 1, stride, &last) || last > most || last < -most)
        return false;
      low += last < 0 ? last : 0;
      high += last > 0 ? last : 0;
    }
    if (__builtin_mul_overflow(packed, size, &packed) || packed > most)
      return false;
  }
  *reach = (struct reach){low, high};
  return true;
}

static bool is_right_buffer(const struct dl_tensor *tensor, const struct hirc_value_info *value,
                            uint64_t device, bool is_output, struct bytes *bytes) {
  struct reach reach;
  if (!is_of_type(tensor, value) || word_at(&tensor->device) != device || !begins_nearby(tensor) ||
      !has_right_extents(tensor, value, is_output, &reach))
    return false;
  uintptr_t first = (uintptr_t)tensor->data + tensor->byte_offset;
  bytes->start = first + (uintptr_t)(reach.low * value->element_bytes);
  bytes->end = first + (uintptr_t)((reach.high + 1) * value->element_bytes);
  return (first & (uintptr_t)(value->alignment - 1)) == 0;
}

// Whether open sizes of one name are equal.
static bool names_agree(const struct hirc_value_info *value, const struct dl_tensor *tensor,
                        const struct dl_tensor *const *inputs) {
  for (int axis = 0; value->firsts && axis < value->rank; ++axis) {
    struct hirc_size_place first = value->firsts[axis];
    if (first.axis >= 0 && inputs[first.input]->sizes[first.axis] != tensor->sizes[axis])
      return false;
  }
  return true;
}

// What the tensors are that were seen so far.
struct sight {
  const struct hirc_program_info *program;
  const struct dl_tensor *const *inputs;
  struct dl_tensor *const *outputs;
  uint64_t device;
  int written_count, read_count;
  struct bytes written[MOST_COMPARED], read[MOST_COMPARED];
};

static bool is_right(struct sight *sight, const struct hirc_value_info *value,
                     const struct dl_tensor *tensor, bool is_output) {
  struct bytes bytes;
  if (value->is_scalar) {
    if (!is_right_scalar(tensor, value, &bytes))
      return false;
  } else if (!is_right_buffer(tensor, value, sight->device, is_output, &bytes) ||
             !names_agree(value, tensor, sight->inputs))
    return false;
  bool is_written = is_output || value->origin == HIRC_INPUT;
  int *count = is_written ? &sight->written_count : &sight->read_count;
  if (*count < MOST_COMPARED)
    (is_written ? sight->written : sight->read)[*count] = bytes;
  ++*count;
  return true;
}

// Whether memory that the program writes to is also another tensor's.
static bool shares_bytes(const struct sight *sight) {
  if (sight->written_count > MOST_COMPARED || sight->read_count > MOST_COMPARED)
    return hirc_outputs_overlap(sight->program, sight->inputs, sight->outputs);
  bool found = false;
  for (int i = 0; i < sight->written_count; ++i) {
    struct bytes mine = sight->written[i];
    for (int j = 0; j < sight->read_count; ++j)
      found |= mine.start < sight->read[j].end && sight->read[j].start < mine.end;
    for (int j = 0; j < i; ++j)
      found |= mine.start < sight->written[j].end && sight->written[j].start < mine.end;
  }
  return found;
}

// Whether everything is right at first sight.
static bool are_right(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                      uint64_t device) {
  struct sight sight;
  sight.program = program, sight.inputs = inputs, sight.outputs = outputs, sight.device = device;
  sight.written_count = sight.read_count = 0;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (!is_right(&sight, &program->inputs[i], inputs[i], false))
      return false;
  for (int64_t i = 0; i < program->output_count; ++i) {
    const struct hirc_value_info *value = &program->outputs[i];
    if (!value->is_scalar && !outputs[i]->data)
      continue;
    if (!value->is_scalar && value->origin != HIRC_ALLOCATED)
      return false;
    if (!is_right(&sight, value, outputs[i], true))
      return false;
  }
  return !shares_bytes(&sight);
}

// Whether the program must not run on a call's tensors: then there is a message. `device` is that
// of memory which the program allocates, as a DLTensor's eight bytes.
int hirc_call_refused(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                      uint64_t device) {
  return !are_right(program, inputs, outputs, device) &&
         hirc_input_error(program, inputs, outputs);
}
