// Allocations of a checked program.
//
// Blocks lie one after another in the reserved range with gaps between them, those of the device in
// its first half, those that the host may access in the second in pages of their own. An address is
// not used again until thousands of other blocks have been freed: until then what is freed is known
// as that.

#define _GNU_SOURCE
#include "checked_allocation.h"

#include "../allocation_limit.h"
#include "global_race.h"
#include "shadow.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
  UNIT = 512,
  PAGE = 4096,
  LEAST_GAP = 256,
  MOST_GAP = 1 << 20,
  QUARANTINE = 16384, // blocks
  LISTS = 1024,
  HOST_ACCESSIBLE = HIRC_MEMORY_MANAGED | HIRC_MEMORY_HOST,
  LIMITED = HIRC_MEMORY_DEVICE | HIRC_MEMORY_MANAGED | HIRC_MEMORY_ORDERED,
};

// One half of the range: blocks by address.
struct half {
  size_t used; // bytes
  struct hirc_checked_block **blocks;
  size_t count, room;
  struct hirc_checked_block *free[LISTS];
};

struct registered {
  struct registered *next;
  char *start;
  size_t bytes;
  unsigned flags;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct half halves[2];
static struct hirc_checked_block *quarantine, *quarantine_end;
static size_t quarantined;
static struct registered *registered;
static size_t used, used_high, ordered; // ordered: of cudaMallocAsync
static unsigned numbers;
static bool is_accessible; // the memory of the device

static size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

static bool is_shared(unsigned memory) { return (memory & HOST_ACCESSIBLE) != 0; }

static struct half *half_of(unsigned memory) { return &halves[is_shared(memory)]; }

static char *start_of(const struct half *half) {
  return hirc_shadow.start + (half == &halves[1] ? hirc_shadow.bytes / 2 : 0);
}

static size_t room_for(unsigned memory, size_t bytes) {
  if (is_shared(memory)) {
    return round_up(bytes, PAGE) + PAGE;
  }
  size_t gap = bytes / 8 < LEAST_GAP ? LEAST_GAP : bytes / 8 > MOST_GAP ? MOST_GAP : bytes / 8;
  return round_up(bytes + gap, UNIT);
}

static struct hirc_checked_block **list_of(struct half *half, size_t room) {
  return &half->free[room / UNIT % LISTS];
}

static struct hirc_checked_block *take_free(struct half *half, size_t room) {
  for (struct hirc_checked_block **link = list_of(half, room); *link != NULL;
       link = &(*link)->next) {
    struct hirc_checked_block *block = *link;
    if (block->room == room) {
      *link = block->next;
      return block;
    }
  }
  return NULL;
}

static struct hirc_checked_block *new_block(struct half *half, size_t room) {
  if (room > hirc_shadow.bytes / 2 - half->used) {
    return NULL;
  }
  if (half->count == half->room) {
    size_t more = half->room != 0 ? 2 * half->room : 256;
    struct hirc_checked_block **grown = realloc(half->blocks, more * sizeof *grown);
    if (grown == NULL) {
      return NULL;
    }
    half->blocks = grown;
    half->room = more;
  }
  struct hirc_checked_block *block = calloc(1, sizeof *block);
  if (block != NULL) {
    // The first bytes of the range stay free: an address before the first block is no block's.
    half->used += half->used == 0 ? PAGE : 0;
    block->start = start_of(half) + half->used;
    block->room = room;
    half->used += room;
    half->blocks[half->count++] = block;
  }
  return block;
}

static void leave_quarantine(void) {
  struct hirc_checked_block *block = quarantine;
  quarantine = block->next;
  quarantined--;
  struct hirc_checked_block **list = list_of(half_of(block->memory), block->room);
  block->next = *list;
  *list = block;
}

// A block that is not in use; one from quarantine only where there are no other addresses left.
static struct hirc_checked_block *take_block(struct half *half, size_t room) {
  struct hirc_checked_block *block = take_free(half, room);
  block = block != NULL ? block : new_block(half, room);
  while (block == NULL && quarantined != 0) {
    leave_quarantine();
    block = take_free(half, room);
  }
  return block;
}

static void charge(const struct hirc_checked_block *block, int sign) {
  size_t change = (size_t)sign * round_up(block->bytes, UNIT);
  if ((block->memory & LIMITED) != 0) {
    used += change;
    used_high = used > used_high ? used : used_high;
  }
  if (block->memory == HIRC_MEMORY_ORDERED) {
    ordered += change;
  }
}

static void set_state(const struct hirc_checked_block *block, enum hirc_shadow_state state) {
  if (hirc_checks_memory()) {
    hirc_shadow_set(block->start, block->bytes, state);
  }
}

void *hirc_checked_create(unsigned memory, size_t bytes, unsigned flags) {
  size_t limit = hirc_memory_limit(), room = room_for(memory, bytes);
  if (bytes > limit) {
    return NULL;
  }
  pthread_mutex_lock(&lock);
  struct half *half = half_of(memory);
  struct hirc_checked_block *block = NULL;
  if ((memory & LIMITED) == 0 || used + bytes <= limit) {
    block = take_block(half, room);
  }
  if (block != NULL) {
    block->bytes = bytes;
    block->memory = memory;
    block->flags = flags;
    block->live = true;
    block->retired = false;
    block->held = HIRC_HELD_NOT;
    block->number = (memory & HIRC_MEMORY_HEAP) != 0 ? 0 : ++numbers;
    charge(block, 1);
    // What the host writes there itself is not seen.
    set_state(block, is_shared(memory) ? HIRC_SHADOW_WRITTEN : HIRC_SHADOW_NEW);
    if (hirc_checks_order()) {
      hirc_global_race_reset(block->start, bytes);
    }
    if (is_shared(memory)) {
      mprotect(block->start, round_up(bytes, PAGE), PROT_READ | PROT_WRITE);
    } else if (is_accessible) {
      mprotect(start_of(half), round_up(half->used, PAGE), PROT_READ | PROT_WRITE);
    }
  }
  pthread_mutex_unlock(&lock);
  return block != NULL ? block->start : NULL;
}

void hirc_checked_protect(bool accessible) {
  pthread_mutex_lock(&lock);
  is_accessible = accessible;
  if (halves[0].used != 0) {
    mprotect(start_of(&halves[0]), round_up(halves[0].used, PAGE),
             accessible ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
  pthread_mutex_unlock(&lock);
}

void hirc_checked_for_each_shared(void (*function)(struct hirc_checked_block *block)) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < halves[1].count; i++) {
    if (halves[1].blocks[i]->live) {
      function(halves[1].blocks[i]);
    }
  }
  pthread_mutex_unlock(&lock);
}

// --- finding -------------------------------------------------------------------------------------

// The last block that begins at or before the address.
static struct hirc_checked_block *at_or_before(const struct half *half, const void *address,
                                               struct hirc_checked_block **following) {
  size_t first = 0, end = half->count;
  while (first < end) {
    size_t middle = (first + end) / 2;
    if (half->blocks[middle]->start <= (const char *)address) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  *following = first < half->count ? half->blocks[first] : NULL;
  return first > 0 ? half->blocks[first - 1] : NULL;
}

static struct hirc_checked_block *block_around(const void *address,
                                               struct hirc_checked_block **following) {
  bool second = (const char *)address >= start_of(&halves[1]);
  return at_or_before(&halves[second], address, following);
}

// The live block that begins there and is of one of the kinds.
static struct hirc_checked_block *block_at(const void *start, unsigned memory) {
  struct hirc_checked_block *following;
  struct hirc_checked_block *block =
      hirc_shadow_has(start) ? block_around(start, &following) : NULL;
  bool found = block != NULL && block->start == start && block->live &&
               (memory & (block->retired ? HIRC_MEMORY_RETIRED : block->memory)) != 0;
  return found ? block : NULL;
}

static struct registered *registered_at(const void *address) {
  for (struct registered *it = registered; it != NULL; it = it->next) {
    if ((size_t)((const char *)address - it->start) < it->bytes) {
      return it;
    }
  }
  return NULL;
}

bool hirc_checked_find(const void *address, struct hirc_allocation *found) {
  pthread_mutex_lock(&lock);
  struct hirc_checked_block *following, *block = NULL;
  struct registered *range = NULL;
  if (hirc_shadow_has(address)) {
    block = block_around(address, &following);
    if (block != NULL && (!block->live || block->retired ||
                          (size_t)((const char *)address - block->start) >= block->bytes)) {
      block = NULL;
    }
  } else {
    range = registered_at(address);
  }
  if (block != NULL) {
    *found = (struct hirc_allocation){block->start, block->bytes, (enum hirc_memory)block->memory,
                                      block->flags};
  } else if (range != NULL) {
    *found = (struct hirc_allocation){range->start, range->bytes, HIRC_MEMORY_REGISTERED,
                                      range->flags};
  }
  pthread_mutex_unlock(&lock);
  return block != NULL || range != NULL;
}

// --- freeing -------------------------------------------------------------------------------------

static void free_block(struct hirc_checked_block *block) {
  charge(block, -1);
  block->live = false;
  set_state(block, HIRC_SHADOW_NONE);
  char *page = (char *)round_up((uintptr_t)block->start, PAGE);
  char *last = (char *)((uintptr_t)(block->start + block->bytes) / PAGE * PAGE);
  if (is_shared(block->memory)) {
    last = (char *)round_up((uintptr_t)last + 1, PAGE);
    mprotect(page, (size_t)(last - page), PROT_NONE);
  }
  if (last > page) {
    madvise(page, (size_t)(last - page), MADV_DONTNEED);
  }
  block->next = NULL;
  if (quarantined++ == 0) {
    quarantine = block;
  } else {
    quarantine_end->next = block;
  }
  quarantine_end = block;
  if (quarantined > QUARANTINE) {
    leave_quarantine();
  }
}

static bool unregister(void *start) {
  for (struct registered **link = &registered; *link != NULL; link = &(*link)->next) {
    struct registered *it = *link;
    if (it->start == start) {
      *link = it->next;
      free(it);
      return true;
    }
  }
  return false;
}

bool hirc_checked_free(void *start, unsigned memory) {
  pthread_mutex_lock(&lock);
  struct hirc_checked_block *block = block_at(start, memory);
  bool found = block != NULL;
  if (found) {
    free_block(block);
  } else if ((memory & HIRC_MEMORY_REGISTERED) != 0) {
    found = unregister(start);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

bool hirc_checked_register(void *start, size_t bytes, unsigned flags) {
  struct registered *range = malloc(sizeof *range);
  if (range == NULL) {
    return false;
  }
  pthread_mutex_lock(&lock);
  bool overlaps = hirc_shadow_has(start);
  for (struct registered *it = registered; it != NULL; it = it->next) {
    overlaps |= (char *)start < it->start + it->bytes && it->start < (char *)start + bytes;
  }
  if (!overlaps) {
    *range = (struct registered){registered, start, bytes, flags};
    registered = range;
  }
  pthread_mutex_unlock(&lock);
  if (overlaps) {
    free(range);
  }
  return !overlaps;
}

// Found no more by the host, though device code that is enqueued already may still use it.
bool hirc_checked_retire(void *start) {
  pthread_mutex_lock(&lock);
  struct hirc_checked_block *block = block_at(start, HIRC_MEMORY_DEVICE | HIRC_MEMORY_ORDERED);
  if (block != NULL) {
    block->retired = true;
  }
  pthread_mutex_unlock(&lock);
  return block != NULL;
}

void hirc_checked_free_all(unsigned memory) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < 2; i++) {
    for (size_t k = 0; k < halves[i].count; k++) {
      struct hirc_checked_block *block = halves[i].blocks[k];
      if (block->live && (block->memory & memory) != 0) {
        free_block(block);
      }
    }
  }
  while ((memory & HIRC_MEMORY_REGISTERED) != 0 && registered != NULL) {
    unregister(registered->start);
  }
  pthread_mutex_unlock(&lock);
}

void hirc_checked_usage(struct hirc_memory_usage *usage) {
  pthread_mutex_lock(&lock);
  *usage = (struct hirc_memory_usage){
      .limit = hirc_memory_limit(), .used = used, .used_high = used_high, .ordered = ordered};
  pthread_mutex_unlock(&lock);
}

void hirc_checked_reset_high(void) {
  pthread_mutex_lock(&lock);
  used_high = used;
  pthread_mutex_unlock(&lock);
}

// --- for messages --------------------------------------------------------------------------------

const struct hirc_checked_block *hirc_checked_near(const void *address) {
  // A signal handler asks too. A fault of host code is none of this file's, so its thread does not
  // hold the lock, and whoever does gives it back.
  pthread_mutex_lock(&lock);
  struct hirc_checked_block *following;
  const struct hirc_checked_block *block =
      hirc_shadow_has(address) ? block_around(address, &following) : NULL;
  if (hirc_shadow_has(address) && following != NULL) {
    size_t before = (size_t)(following->start - (const char *)address);
    bool nearer = block == NULL || (const char *)address - (block->start + block->bytes) >
                                       (ptrdiff_t)before;
    if (before <= LEAST_GAP && nearer) {
      block = following;
    }
  }
  pthread_mutex_unlock(&lock);
  return block;
}
