// Memory for blocks' shared memory. Device code holds its addresses in 32 bits, and in matrix
// descriptors in 18, so that an arena lies below 4 GiB and at a multiple of its size.
#define _GNU_SOURCE
#include "engine.h"

#include <pthread.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

static const uintptr_t lowest = UINT64_C(1) << 30, highest = UINT64_C(1) << 32;
enum { ARENAS_AT_ONCE = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *rest; // mapped, not handed out
static unsigned rest_count;
static uintptr_t next_address;
static char *mapped[(4096 - 1024) * 1024 / (ARENAS_AT_ONCE * HIRC_ARENA_BYTES / 1024)];
static unsigned mapped_count;

static char *map_at(uintptr_t address, size_t bytes) {
  char *memory = mmap((void *)address, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) {
    return NULL;
  }
  if ((uintptr_t)memory != address) { // a kernel that does not know the flag
    munmap(memory, bytes);
    return NULL;
  }
  return memory;
}

// The next free place, if any is left.
static void map_more(void) {
  size_t bytes = (size_t)ARENAS_AT_ONCE * HIRC_ARENA_BYTES;
  if (next_address == 0) {
    next_address = lowest;
  }
  while (rest_count == 0 && next_address + bytes <= highest) {
    rest = map_at(next_address, bytes);
    if (rest != NULL) {
      rest_count = ARENAS_AT_ONCE;
      mapped[mapped_count++] = rest;
    }
    next_address += bytes;
  }
}

char *hirc_arena_create(void) {
  pthread_mutex_lock(&lock);
  if (rest_count == 0) {
    map_more();
  }
  char *arena = rest_count != 0 ? rest : NULL;
  if (arena != NULL) {
    rest += HIRC_ARENA_BYTES;
    rest_count--;
  }
  pthread_mutex_unlock(&lock);
  return arena;
}

void hirc_arenas_release(void) {
  for (unsigned i = 0; i < mapped_count; i++) {
    munmap(mapped[i], (size_t)ARENAS_AT_ONCE * HIRC_ARENA_BYTES);
  }
}
