// A call of a program with arguments that come one by one: of tvm-ffi's convention (ffi.c), or of
// Python (python_call.c).

#include "packed_call.h"
#include "check.h"
#include "amd_device.h"
#include "numbers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool hirc_packed_is_for_cpu(void) { return on_cpu_device(); }

// An address for tensors without elements, whose data may be NULL: an output without data is one
// that the program is to allocate.
static char nowhere[256] __attribute__((aligned(256)));

static int64_t count_of(const struct hirc_program_info *program) {
  return program->input_count + program->output_count;
}

const struct hirc_value_info *hirc_packed_value(const struct hirc_packed_call *call,
                                                int64_t place) {
  const struct hirc_program_info *program = call->program;
  return place < program->input_count ? &program->inputs[place]
                                      : &program->outputs[place - program->input_count];
}

// Prepares the tensor at `place`: an output for the program to fill in, or room for an input.
static int64_t *prepare(struct hirc_packed_call *call, int64_t place, int64_t *numbers) {
  const struct hirc_value_info *value = hirc_packed_value(call, place);
  struct dl_tensor *tensor = &call->tensors[place];
  if (place < call->program->input_count) {
    tensor->sizes = numbers;
    return numbers + 2 * value->rank;
  }
  *tensor = (struct dl_tensor){.device = {DL_CPU, 0}, .rank = value->rank};
  memcpy(&tensor->type, &value->dtype, sizeof tensor->type);
  if (value->is_scalar) {
    tensor->data = call->scalars[place];
  } else {
    tensor->sizes = numbers;
    tensor->strides = numbers + value->rank;
  }
  return numbers + 2 * value->rank;
}

bool hirc_packed_begin(struct hirc_packed_call *call, const struct hirc_program_info *program) {
  size_t count = (size_t)count_of(program), numbers = 0;
  call->program = program;
  call->memory = NULL;
  call->owners = NULL;
  call->has_run = false;
  for (size_t i = 0; i < count; ++i)
    numbers += 2 * (size_t)hirc_packed_value(call, (int64_t)i)->rank;
  size_t each = sizeof *call->scalars + sizeof *call->tensors + sizeof *call->pointers +
                sizeof *call->owners + sizeof *call->held + sizeof *call->is_theirs;
  size_t bytes = count * each + numbers * sizeof *call->numbers;
  char *room = call->few;
  if (bytes > sizeof call->few) {
    room = call->memory = malloc(bytes);
    if (!room) {
      hirc_error_say("no memory is left on the host for a call of %s", program->name);
      return false;
    }
  }
  call->scalars = (char(*)[16])room;
  call->tensors = (struct dl_tensor *)(call->scalars + count);
  call->pointers = (struct dl_tensor **)(call->tensors + count);
  call->owners = (struct hirc_owner **)(call->pointers + count);
  call->numbers = (int64_t *)(call->owners + count);
  call->held = (void **)(call->numbers + numbers);
  call->is_theirs = (bool *)(call->held + count);
  int64_t *next = call->numbers;
  for (size_t i = 0; i < count; ++i) {
    call->pointers[i] = &call->tensors[i];
    call->owners[i] = NULL;
    call->held[i] = NULL;
    call->is_theirs[i] = false;
    next = prepare(call, (int64_t)i, next);
  }
  return true;
}

int64_t *hirc_packed_numbers(const struct hirc_packed_call *call, int64_t place) {
  return call->tensors[place].sizes;
}

void hirc_packed_tensor(struct hirc_packed_call *call, int64_t place,
                        const struct dl_tensor *tensor) {
  struct dl_tensor *own = &call->tensors[place];
  *own = *tensor;
  call->is_theirs[place] = true;
  for (int32_t axis = 0; !own->data && axis < own->rank; ++axis)
    if (own->sizes && own->sizes[axis] == 0)
      own->data = nowhere;
}

// A size of an input by its name.
static bool find_size(const struct hirc_packed_call *call, const char *name, int64_t *size) {
  const struct hirc_program_info *program = call->program;
  for (int64_t i = 0; name && i < program->input_count; ++i) {
    const struct hirc_value_info *value = &program->inputs[i];
    const struct dl_tensor *tensor = &call->tensors[i];
    for (int32_t axis = 0; value->names && axis < value->rank; ++axis)
      if (value->names[axis] && strcmp(value->names[axis], name) == 0 &&
          tensor->rank == value->rank && tensor->sizes) {
        *size = tensor->sizes[axis];
        return *size >= 0;
      }
  }
  return false;
}

