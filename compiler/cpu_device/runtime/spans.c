// The spans of memory that blocks lie in, ordered by address, and the classes of blocks.

#include "spans.h"

#include <stdlib.h>
#include <string.h>

struct hirc_span **hirc_spans;
size_t hirc_span_count;

static size_t span_room;

// The size's class and, in `bytes`, the class's block size.
unsigned hirc_block_class(size_t *bytes) {
  size_t units = (*bytes + HIRC_BLOCK_UNIT - 1) / HIRC_BLOCK_UNIT;
  if (units <= 8) {
    units += units == 0;
    *bytes = units * HIRC_BLOCK_UNIT;
    return (unsigned)units - 1;
  }
  unsigned exponent = 63 - (unsigned)__builtin_clzll(units - 1);
  size_t granule = (size_t)1 << (exponent - 3);
  size_t multiple = (units + granule - 1) / granule; // 9 to 16
  *bytes = multiple * granule * HIRC_BLOCK_UNIT;
  return 8 + (exponent - 3) * 8 + (unsigned)multiple - 9;
}

char *hirc_block_address(const struct hirc_block_of_memory *block) {
  return block->span->start + (size_t)(block - block->span->blocks) * block->span->block_bytes;
}

// The number of spans that begin at or before the address.
size_t hirc_spans_before(const void *address) {
  size_t first = 0, end = hirc_span_count;
  while (first < end) {
    size_t middle = (first + end) / 2;
    if (hirc_spans[middle]->start <= (const char *)address)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

struct hirc_block_of_memory *hirc_block_at(const void *address) {
  size_t position = hirc_spans_before(address);
  if (position == 0)
    return NULL;
  struct hirc_span *span = hirc_spans[position - 1];
  size_t offset = (size_t)((const char *)address - span->start);
  return offset < span->bytes && offset / span->block_bytes < span->count
             ? &span->blocks[offset / span->block_bytes]
             : NULL;
}

struct hirc_span *hirc_span_enter(char *start, size_t bytes, size_t block_bytes, unsigned class) {
  if (hirc_span_count == span_room) {
    size_t room = span_room ? 2 * span_room : 64;
    struct hirc_span **grown = realloc(hirc_spans, room * sizeof *hirc_spans);
    if (!grown)
      return NULL;
    hirc_spans = grown;
    span_room = room;
  }
  unsigned count = (unsigned)(bytes / block_bytes);
  struct hirc_span *span = calloc(1, sizeof *span + count * sizeof(struct hirc_block_of_memory));
  if (!span)
    return NULL;
  *span = (struct hirc_span){
      .start = start, .bytes = bytes, .block_bytes = block_bytes, .class = class, .count = count};
  for (unsigned i = 0; i < count; ++i)
    span->blocks[i].span = span;
  size_t position = hirc_spans_before(start);
  memmove(hirc_spans + position + 1, hirc_spans + position,
          (hirc_span_count - position) * sizeof *hirc_spans);
  hirc_spans[position] = span;
  ++hirc_span_count;
  return span;
}

void hirc_span_forget(struct hirc_span *span) {
  size_t position = hirc_spans_before(span->start) - 1;
  memmove(hirc_spans + position, hirc_spans + position + 1,
          (hirc_span_count - position - 1) * sizeof *hirc_spans);
  --hirc_span_count;
  free(span);
}
