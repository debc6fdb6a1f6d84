// The addresses that a checked program's memory gets, and their shadow.
//
// One range is reserved for all allocations, so that an address tells at once whether it can be
// one, and where the byte lies that says what it is. Pages take memory once they are used.

#define _GNU_SOURCE
#include "shadow.h"

#include <sys/mman.h>

struct hirc_shadow_range hirc_shadow;

enum { PAGE = 4096 };

static void *reserve(size_t bytes, int protection) {
  void *start = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start != MAP_FAILED ? start : NULL;
}

bool hirc_shadow_reserve(size_t bytes) {
  char *start = reserve(bytes, PROT_NONE);
  uint8_t *shadow = start != NULL ? reserve(bytes, PROT_READ | PROT_WRITE) : NULL;
  if (shadow == NULL) {
    if (start != NULL) {
      munmap(start, bytes);
    }
    return false;
  }
  madvise(shadow, bytes, MADV_DONTDUMP);
  hirc_shadow = (struct hirc_shadow_range){start, bytes, shadow};
  return true;
}

void hirc_shadow_release(void) {
  munmap(hirc_shadow.start, hirc_shadow.bytes);
  munmap(hirc_shadow.shadow, hirc_shadow.bytes);
  hirc_shadow = (struct hirc_shadow_range){0};
}

void hirc_shadow_set(char *start, size_t bytes, enum hirc_shadow_state state) {
  uint8_t *first = hirc_shadow_of(start), *end = first + bytes;
  uint8_t *page = (uint8_t *)(((uintptr_t)first + PAGE - 1) / PAGE * PAGE);
  uint8_t *last = (uint8_t *)((uintptr_t)end / PAGE * PAGE);
  if (state != HIRC_SHADOW_NONE || last <= page) {
    memset(first, state, bytes);
    return;
  }
  memset(first, state, (size_t)(page - first));
  madvise(page, (size_t)(last - page), MADV_DONTNEED);
  memset(last, state, (size_t)(end - last));
}
