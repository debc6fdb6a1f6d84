// What is wrong with a program's tensors, in words.
//
// The rules stand here; what breaks one leaves a message for hirc_last_error. Calls that are right
// at first sight (call_checks.c) are not compared with them.

#include "amd_device.h"
#include "check.h"
#include "failure.h"
#include "program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A tensor, what it should be, and whose it is.
struct subject {
  const struct hirc_program_info *program;
  const struct hirc_value_info *value;
  const struct dl_tensor *tensor;
  const char *role; // "input" or "output"
};

// Writes "input 'x' of main: ..." and returns true.
__attribute__((format(printf, 2, 3))) static bool say(const struct subject *subject,
                                                      const char *format, ...) {
  char text[HIRC_ERROR_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  hirc_error_say("%s '%s' of %s: %s", subject->role, subject->value->name, subject->program->name,
                 text);
  return true;
}

static struct dl_data_type declared_type(const struct hirc_value_info *value) {
  struct dl_data_type type;
  memcpy(&type, &value->dtype, sizeof type);
  return type;
}

// "f32" and the like; type codes with no such name by their numbers.
static const char *type_text(struct dl_data_type type, char *text, size_t bytes) {
  static const char *const names[] = {
      [DL_INT] = "i",           [DL_UINT] = "ui",
      [DL_FLOAT] = "f",         [DL_BFLOAT] = "bf",
      [DL_COMPLEX] = "complex", [DL_FLOAT8_E3M4] = "f8E3M4",
      [DL_FLOAT8_E4M3] = "f8E4M3", [DL_FLOAT8_E4M3B11FNUZ] = "f8E4M3B11FNUZ",
      [DL_FLOAT8_E4M3FN] = "f8E4M3FN", [DL_FLOAT8_E4M3FNUZ] = "f8E4M3FNUZ",
      [DL_FLOAT8_E5M2] = "f8E5M2", [DL_FLOAT8_E5M2FNUZ] = "f8E5M2FNUZ",
      [DL_FLOAT8_E8M0FNU] = "f8E8M0FNU"};
  const char *name = type.code < sizeof names / sizeof *names ? names[type.code] : NULL;
  if (type.code == DL_BOOL && type.bits == 8 && type.lanes == 1)
    snprintf(text, bytes, "i1");
  else if (type.code == DL_COMPLEX && type.lanes == 1)
    snprintf(text, bytes, "complex<f%d>", type.bits / 2);
  else if (name && type.lanes == 1 && type.code >= DL_FLOAT8_E3M4)
    snprintf(text, bytes, "%s", name);
  else if (name && type.lanes == 1)
    snprintf(text, bytes, "%s%d", name, type.bits);
  else
    snprintf(text, bytes, "of DLPack's type code %d with %d bits and %d lanes", type.code,
             type.bits, type.lanes);
  return text;
}

static const char *device_text(struct dl_device device, char *text, size_t bytes) {
  if (device.type == DL_CPU)
    snprintf(text, bytes, "the CPU");
  else if (is_gpu(device.type))
    snprintf(text, bytes, "%s device %d", device.type == DL_CUDA ? "CUDA" : "ROCm", device.number);
  else
    snprintf(text, bytes, "a device of DLPack's kind %d", device.type);
  return text;
}

static bool wrong_type(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  struct dl_data_type wanted = declared_type(subject->value);
  if (memcmp(&tensor->type, &wanted, sizeof wanted) == 0)
    return false;
  char text[80];
  return say(subject, "its elements are %s, the program takes %s (%s)",
             type_text(tensor->type, text, sizeof text), subject->value->element,
             subject->value->type);
}

static bool wrong_rank(const struct subject *subject) {
  int wanted = subject->value->rank, found = subject->tensor->rank;
  if (found == wanted)
    return false;
  return say(subject, "it has %d dim%s, the program takes %d (%s)", found, found == 1 ? "" : "s",
             wanted, subject->value->type);
}

static const char *size_name(const struct hirc_value_info *value, int axis) {
  return value->names && value->names[axis] ? value->names[axis] : "";
}

// Whether the size of an input gives the name of this one its value; it is then one of `found`.
static bool find_named(const struct subject *subject, int axis,
                       const struct dl_tensor *const *inputs, struct subject *found,
                       int *found_axis) {
  const struct hirc_program_info *program = subject->program;
  if (!subject->value->firsts || subject->value->firsts[axis].axis < 0)
    return false;
  int64_t place = subject->value->firsts[axis].input;
  *found_axis = (int)subject->value->firsts[axis].axis;
  *found = (struct subject){program, &program->inputs[place], inputs[place], "input"};
  return true;
}

static bool wrong_size(const struct subject *subject, const struct dl_tensor *const *inputs) {
  const struct hirc_value_info *value = subject->value;
  for (int axis = 0; axis < value->rank; ++axis) {
    int64_t size = subject->tensor->sizes[axis], wanted = value->sizes[axis];
    struct subject other;
    int other_axis;
    if (wanted != HIRC_OPEN && size != wanted)
      return say(subject, "size %d is %" PRId64 ", the program takes %" PRId64 " (%s)", axis, size,
                 wanted, value->type);
    if (size < 0)
      return say(subject, "size %d is %" PRId64, axis, size);
    if (find_named(subject, axis, inputs, &other, &other_axis) &&
        other.tensor->rank == other.value->rank && other.tensor->sizes[other_axis] != size)
      return say(subject,
                 "size %d is %" PRId64 ", and '%s' is %" PRId64 " by size %d of %s '%s' (%s)", axis,
                 size, size_name(value, axis), other.tensor->sizes[other_axis], other_axis,
                 other.role, other.value->name, value->type);
  }
  return false;
}

static bool is_empty(const struct dl_tensor *tensor) {
  for (int axis = 0; axis < tensor->rank; ++axis)
    if (tensor->sizes[axis] == 0)
      return true;
  return false;
}

// The stride of packed rows.
static int64_t packed_stride(const struct dl_tensor *tensor, int axis) {
  int64_t stride = 1;
  for (int inner = axis + 1; inner < tensor->rank; ++inner)
    stride *= tensor->sizes[inner];
  return stride;
}

// Whether the sizes make more elements than can be counted in bytes; there may be none.
static bool wrong_count(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  int64_t bytes = subject->value->element_bytes;
  if (is_empty(tensor))
    return false;
  for (int axis = 0; axis < tensor->rank; ++axis)
    if (__builtin_mul_overflow(bytes, tensor->sizes[axis], &bytes))
      return say(subject, "its sizes make more than 2^63 bytes, which no memory has");
  return false;
}

static int64_t stride_of(const struct dl_tensor *tensor, int axis) {
  return tensor->strides ? tensor->strides[axis] : packed_stride(tensor, axis);
}

static bool wrong_stride(const struct subject *subject) {
  const struct hirc_value_info *value = subject->value;
  const struct dl_tensor *tensor = subject->tensor;
  if (is_empty(tensor))
    return false;
  for (int axis = 0; axis < value->rank; ++axis) {
    int64_t stride = stride_of(tensor, axis);
    int64_t wanted = value->strides ? value->strides[axis] : packed_stride(tensor, axis);
    if (wanted != HIRC_OPEN && stride != wanted && tensor->sizes[axis] != 1)
      return say(subject,
                 "stride %d is %" PRId64 " elements, the program takes %" PRId64
                 "%s: copy it into a tensor of that layout",
                 axis, stride, wanted, value->strides ? "" : " (packed rows)");
  }
  return false;
}

// Whether a dim goes further than memory does. The tensor is not packed rows by its type.
static bool wrong_reach(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  int64_t most = HIRC_MOST_SPANNED / subject->value->element_bytes;
  for (int axis = 0; axis < tensor->rank && !is_empty(tensor); ++axis) {
    int64_t size = tensor->sizes[axis], stride = stride_of(tensor, axis), reach;
    if (__builtin_mul_overflow(size - 1, stride, &reach) || reach < -most || reach >= most)
      return say(subject,
                 "size %d is %" PRId64 " and its stride %" PRId64
                 " elements, which is more than 2^56 bytes and than any memory has",
                 axis, size, stride);
  }
  return false;
}

static bool repeats(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  for (int axis = 0; axis < tensor->rank && !is_empty(tensor); ++axis)
    if (tensor->sizes[axis] > 1 && stride_of(tensor, axis) == 0)
      return say(subject, "dim %d has stride 0: its elements share memory, and cannot be written",
                 axis);
  if (!hirc_elements_repeat(tensor))
    return false;
  return say(subject, "its strides are too small for its sizes: elements share memory, and cannot "
                      "be written");
}

// Whether the first element's address would wrap around.
static bool begins_too_far(const struct subject *subject) {
  uint64_t offset = subject->tensor->byte_offset;
  return offset >= HIRC_MOST_SPANNED &&
         say(subject, "its byte_offset is %" PRIu64 ", which is more than any memory has", offset);
}

static bool wrong_memory(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  int64_t alignment = subject->value->alignment;
  if (is_empty(tensor))
    return false;
  if (!tensor->data)
    return say(subject, "it has no memory (its data is NULL)");
  if (begins_too_far(subject))
    return true;
  if (hirc_first_element(tensor) & (uintptr_t)(alignment - 1))
    return say(subject, "its first element is at %p, the program takes multiples of %" PRId64,
               (void *)hirc_first_element(tensor), alignment);
  return false;
}

static bool is_kind_accepted(struct dl_device device, uint64_t accepted) {
  return device.type >= 0 && device.type < 32 && accepted >> device.type & 1;
}

static bool is_accepted(struct dl_device device, uint64_t accepted) {
  return is_kind_accepted(device, accepted) &&
         (!is_gpu(device.type) || device.number == (int)(accepted >> 32));
}

static bool wrong_device(const struct subject *subject) {
  struct dl_device device = subject->tensor->device;
  uint64_t accepted = hirc_accepted_devices();
  if (is_accepted(device, accepted))
    return false;
  int current = (int)(accepted >> 32);
  char text[80];
  const char *maker = on_amd_device() ? "ROCm" : "CUDA";
  device_text(device, text, sizeof text);
  if (!is_kind_accepted(device, accepted))
    return say(subject, "it is on %s, the program runs on %s device %d: move it there", text, maker,
               current);
  return say(subject,
             "it is on %s, the program runs on %s device %d, which is the current one: a call has "
             "all its tensors on one device, and that is to be current",
             text, maker, current);
}

static bool wrong_scalar(const struct subject *subject) {
  const struct dl_tensor *tensor = subject->tensor;
  if (wrong_rank(subject) || wrong_type(subject))
    return true;
  if (tensor->device.type != DL_CPU && tensor->device.type != DL_CUDA_HOST &&
      tensor->device.type != DL_ROCM_HOST)
    return say(subject, "a scalar is passed in the host's memory, and it is on device kind %d",
               tensor->device.type);
  if (!tensor->data)
    return say(subject, "a scalar needs %d bytes of the host's memory, and its data is NULL",
               subject->value->element_bytes);
  return begins_too_far(subject);
}

static bool wrong_extents(const struct subject *subject, const struct dl_tensor *const *inputs) {
  return wrong_rank(subject) || wrong_type(subject) || wrong_size(subject, inputs) ||
         wrong_count(subject);
}

static bool wrong_input(const struct subject *subject, const struct dl_tensor *const *inputs) {
  if (subject->value->is_scalar)
    return wrong_scalar(subject);
  return wrong_extents(subject, inputs) || wrong_stride(subject) ||
         (subject->value->strides && wrong_reach(subject)) || wrong_memory(subject) ||
         wrong_device(subject);
}

// Finds the bytes of a tensor; returns false where it has none.
bool hirc_tensor_span(const struct dl_tensor *tensor, int element_bytes, struct hirc_span *span) {
  int64_t low = 0, high = 1;
  if (!tensor->data || is_empty(tensor))
    return false;
  for (int axis = 0; axis < tensor->rank; ++axis) {
    int64_t reach = (tensor->sizes[axis] - 1) * stride_of(tensor, axis);
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  uintptr_t first = hirc_first_element(tensor);
  span->start = first + (uintptr_t)(low * element_bytes);
  span->end = first + (uintptr_t)(high * element_bytes);
  return true;
}

// The bytes of a tensor.
struct placed {
  struct hirc_span span;
  bool is_output;
};

static int compare_starts(const void *left, const void *right) {
  uintptr_t one = ((const struct placed *)left)->span.start;
  uintptr_t other = ((const struct placed *)right)->span.start;
  return (one > other) - (one < other);
}

// Whether an output goes to memory that the caller may choose.
static bool is_placed(const struct hirc_value_info *output) {
  return output->is_scalar || output->origin == HIRC_ALLOCATED;
}

// Whether the caller has memory for an output, or an input is written to.
static bool takes_outputs(const struct hirc_program_info *program,
                          struct dl_tensor *const *outputs) {
  for (int64_t i = 0; i < program->input_count; ++i)
    if (program->inputs[i].origin == HIRC_INPUT)
      return true;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (is_placed(&program->outputs[i]) && outputs[i]->data)
      return true;
  return false;
}

// Whether memory that the program writes to is also another tensor's.
bool hirc_outputs_overlap(const struct hirc_program_info *program,
                         const struct dl_tensor *const *inputs,
                         struct dl_tensor *const *outputs) {
  if (!takes_outputs(program, outputs))
    return false;
  size_t count = 0, most = (size_t)(program->input_count + program->output_count);
  struct placed *placed = malloc(most * sizeof *placed);
  if (!placed)
    hirc_refuse("no memory is left on the host to compare tensors", 0, 0, NULL);
  for (int64_t i = 0; i < program->output_count; ++i)
    if (is_placed(&program->outputs[i]) &&
        hirc_tensor_span(outputs[i], program->outputs[i].element_bytes, &placed[count].span))
      placed[count++].is_output = true;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (hirc_tensor_span(inputs[i], program->inputs[i].element_bytes, &placed[count].span))
      placed[count++].is_output = program->inputs[i].origin == HIRC_INPUT;
  qsort(placed, count, sizeof *placed, compare_starts);
  uintptr_t end = 0, output_end = 0;
  bool found = false;
  for (size_t i = 0; i < count && !found; ++i) {
    found = placed[i].span.start < (placed[i].is_output ? end : output_end);
    end = placed[i].span.end > end ? placed[i].span.end : end;
    if (placed[i].is_output && placed[i].span.end > output_end)
      output_end = placed[i].span.end;
  }
  free(placed);
  return found;
}

static bool overlaps(const struct subject *subject, const struct subject *other) {
  struct hirc_span mine, theirs;
  if (!hirc_tensor_span(subject->tensor, subject->value->element_bytes, &mine) ||
      !hirc_tensor_span(other->tensor, other->value->element_bytes, &theirs) ||
      !hirc_spans_meet(mine, theirs))
    return false;
  return say(subject, "its memory overlaps that of %s '%s': %s needs its own", other->role,
             other->value->name,
             subject->role[0] == 'o' ? "an output" : "an input that is written to");
}

// Whether a tensor has bytes of some that lie at `start`.
static bool lies_in(const struct subject *subject, const char *start, int64_t bytes) {
  struct hirc_span mine, place = {(uintptr_t)start, (uintptr_t)start + (uintptr_t)bytes};
  return hirc_tensor_span(subject->tensor, subject->value->element_bytes, &mine) &&
         hirc_spans_meet(mine, place);
}

static bool lies_in_state(const struct subject *subject, const struct hirc_state_info *state,
                          const char *memory) {
  return lies_in(subject, memory + state->offset, state->bytes) &&
         say(subject, "its memory overlaps that of state '%s', which the program keeps there: pass "
                      "%s",
             state->name, subject->role[0] == 'o' ? "other memory" : "a copy");
}

// Whether a tensor lies in one of the states that the program has, or one that is written to in its
// weights: then there is a message. Either may be NULL. All tensors are right by themselves.
int hirc_kept_is_shared(const struct hirc_program_info *program,
                        const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                        const char *weights, const char *state, const int64_t *used,
                        int64_t count) {
  for (int64_t i = 0; i < program->input_count + program->output_count; ++i) {
    bool is_input = i < program->input_count;
    int64_t place = is_input ? i : i - program->input_count;
    struct subject subject = {program, is_input ? &program->inputs[place] : &program->outputs[place],
                              is_input ? inputs[place] : outputs[place],
                              is_input ? "input" : "output"};
    bool is_written = is_input ? subject.value->origin == HIRC_INPUT : is_placed(subject.value);
    bool is_near = state && (is_input || is_written) &&
                   lies_in(&subject, state, program->weights->state_bytes);
    for (int64_t j = 0; is_near && j < count; ++j)
      if (lies_in_state(&subject, &program->weights->states[used[j]], state))
        return 1;
    if (weights && is_written && lies_in(&subject, weights, program->weights->bytes))
      return say(&subject, "its memory overlaps that of the program's weights: pass other memory");
  }
  return 0;
}

// Whether an input that the program writes to is also another one.
static bool is_shared(const struct subject *subject, const struct dl_tensor *const *inputs) {
  const struct hirc_program_info *program = subject->program;
  for (int64_t i = 0; i < program->input_count; ++i) {
    struct subject other = {program, &program->inputs[i], inputs[i], "input"};
    if (other.value != subject->value && overlaps(subject, &other))
      return true;
  }
  return false;
}

// Whether an output is also an input, or one of the outputs before it.
static bool is_elsewhere(const struct subject *subject, const struct dl_tensor *const *inputs,
                         struct dl_tensor *const *outputs, int64_t place) {
  const struct hirc_program_info *program = subject->program;
  for (int64_t i = 0; i < program->input_count; ++i) {
    struct subject other = {program, &program->inputs[i], inputs[i], "input"};
    if (overlaps(subject, &other))
      return true;
  }
  for (int64_t i = 0; i < place; ++i) {
    struct subject other = {program, &program->outputs[i], outputs[i], "output"};
    if (is_placed(other.value) && overlaps(subject, &other))
      return true;
  }
  return false;
}

// Whether an output is wrong by itself.
static bool wrong_output(const struct subject *subject, const struct dl_tensor *const *inputs) {
  const struct hirc_program_info *program = subject->program;
  if (subject->value->is_scalar)
    return wrong_scalar(subject);
  if (!subject->tensor->data)
    return false;
  if (subject->value->origin == HIRC_VIEW)
    return say(subject, "no memory can be handed in for it: the program gives a part of other "
                        "memory, or its own");
  if (wrong_extents(subject, inputs) || wrong_reach(subject) || repeats(subject) ||
      wrong_memory(subject) || wrong_device(subject))
    return true;
  if (subject->value->origin != HIRC_INPUT)
    return false;
  const struct dl_tensor *input = inputs[subject->value->origin_input];
  return hirc_first_element(subject->tensor) != hirc_first_element(input) &&
         say(subject, "it is input '%s' itself, and other memory was handed in",
             program->inputs[subject->value->origin_input].name);
}

// Finds the first tensor that is not what the program takes, if there is one, and keeps the
// message.
__attribute__((noinline)) int hirc_input_error(const struct hirc_program_info *program,
                                               const struct dl_tensor *const *inputs,
                                               struct dl_tensor *const *outputs) {
  for (int64_t i = 0; i < program->input_count; ++i) {
    struct subject subject = {program, &program->inputs[i], inputs[i], "input"};
    if (wrong_input(&subject, inputs))
      return 1;
  }
  for (int64_t i = 0; i < program->output_count; ++i) {
    struct subject subject = {program, &program->outputs[i], outputs[i], "output"};
    if (wrong_output(&subject, inputs))
      return 1;
  }
  if (!hirc_outputs_overlap(program, inputs, outputs))
    return 0;
  for (int64_t i = 0; i < program->output_count; ++i) {
    struct subject subject = {program, &program->outputs[i], outputs[i], "output"};
    if (is_placed(subject.value) && is_elsewhere(&subject, inputs, outputs, i))
      return 1;
  }
  for (int64_t i = 0; i < program->input_count; ++i) {
    struct subject subject = {program, &program->inputs[i], inputs[i], "input"};
    if (subject.value->origin == HIRC_INPUT && is_shared(&subject, inputs))
      return 1;
  }
  return 0;
}

// The same of types and sizes alone: of tensors that are not on the device yet. Returns whether
// there is a message.
int hirc_extents_error(const struct hirc_program_info *program,
                       const struct dl_tensor *const *inputs) {
  for (int64_t i = 0; i < program->input_count; ++i) {
    struct subject subject = {program, &program->inputs[i], inputs[i], "input"};
    if (wrong_extents(&subject, inputs))
      return 1;
  }
  return 0;
}
