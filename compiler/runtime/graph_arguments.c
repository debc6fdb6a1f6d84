// The arguments of calls that device graphs do. Free of CUDA.
//
// A program that computes its steps of its arguments alone computes the same ones of the same
// arguments: a call with those of the last one needs neither its checks nor its host code. All of a
// tensor is compared but what lies in it; a scalar's value, where the program reads it. Weights and
// state lie where they did as long as none was given back, and the thread uses the same instance.

#include "graph_arguments.h"
#include "grow.h"

// Returns false where there is no memory.
static bool keep_tensor(struct kept_arguments *kept, const struct dl_tensor *tensor,
                        const struct hirc_value_info *value) {
  size_t scalar_bytes = value->is_scalar ? (size_t)value->element_bytes : 0;
  size_t rank = (size_t)tensor->rank;
  if (scalar_bytes > sizeof(uint64_t) ||
      !grow((void **)&kept->numbers, &kept->room, kept->count + TENSOR_NUMBERS + 2 * rank,
            sizeof *kept->numbers))
    return false;
  uint64_t *numbers = kept->numbers + kept->count, *axes = numbers + TENSOR_NUMBERS;
  read_layout(tensor, numbers, scalar_bytes);
  numbers[DATA] = scalar_bytes ? scalar_of(tensor, scalar_bytes) : (uintptr_t)tensor->data;
  numbers[OFFSET] = tensor->byte_offset;
  for (size_t i = 0; i < rank; ++i)
    *axes++ = (uint64_t)tensor->sizes[i];
  for (size_t i = 0; tensor->strides && i < rank; ++i)
    *axes++ = (uint64_t)tensor->strides[i];
  kept->count = (size_t)(axes - kept->numbers);
  return true;
}

void hirc_arguments_keep(struct kept_arguments *kept, const struct hirc_program_info *program,
                         const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs) {
  bool is_kept = program->repeats;
  kept->count = 0;
  for (int64_t i = 0; is_kept && i < program->output_count; ++i)
    is_kept = outputs[i]->data && keep_tensor(kept, outputs[i], &program->outputs[i]);
  for (int64_t i = 0; is_kept && i < program->input_count; ++i)
    is_kept = keep_tensor(kept, inputs[i], &program->inputs[i]);
  if (!is_kept)
    kept->count = 0;
  kept->memory = hirc_kept_memory_version();
  kept->has_state = program->weights && program->weights->state_count > 0;
  kept->instance = kept->has_state ? hirc_state_instance_1 : NULL;
}