bool hirc_packed_prototype(struct hirc_packed_call *call, int64_t output,
                           struct dl_tensor *prototype) {
  const struct hirc_value_info *value = &call->program->outputs[output];
  struct dl_tensor *tensor = &call->tensors[call->program->input_count + output];
  uint64_t devices = on_cpu_device() ? 0 : hirc_library_devices();
  if (value->is_scalar || value->origin != HIRC_ALLOCATED || value->strides)
    return false;
  for (int32_t axis = 0; axis < value->rank; ++axis) {
    int64_t *size = &tensor->sizes[axis];
    *size = value->sizes[axis];
    if (*size == HIRC_OPEN && !find_size(call, value->names ? value->names[axis] : NULL, size))
      return false;
  }
  *prototype = *tensor;
  prototype->strides = NULL;
  prototype->device = devices ? (struct dl_device){gpu_kind(), (int32_t)(devices >> 32)}
                              : (struct dl_device){DL_CPU, 0};
  return true;
}

bool hirc_packed_allocated(struct hirc_packed_call *call, int64_t output,
                           const struct dl_tensor *tensor, void *held) {
  int64_t place = call->program->input_count + output;
  uintptr_t address = hirc_first_element(tensor);
  if (address % (uintptr_t)hirc_packed_value(call, place)->alignment != 0)
    return false;
  hirc_packed_tensor(call, place, tensor);
  call->held[place] = held;
  return true;
}

void *hirc_packed_taken(struct hirc_packed_call *call, int64_t output) {
  void **held = &call->held[call->program->input_count + output], *taken = *held;
  *held = NULL;
  return taken;
}

static bool fits(int64_t integer, uint8_t code, int bits) {
  if (code == DL_BOOL)
    return integer == 0 || integer == 1;
  if (code == DL_UINT)
    return integer >= 0 && (bits == 64 || integer >> bits == 0);
  return bits == 64 || (integer >= -(INT64_C(1) << (bits - 1)) &&
                        integer < INT64_C(1) << (bits - 1));
}

bool hirc_packed_number(struct hirc_packed_call *call, int64_t place,
                        struct hirc_host_number number) {
  const struct hirc_value_info *value = hirc_packed_value(call, place);
  struct dl_tensor *tensor = &call->tensors[place];
  *tensor = (struct dl_tensor){.data = call->scalars[place], .device = {DL_CPU, 0}};
  memcpy(&tensor->type, &value->dtype, sizeof tensor->type);
  uint8_t code = tensor->type.code, bits = tensor->type.bits;
  double real = number.is_integer ? (double)number.integer : number.real;
  float narrow = (float)real;
  uint16_t half;
  bool takes = value->is_scalar && place < call->program->input_count;
  bool fits_narrow = !__builtin_isinf(narrow) || __builtin_isinf(real);
  if (takes && code == DL_FLOAT && bits == 64)
    memcpy(tensor->data, &real, sizeof real);
  else if (takes && code == DL_FLOAT && bits == 32 && fits_narrow)
    memcpy(tensor->data, &narrow, sizeof narrow);
  else if (takes && (code == DL_FLOAT || code == DL_BFLOAT) && bits == 16 &&
           narrow_to_16_bits(real, code == DL_BFLOAT, &half))
    memcpy(tensor->data, &half, sizeof half);
  else if (takes && (code == DL_INT || code == DL_UINT || code == DL_BOOL) &&
           number.is_integer && fits(number.integer, code, bits))
    memcpy(tensor->data, &number.integer, (size_t)value->element_bytes);
  else {
    const char *role = place < call->program->input_count ? "input" : "output";
    if (number.is_integer)
      hirc_error_say("%s '%s' of %s takes %s, not the number %" PRId64, role, value->name,
                     call->program->name, value->type, number.integer);
    else
      hirc_error_say("%s '%s' of %s takes %s, not the number %g", role, value->name,
                     call->program->name, value->type, number.real);
    return false;
  }
  return true;
}

