// Chooses, before main, between the two versions of each kernel's regions: for any processor of the
// architecture, and for one with wider vectors. HIRC_CPU_VECTORS=baseline keeps the first.

#include "device_abi.h"

#include <stdlib.h>
#include <string.h>

extern const struct hirc_kernel *const __start_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern const struct hirc_kernel *const __stop_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));

static bool has_wide_vectors(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

__attribute__((constructor)) static void choose_regions(void) {
  const char *asked = getenv("HIRC_CPU_VECTORS");
  if ((asked && strcmp(asked, "baseline") == 0) || !has_wide_vectors())
    return;
  for (const struct hirc_kernel *const *at = __start_hirc_cpu_kernels;
       at < __stop_hirc_cpu_kernels; ++at) {
    const struct hirc_kernel *kernel = *at;
    if (kernel->wide_regions)
      memcpy((void *)kernel->regions, kernel->wide_regions,
             kernel->state_count * sizeof *kernel->regions);
  }
}
