// The devices a program takes tensors of.

#include "check.h"
#include "program.h"

// Of the CPU device, in programs for it.
__attribute__((weak, visibility("hidden"))) void
hirc_cpu_device_program_ends(const char *location);

// A bit for each kind of device in the low half, in the high half the number of the current device.
// The CPU device's memory is the host's, so a program for it takes any.
uint64_t hirc_accepted_devices(void) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice", NULL);
  uint64_t kinds = 1u << DL_CUDA | 1u << DL_CUDA_HOST | 1u << DL_CUDA_MANAGED;
  if (hirc_cpu_device_program_ends)
    kinds |= 1u << DL_CPU;
  return (uint64_t)(unsigned)device << 32 | kinds;
}

// Waits for everything in a stream.
void hirc_stream_finish(void *stream) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", NULL);
}
