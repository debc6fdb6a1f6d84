// The end of a program. Free of CUDA: programs without a GPU op use it too, and a program whose
// entry has none may launch in another translation unit.

#include "program_end.h"
#include "cpu_device.h"
#include "hirc_runtime.h"

#include <stdio.h>

__attribute__((weak, visibility("hidden"))) wait_function *hirc_state_wait_at_end_1;
__attribute__((weak, visibility("hidden"))) wait_function *hirc_state_free_at_end_1;

// Delivers what host and kernels printed. Where the device was used, waits for everything launched
// on the current one, so that a failure of a kernel that nothing waited for is still reported.
void hirc_program_end(const char *location) {
  fflush(stdout); // what the host printed came before what kernels are still to print
  if (hirc_cpu_device_program_ends)
    hirc_cpu_device_program_ends(location);
  wait_function *wait = __atomic_load_n(&hirc_state_wait_at_end_1, __ATOMIC_ACQUIRE);
  if (wait) {
    wait(location);
    fflush(stdout);
  }
  wait_function *free_kept = __atomic_load_n(&hirc_state_free_at_end_1, __ATOMIC_ACQUIRE);
  if (free_kept)
    free_kept(location);
}
