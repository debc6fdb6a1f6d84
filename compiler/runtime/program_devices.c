// The devices a program takes tensors of.

#include "amd_device.h"
#include "check.h"
#include "cpu_device.h"
#include "program.h"
#include "world.h"

static uint64_t current_device(const char *location) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", location);
  return (uint64_t)(unsigned)device << 32;
}

// The device of memory that a program allocates, as a DLTensor's eight bytes: kind and number.
uint64_t hirc_memory_device(const char *location) {
  unsigned kind = on_cpu_device() ? DL_CPU : on_amd_device() ? DL_ROCM : DL_CUDA;
  return current_device(location) | kind;
}

// A bit for each kind of device in the low half, in the high half the number of the current device.
// The CPU device's memory is the host's, so a program for it takes any.
uint64_t hirc_accepted_devices(void) {
  uint64_t kinds = on_amd_device() ? 1u << DL_ROCM | 1u << DL_ROCM_HOST
                                   : 1u << DL_CUDA | 1u << DL_CUDA_HOST | 1u << DL_CUDA_MANAGED;
  if (on_cpu_device())
    kinds |= 1u << DL_CPU;
  return current_device(NULL) | kinds;
}

static int find_devices(void *devices, void *unused, void *stream) {
  (void)unused, (void)stream;
  *(uint64_t *)devices = hirc_accepted_devices();
  return 0;
}

// The same for callers from outside: 0, and a message, where CUDA does not say.
uint64_t hirc_library_devices(void) {
  uint64_t devices = 0;
  hirc_guard(find_devices, &devices, NULL, NULL);
  return devices;
}

static int finish(void *unused, void *other, void *stream) {
  (void)unused, (void)other;
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", NULL);
  if (hirc_communication_check)
    hirc_communication_check(NULL);
  return 0;
}

// Waits for everything in a stream. Returns 0, or there is a message.
int hirc_stream_finish(void *stream) { return hirc_guard(finish, NULL, NULL, stream); }

static void lend(const struct dl_tensor *tensor, const struct hirc_value_info *value) {
  struct hirc_span span;
  if (!value->is_scalar && hirc_tensor_span(tensor, value->element_bytes, &span))
    hirc_cpu_device_lend((const void *)span.start, span.end - span.start);
}

// Lets device code of the CPU device access a call's tensors, and no longer those of the last one.
void hirc_lend_tensors(const struct hirc_program_info *program,
                       const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs) {
  if (!hirc_cpu_device_lend)
    return;
  hirc_cpu_device_lend(NULL, 0);
  for (int64_t i = 0; i < program->input_count; ++i)
    lend(inputs[i], &program->inputs[i]);
  for (int64_t i = 0; i < program->output_count; ++i)
    lend(outputs[i], &program->outputs[i]);
}
