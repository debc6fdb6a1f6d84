// Spans of memory and the blocks in them: see spans.c. The caller holds the lock of allocation.c.
#ifndef HIRC_SPANS_H
#define HIRC_SPANS_H

#include <stddef.h>

enum {
  HIRC_BLOCK_UNIT = 512, // what a block's size and address are multiples of
  HIRC_BLOCK_CLASSES = 512,
};

struct hirc_block_of_memory {
  struct hirc_span *span;
  struct hirc_block_of_memory *next; // in its class's list
  size_t bytes;       // as requested
  unsigned memory;    // 0: free
  unsigned flags;
};

struct hirc_span {
  char *start;
  size_t bytes;
  size_t block_bytes;
  unsigned class;
  unsigned count;
  unsigned live;
  struct hirc_block_of_memory blocks[];
};

extern struct hirc_span **hirc_spans; // by address
extern size_t hirc_span_count;

// The size's class and, in `bytes`, the class's block size.
unsigned hirc_block_class(size_t *bytes);
char *hirc_block_address(const struct hirc_block_of_memory *block);

// The number of spans that begin at or before the address.
size_t hirc_spans_before(const void *address);
// The block, live or free, that the address lies in; NULL if there is none.
struct hirc_block_of_memory *hirc_block_at(const void *address);

// Enters mapped memory as a span of blocks; NULL if there is no memory to note it.
struct hirc_span *hirc_span_enter(char *start, size_t bytes, size_t block_bytes, unsigned class);
void hirc_span_forget(struct hirc_span *span);

#endif
