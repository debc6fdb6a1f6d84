// Tensors of a command: from the host's memory to the device and back.

#include "amd_device.h"
#include "check.h"
#include "command.h"

#include <stdlib.h>
#include <string.h>

// The strides a program takes its input with: its type's, packed rows where that leaves them open.
static int64_t *strides_for(const struct hirc_value_info *value, const struct hirc_array *array) {
  int64_t *strides = hirc_command_memory(array->rank, sizeof *strides), packed = 1;
  for (int64_t axis = array->rank - 1; axis >= 0; --axis) {
    bool is_fixed = value->strides && array->rank == value->rank &&
                    value->strides[axis] != HIRC_OPEN;
    strides[axis] = is_fixed ? value->strides[axis] : packed;
    packed *= array->sizes[axis];
  }
  return strides;
}

static int64_t *packed_strides(const struct hirc_array *array) {
  int64_t *strides = hirc_command_memory(array->rank, sizeof *strides), packed = 1;
  for (int64_t axis = array->rank - 1; axis >= 0; --axis) {
    strides[axis] = packed;
    packed *= array->sizes[axis];
  }
  return strides;
}

// A tensor of the array in the host's memory, of the element type that the program takes.
struct dl_tensor hirc_tensor_of(const struct hirc_value_info *value,
                                const struct hirc_array *array) {
  struct dl_tensor tensor = {
      .data = array->data,
      .device = {DL_CPU, 0},
      .rank = (int32_t)array->rank,
      .sizes = array->sizes,
      .strides = strides_for(value, array),
  };
  memcpy(&tensor.type, &value->dtype, sizeof tensor.type);
  return tensor;
}

// The first and the last element of a tensor, counted in elements from where its indices are 0.
static void span_of(const struct dl_tensor *tensor, int64_t *low, int64_t *high) {
  *low = *high = 0;
  for (int32_t axis = 0; axis < tensor->rank; ++axis) {
    int64_t reach = (tensor->sizes[axis] - 1) * tensor->strides[axis];
    *low += reach < 0 ? reach : 0;
    *high += reach > 0 ? reach : 0;
  }
}

// Gives a buffer's tensor memory of the device with the array's values. A scalar stays as it is.
void hirc_upload(const struct hirc_value_info *value, const struct hirc_array *array,
                 struct dl_tensor *tensor, void *stream) {
  int64_t low, high, bytes = value->element_bytes, count = hirc_count_of(array);
  if (value->is_scalar)
    return;
  tensor->device = (struct dl_device){gpu_kind(), (int32_t)(hirc_accepted_devices() >> 32)};
  tensor->data = NULL;
  if (count == 0)
    return;
  span_of(tensor, &low, &high);
  check(cudaMallocAsync(&tensor->data, (size_t)((high - low + 1) * bytes), stream),
        "cudaMallocAsync", NULL);
  tensor->byte_offset = (uint64_t)(-low * bytes);
  int64_t *packed = packed_strides(array);
  hirc_memcpy_strided((char *)tensor->data + tensor->byte_offset, array->data, array->rank,
                      array->sizes, tensor->strides, packed, bytes, stream, 0, NULL);
  free(packed);
}

// An output that the program is to fill in.
struct dl_tensor hirc_empty_output(const struct hirc_value_info *value) {
  struct dl_tensor tensor = {
      .device = {DL_CPU, 0},
      .rank = value->rank,
      .sizes = hirc_command_memory(value->rank, sizeof(int64_t)),
      .strides = hirc_command_memory(value->rank, sizeof(int64_t)),
  };
  memcpy(&tensor.type, &value->dtype, sizeof tensor.type);
  if (value->is_scalar)
    tensor.data = hirc_command_memory(1, 16);
  return tensor;
}

// A tensor's values, in the host's memory. Waits for the stream.
struct hirc_array hirc_download(const struct hirc_value_info *value,
                                const struct dl_tensor *tensor, void *stream) {
  struct hirc_array array = {.rank = tensor->rank};
  int64_t bytes = value->element_bytes;
  array.sizes = hirc_command_memory(array.rank, sizeof(int64_t));
  for (int64_t axis = 0; axis < array.rank; ++axis)
    array.sizes[axis] = tensor->sizes[axis];
  int64_t count = hirc_count_of(&array);
  array.data = hirc_command_memory(count, bytes);
  char *first = (char *)tensor->data + tensor->byte_offset;
  if (value->is_scalar) {
    memcpy(array.data, first, (size_t)bytes);
  } else if (count > 0) {
    int64_t *packed = packed_strides(&array);
    hirc_memcpy_strided(array.data, first, array.rank, array.sizes, packed, tensor->strides, bytes,
                        stream, 0, NULL);
    free(packed);
  }
  return array;
}

static bool is_other(const void *data, struct dl_tensor *const *tensors, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (tensors[i]->data == data)
      return false;
  return true;
}

// Frees what the program allocated for its outputs, and makes them ready to be filled in again.
void hirc_free_outputs(const struct hirc_program_info *program, struct dl_tensor *const *inputs,
                       struct dl_tensor *const *outputs, void *stream) {
  for (int64_t i = 0; i < program->output_count; ++i) {
    void *data = outputs[i]->data;
    if (program->outputs[i].is_scalar || !data)
      continue;
    if (is_other(data, inputs, program->input_count) &&
        is_other(data, outputs + i + 1, program->output_count - i - 1))
      hirc_command_require(hirc_output_free(data, stream));
  }
  for (int64_t i = 0; i < program->output_count; ++i)
    if (!program->outputs[i].is_scalar) {
      outputs[i]->data = NULL;
      outputs[i]->byte_offset = 0;
    }
}

// Frees the memory that the inputs were put into.
void hirc_free_inputs(const struct hirc_program_info *program, struct dl_tensor *const *inputs,
                      void *stream) {
  for (int64_t i = 0; i < program->input_count; ++i)
    if (!program->inputs[i].is_scalar && inputs[i]->data)
      check(cudaFreeAsync(inputs[i]->data, stream), "cudaFreeAsync", NULL);
}
