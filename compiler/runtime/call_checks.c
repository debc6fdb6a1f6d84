// Whether a call's tensors are what the program takes.
//
// What stands here sees it of nearly all calls, in a few nanoseconds a tensor. Where it is in
// doubt, input_errors.c decides, and says what is wrong.

#include "program.h"

#include <stdbool.h>
#include <string.h>

// The bytes of so many tensors are compared pair by pair.
enum { MOST_SPANS = 32 };

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
  return tensor->data && tensor->byte_offset < (uint64_t)HIRC_MOST_SPANNED;
}

static bool looks_right_scalar(const struct dl_tensor *tensor, const struct hirc_value_info *value,
                               struct hirc_span *span) {
  span->start = hirc_first_element(tensor);
  span->end = span->start + (uintptr_t)value->element_bytes;
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
  int64_t packed = 1, most = HIRC_MOST_SPANNED / value->element_bytes, low = 0, high = 0;
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
      if (__builtin_mul_overflow(size - 1, stride, &last) || last >= most || last < -most)
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

static bool looks_right_buffer(const struct dl_tensor *tensor, const struct hirc_value_info *value,
                               uint64_t device, bool is_output, struct hirc_span *span) {
  struct reach reach;
  if (!is_of_type(tensor, value) || word_at(&tensor->device) != device || !begins_nearby(tensor) ||
      !has_right_extents(tensor, value, is_output, &reach))
    return false;
  uintptr_t first = hirc_first_element(tensor);
  span->start = first + (uintptr_t)(reach.low * value->element_bytes);
  span->end = first + (uintptr_t)((reach.high + 1) * value->element_bytes);
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

// A call, and the bytes of the tensors seen so far.
struct seen {
  const struct hirc_program_info *program;
  const struct dl_tensor *const *inputs;
  struct dl_tensor *const *outputs;
  uint64_t device;
  int written_count, read_count;
  struct hirc_span written[MOST_SPANS], read[MOST_SPANS];
};

static bool looks_right(struct seen *seen, const struct hirc_value_info *value,
                        const struct dl_tensor *tensor, bool is_output) {
  struct hirc_span span;
  if (value->is_scalar) {
    if (!looks_right_scalar(tensor, value, &span))
      return false;
  } else if (!looks_right_buffer(tensor, value, seen->device, is_output, &span) ||
             !names_agree(value, tensor, seen->inputs))
    return false;
  bool is_written = is_output || value->origin == HIRC_INPUT;
  int *count = is_written ? &seen->written_count : &seen->read_count;
  if (*count < MOST_SPANS)
    (is_written ? seen->written : seen->read)[*count] = span;
  ++*count;
  return true;
}

// Whether memory that the program writes to is also another tensor's.
static bool shares_bytes(const struct seen *seen) {
  if (seen->written_count > MOST_SPANS || seen->read_count > MOST_SPANS)
    return hirc_outputs_overlap(seen->program, seen->inputs, seen->outputs);
  bool found = false;
  for (int i = 0; i < seen->written_count; ++i) {
    for (int j = 0; j < seen->read_count; ++j)
      found |= hirc_spans_meet(seen->written[i], seen->read[j]);
    for (int j = 0; j < i; ++j)
      found |= hirc_spans_meet(seen->written[i], seen->written[j]);
  }
  return found;
}

// Whether everything is right at first sight.
static bool all_look_right(const struct hirc_program_info *program,
                           const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                           uint64_t device) {
  // The spans are not worth zeroing.
  struct seen seen;
  seen.program = program;
  seen.inputs = inputs;
  seen.outputs = outputs;
  seen.device = device;
  seen.written_count = seen.read_count = 0;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (!looks_right(&seen, &program->inputs[i], inputs[i], false))
      return false;
  for (int64_t i = 0; i < program->output_count; ++i) {
    const struct hirc_value_info *value = &program->outputs[i];
    if (!value->is_scalar && !outputs[i]->data)
      continue;
    if (!value->is_scalar && value->origin != HIRC_ALLOCATED)
      return false;
    if (!looks_right(&seen, value, outputs[i], true))
      return false;
  }
  return !shares_bytes(&seen);
}

// Whether the program must not run on a call's tensors: then there is a message. `device` is that
// of memory which the program allocates, as a DLTensor's eight bytes.
int hirc_call_refused(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                      uint64_t device) {
  return !all_look_right(program, inputs, outputs, device) &&
         hirc_input_error(program, inputs, outputs);
}
