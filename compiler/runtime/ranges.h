// Ranges around calls of programs and around launches, for whoever shows NVTX. See ranges.c.
#ifndef HIRC_RANGES_H
#define HIRC_RANGES_H

#include <stdbool.h>

struct hirc_call;

enum { HIRC_RANGES_UNKNOWN, HIRC_RANGES_OFF, HIRC_RANGES_ON, HIRC_RANGES_BEING_DECIDED };
extern __attribute__((weak, visibility("hidden"))) _Atomic int hirc_state_ranges_1;

bool hirc_ranges_decide(void);
void hirc_range_push(const char *name);
void hirc_range_pop(void);
void hirc_ranges_leave(struct hirc_call *call);

// Begins a range of the calling thread, where somebody shows it.
static inline bool hirc_range_begin(const char *name) {
  if (__builtin_expect(hirc_state_ranges_1 == HIRC_RANGES_OFF, 1) || !hirc_ranges_decide())
    return false;
  hirc_range_push(name);
  return true;
}

// Ends the last range that began.
static inline void hirc_range_end(bool has_begun) {
  if (__builtin_expect(has_begun, 0))
    hirc_range_pop();
}

#endif
