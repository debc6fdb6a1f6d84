// What the CPU device offers the support library, in files that it is linked into.
#ifndef HIRC_CPU_DEVICE_H
#define HIRC_CPU_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#define IN_SOME_FILES __attribute__((weak, visibility("hidden")))

// The program's own work is over.
IN_SOME_FILES void hirc_cpu_device_program_ends(const char *location);

// The function is called where the library is unloaded.
IN_SOME_FILES void hirc_cpu_device_at_unload(void (*function)(void));

// In a checked program device code may access a caller's memory that a call brings along; NULL
// ends what was lent before.
IN_SOME_FILES void hirc_cpu_device_lend(const void *start, size_t bytes);

// Zeros in a stream, for memory that the caller handed in: any of the host's.
IN_SOME_FILES int hirc_cpu_device_zero(void *start, size_t pitch, size_t width, size_t height,
                                       void *stream);

// In files for GPUs and the CPU device (device_choice/choose.c): which of them this process uses.
IN_SOME_FILES int hirc_device_is_cpu(void);

// Whether device code runs on the CPU device, whose memory is the host's.
static inline bool on_cpu_device(void) {
  return hirc_cpu_device_program_ends && (!hirc_device_is_cpu || hirc_device_is_cpu());
}

#endif
