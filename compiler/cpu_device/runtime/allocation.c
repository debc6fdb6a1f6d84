// Memory for programs: blocks of size classes in mapped spans.
//
// A request is rounded up to one of eight sizes for each power of two. Small blocks share a span of
// 2 MB, a large one has a span of its own; spans come from mmap, so a page that nobody writes takes
// no memory. A freed block goes to its class's list and is found there by the next request, which
// makes the pair of calls a few dozen nanoseconds. Spans are kept ordered by address: that is how a
// block is found by a pointer into it.
//
// A program whose memory is checked has another layout: checks/checked_allocation.c.
//
// Device and managed memory together may take what the machine has, or HIRC_CPU_MEMORY (bytes, or
// with K, M or G); beyond that a request fails.

#define _GNU_SOURCE
#include "allocation.h"
#include "allocation_limit.h"
#include "checks/checked_allocation.h"
#include "checks/checks.h"
#include "spans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  LARGEST_SMALL = 256 << 10,
  SLAB = 2 << 20,
  PAGE = 4096,
  ORDERED = HIRC_MEMORY_ORDERED | HIRC_MEMORY_RETIRED,
  LIMITED = HIRC_MEMORY_DEVICE | HIRC_MEMORY_MANAGED | ORDERED,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hirc_block_of_memory *free_blocks[HIRC_BLOCK_CLASSES];
static size_t used, used_high, ordered_used, cached; // cached: in large spans whose block is free

static size_t charge(const struct hirc_block_of_memory *block) {
  size_t units = (block->bytes + HIRC_BLOCK_UNIT - 1) / HIRC_BLOCK_UNIT;
  return block->memory & LIMITED ? units * HIRC_BLOCK_UNIT : 0;
}

static void count_in(const struct hirc_block_of_memory *block) {
  used += charge(block);
  used_high = used > used_high ? used : used_high;
  if (block->memory & ORDERED)
    ordered_used += charge(block);
}

static void uncharge(const struct hirc_block_of_memory *block) {
  used -= charge(block);
  if (block->memory & ORDERED)
    ordered_used -= charge(block);
}

// Unmaps a span none of whose blocks is in a list.
static void unmap_span(struct hirc_span *span) {
  munmap(span->start, span->bytes);
  hirc_span_forget(span);
}

static bool is_large(const struct hirc_span *span) { return span->block_bytes > LARGEST_SMALL; }

static void unlink_blocks(struct hirc_span *span) {
  struct hirc_block_of_memory **link = &free_blocks[span->class];
  while (*link)
    if ((*link)->span == span)
      *link = (*link)->next;
    else
      link = &(*link)->next;
}

static void trim(size_t keep) {
  for (size_t i = hirc_span_count; i-- > 0 && cached > keep;) {
    struct hirc_span *span = hirc_spans[i];
    if (span->live != 0)
      continue;
    if (is_large(span))
      cached -= span->bytes;
    unlink_blocks(span);
    unmap_span(span);
  }
}

static bool map_blocks(unsigned class, size_t block_bytes) {
  size_t bytes = block_bytes > LARGEST_SMALL ? (block_bytes + PAGE - 1) / PAGE * PAGE : SLAB;
  char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED)
    return false;
  struct hirc_span *span = hirc_span_enter(start, bytes, block_bytes, class);
  if (!span) {
    munmap(start, bytes);
    return false;
  }
  for (unsigned i = span->count; i-- > 0;) {
    span->blocks[i].next = free_blocks[class];
    free_blocks[class] = &span->blocks[i];
  }
  if (is_large(span))
    cached += bytes;
  return true;
}

static struct hirc_block_of_memory *take_block(unsigned class, size_t block_bytes) {
  if (!free_blocks[class]) {
    size_t limit = hirc_memory_limit();
    if (used + cached + block_bytes > limit)
      trim(0);
    if (!map_blocks(class, block_bytes))
      return NULL;
  }
  struct hirc_block_of_memory *block = free_blocks[class];
  free_blocks[class] = block->next;
  ++block->span->live;
  if (is_large(block->span))
    cached -= block->span->bytes;
  return block;
}

void *hirc_allocation_create(enum hirc_memory memory, size_t bytes, unsigned flags) {
  if (hirc_checks_allocations())
    return hirc_checked_create(memory, bytes, flags);
  size_t limit = hirc_memory_limit();
  if (bytes > (size_t)1 << 47 || (memory & LIMITED && bytes > limit))
    return NULL;
  size_t block_bytes = bytes;
  unsigned class = hirc_block_class(&block_bytes);
  struct hirc_block_of_memory wanted = {.bytes = bytes, .memory = memory};
  void *start = NULL;
  pthread_mutex_lock(&lock);
  if (used + charge(&wanted) <= limit || !(memory & LIMITED)) {
    struct hirc_block_of_memory *block = take_block(class, block_bytes);
    if (block) {
      block->bytes = bytes;
      block->memory = memory;
      block->flags = flags;
      count_in(block);
      start = hirc_block_address(block);
    }
  }
  pthread_mutex_unlock(&lock);
  return start;
}

