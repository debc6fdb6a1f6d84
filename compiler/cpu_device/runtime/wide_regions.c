// Chooses, before main or when kernels are given later, between the two versions of each kernel's
// regions: for any processor of the architecture, and for one with wider vectors.
// HIRC_CPU_VECTORS=baseline keeps the first.

#include "device_abi.h"
#include "registration.h"

#include <stdlib.h>
#include <string.h>

static bool has_wide_vectors(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

__attribute__((constructor)) void hirc_choose_regions(void) {
  const char *asked = getenv("HIRC_CPU_VECTORS");
  if ((asked && strcmp(asked, "baseline") == 0) || !has_wide_vectors())
    return;
  size_t count;
  struct hirc_kernel *const *kernels = hirc_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    if (kernels[i] && kernels[i]->wide_regions)
      memcpy((void *)kernels[i]->regions, kernels[i]->wide_regions,
             kernels[i]->state_count * sizeof *kernels[i]->regions);
}