// Whether an output was handed in that has no memory: the program would allocate it, and the caller
// not get it.
static bool lacks_memory(const struct hirc_packed_call *call) {
  const struct hirc_program_info *program = call->program;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (call->is_theirs[program->input_count + i] &&
        !call->tensors[program->input_count + i].data) {
      hirc_error_say("output '%s' of %s: it has no memory (its data is NULL)",
                     program->outputs[i].name, program->name);
      return true;
    }
  return false;
}

int hirc_packed_run(struct hirc_packed_call *call, void *stream) {
  const struct hirc_program_info *program = call->program;
  if (lacks_memory(call))
    return HIRC_REFUSED;
  int status = program->run((const struct dl_tensor *const *)call->pointers,
                            call->pointers + program->input_count, stream);
  call->stream = stream;
  call->has_run = status == 0;
  if (status == HIRC_REFUSED || !on_cpu_device())
    return status;
  // Memory of the host is ready when the call returns, and nobody keeps it after a failure. The
  // message of that one stays.
  if (status == 0)
    return hirc_stream_finish(stream);
  cudaStreamSynchronize(stream);
  cudaGetLastError();
  return status;
}

struct hirc_host_number hirc_packed_result(const struct hirc_packed_call *call, int64_t output) {
  int64_t place = call->program->input_count + output;
  const struct hirc_value_info *value = hirc_packed_value(call, place);
  const char *from = (const char *)call->tensors[place].data + call->tensors[place].byte_offset;
  uint8_t code = call->tensors[place].type.code;
  struct hirc_host_number number = {.is_integer = code != DL_FLOAT && code != DL_BFLOAT};
  if (number.is_integer) {
    int unused = 64 - 8 * value->element_bytes;
    uint64_t bits = 0;
    memcpy(&bits, from, (size_t)value->element_bytes);
    number.integer = code == DL_INT ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
  } else if (value->element_bytes == 8) {
    memcpy(&number.real, from, sizeof number.real);
  } else if (value->element_bytes == 4) {
    float narrow;
    memcpy(&narrow, from, sizeof narrow);
    number.real = (double)narrow;
  } else {
    uint16_t half = 0;
    memcpy(&half, from, sizeof half);
    number.real = (double)(code == DL_BFLOAT ? float_of_bf16(half) : float_of_f16(half));
  }
  return number;
}

int64_t hirc_packed_shared(const struct hirc_packed_call *call, int64_t output) {
  const struct hirc_program_info *program = call->program;
  const void *data = call->tensors[program->input_count + output].data;
  if (program->outputs[output].origin == HIRC_INPUT)
    return program->outputs[output].origin_input;
  for (int64_t i = 0; i < program->input_count; ++i)
    if (data && !program->inputs[i].is_scalar && call->tensors[i].data == data)
      return i;
  return -1;
}

void *hirc_packed_manage(struct hirc_packed_call *call, int64_t output,
                         struct dl_managed_tensor *held, int is_versioned) {
  int64_t first = call->program->input_count, place = first + output;
  struct dl_tensor *tensor = &call->tensors[place];
  struct hirc_owner *owner = NULL;
  for (int64_t i = first; i < count_of(call->program) && !owner && !held; ++i)
    if (call->tensors[i].data == tensor->data)
      owner = call->owners[i];
  if (!owner)
    owner = call->owners[place] = hirc_output_own(tensor->data, call->stream, held);
  if (!owner && held)
    held->deleter(held);
  return owner ? hirc_output_manage(tensor, owner, is_versioned) : NULL;
}

// Whether an output has memory of its own that nobody was given, the first of those that share it.
static bool is_left(const struct hirc_packed_call *call, int64_t output) {
  const struct hirc_program_info *program = call->program;
  const struct dl_tensor *outputs = call->tensors + program->input_count;
  if (program->outputs[output].is_scalar || call->is_theirs[program->input_count + output] ||
      hirc_packed_shared(call, output) >= 0)
    return false;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (outputs[i].data == outputs[output].data &&
        (i < output || call->owners[program->input_count + i]))
      return false;
  return true;
}

void hirc_packed_end(struct hirc_packed_call *call) {
  const struct hirc_program_info *program = call->program;
  for (int64_t i = 0; call->owners && i < program->output_count; ++i)
    if (call->has_run && is_left(call, i))
      hirc_output_free(call->tensors[program->input_count + i].data, call->stream);
  for (int64_t i = 0; call->owners && i < count_of(program); ++i)
    if (call->owners[i])
      hirc_output_release(call->owners[i]);
  free(call->memory);
}