bool hirc_allocation_register(void *start, size_t bytes, unsigned flags) {
  if (hirc_checks_allocations())
    return hirc_checked_register(start, bytes, flags);
  pthread_mutex_lock(&lock);
  size_t position = hirc_spans_before((char *)start + bytes - 1);
  struct hirc_span *before = position ? hirc_spans[position - 1] : NULL;
  bool is_free = !before || before->start + before->bytes <= (char *)start;
  struct hirc_span *span =
      is_free ? hirc_span_enter(start, bytes, bytes, HIRC_BLOCK_CLASSES) : NULL;
  if (span) {
    span->live = 1;
    span->blocks[0].bytes = bytes;
    span->blocks[0].memory = HIRC_MEMORY_REGISTERED;
    span->blocks[0].flags = flags;
  }
  pthread_mutex_unlock(&lock);
  return span != NULL;
}

static void free_block(struct hirc_block_of_memory *block, bool keep) {
  struct hirc_span *span = block->span;
  uncharge(block);
  if (block->memory == HIRC_MEMORY_REGISTERED) {
    hirc_span_forget(span);
    return;
  }
  block->memory = 0;
  --span->live;
  if (is_large(span) && (!keep || cached + span->bytes > hirc_memory_limit() / 4)) {
    unmap_span(span);
    return;
  }
  if (is_large(span))
    cached += span->bytes;
  block->next = free_blocks[span->class];
  free_blocks[span->class] = block;
}

bool hirc_allocation_free(void *start, unsigned memory, bool keep) {
  if (hirc_checks_allocations())
    return hirc_checked_free(start, memory);
  pthread_mutex_lock(&lock);
  struct hirc_block_of_memory *block = hirc_block_at(start);
  bool found = block && block->memory & memory && hirc_block_address(block) == start;
  if (found)
    free_block(block, keep);
  pthread_mutex_unlock(&lock);
  return found;
}

size_t hirc_allocation_block_bytes(size_t bytes) {
  hirc_block_class(&bytes);
  return bytes;
}

bool hirc_allocation_retire(void *start, size_t *block_bytes) {
  if (hirc_checks_allocations())
    return hirc_checked_retire(start);
  pthread_mutex_lock(&lock);
  struct hirc_block_of_memory *block = hirc_block_at(start);
  bool found = block && block->memory & (HIRC_MEMORY_ORDERED | HIRC_MEMORY_DEVICE) &&
               hirc_block_address(block) == start;
  if (found) {
    if (block->memory == HIRC_MEMORY_DEVICE)
      ordered_used += charge(block);
    block->memory = HIRC_MEMORY_RETIRED;
    *block_bytes = hirc_allocation_block_bytes(block->bytes);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void hirc_allocation_revive(void *start, size_t bytes) {
  pthread_mutex_lock(&lock);
  struct hirc_block_of_memory *block = hirc_block_at(start);
  uncharge(block);
  block->memory = HIRC_MEMORY_ORDERED;
  block->bytes = bytes;
  count_in(block);
  pthread_mutex_unlock(&lock);
}

bool hirc_allocation_find(const void *address, struct hirc_allocation *found) {
  if (hirc_checks_allocations())
    return hirc_checked_find(address, found);
  pthread_mutex_lock(&lock);
  struct hirc_block_of_memory *block = hirc_block_at(address);
  bool live = block && block->memory != 0 && block->memory != HIRC_MEMORY_RETIRED &&
              (size_t)((const char *)address - hirc_block_address(block)) < block->bytes;
  if (live)
    *found = (struct hirc_allocation){hirc_block_address(block), block->bytes,
                                      (enum hirc_memory)block->memory, block->flags};
  pthread_mutex_unlock(&lock);
  return live;
}

void hirc_allocation_usage(struct hirc_memory_usage *usage) {
  if (hirc_checks_allocations()) {
    hirc_checked_usage(usage);
    return;
  }
  pthread_mutex_lock(&lock);
  *usage = (struct hirc_memory_usage){hirc_memory_limit(), used, used_high, ordered_used, cached};
  pthread_mutex_unlock(&lock);
}

void hirc_allocation_reset_high(void) {
  if (hirc_checks_allocations()) {
    hirc_checked_reset_high();
    return;
  }
  pthread_mutex_lock(&lock);
  used_high = used;
  pthread_mutex_unlock(&lock);
}

void hirc_allocation_trim(size_t keep) {
  pthread_mutex_lock(&lock);
  trim(keep);
  pthread_mutex_unlock(&lock);
}

void hirc_allocation_free_all(unsigned memory) {
  if (hirc_checks_allocations()) {
    hirc_checked_free_all(memory);
    return;
  }
  pthread_mutex_lock(&lock);
  for (size_t i = hirc_span_count; i-- > 0;) {
    struct hirc_span *span = hirc_spans[i];
    for (unsigned k = 0, count = span->count; k < count; ++k)
      if (span->blocks[k].memory & memory) {
        bool last = span->live == 1 && (is_large(span) || span->class == HIRC_BLOCK_CLASSES);
        free_block(&span->blocks[k], false);
        if (last)
          break;
      }
  }
  pthread_mutex_unlock(&lock);
}

void hirc_allocation_end(void) {
  for (size_t i = hirc_span_count; i-- > 0;)
    if (hirc_spans[i]->live == 0)
      unmap_span(hirc_spans[i]);
  free(hirc_spans);
}
