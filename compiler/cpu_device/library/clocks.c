// The special registers that tell time.
#include "device_library.h"

#include <time.h>

INLINE uint64_t counter(void) {
#if defined(__x86_64__)
  return __builtin_readcyclecounter();
#elif defined(__aarch64__)
  uint64_t ticks; // the processor's cycle counter may be closed to programs
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
#endif
}

// Nanoseconds.
INLINE uint64_t real_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

DEVICE uint32_t hirc_nvvm_read_ptx_sreg_clock(void) { return (uint32_t)counter(); }
DEVICE uint64_t hirc_nvvm_read_ptx_sreg_clock64(void) { return counter(); }
DEVICE uint64_t hirc_nvvm_read_ptx_sreg_globaltimer(void) { return real_time(); }
DEVICE uint32_t hirc_nvvm_read_ptx_sreg_globaltimer_lo(void) { return (uint32_t)real_time(); }
