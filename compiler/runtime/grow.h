// Arrays that grow.
#ifndef HIRC_GROW_H
#define HIRC_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Room for `wanted` elements; false where there is no memory.
static inline bool grow(void **elements, size_t *room, size_t wanted, size_t bytes) {
  if (wanted <= *room)
    return true;
  size_t more = *room ? 2 * *room : 64;
  while (more < wanted)
    more *= 2;
  void *larger = realloc(*elements, more * bytes);
  if (!larger)
    return false;
  *elements = larger;
  *room = more;
  return true;
}

#endif
