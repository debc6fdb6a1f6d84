// Where a checked program's memory lies, and what each byte of it may be used for: see shadow.c.
#ifndef HIRC_CHECKS_SHADOW_H
#define HIRC_CHECKS_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum hirc_shadow_state {
  HIRC_SHADOW_NONE = 0, // no memory, or no more
  HIRC_SHADOW_NEW = 1,  // nothing has written there
  HIRC_SHADOW_WRITTEN = 2,
};

// Two halves: memory of the device, then memory that the host may access too, in whole pages.
struct hirc_shadow_range {
  char *start;
  size_t bytes;
  uint8_t *shadow; // a byte for each
};
extern struct hirc_shadow_range hirc_shadow;

// Reserves so many addresses; false if there are not enough.
bool hirc_shadow_reserve(size_t bytes);
void hirc_shadow_release(void);

static inline bool hirc_shadow_has(const void *address) {
  return (size_t)((const char *)address - hirc_shadow.start) < hirc_shadow.bytes;
}

// The shadow of an address that has one.
static inline uint8_t *hirc_shadow_of(const void *address) {
  return hirc_shadow.shadow + ((const char *)address - hirc_shadow.start);
}

// The first byte of these whose state is below `least`; `bytes` if there is none.
static inline size_t hirc_shadow_first_below(const uint8_t *shadow, size_t bytes, uint8_t least) {
  for (size_t i = 0; i < bytes; i++) {
    if (shadow[i] < least) {
      return i;
    }
  }
  return bytes;
}

// Sets states; gives the pages of a large range back where the state is NONE.
void hirc_shadow_set(char *start, size_t bytes, enum hirc_shadow_state state);

#endif
