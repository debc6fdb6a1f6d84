// Copies of boxes of bytes: see copies.c.
#ifndef HIRC_COPIES_H
#define HIRC_COPIES_H

#include "stream.h"

// Rows of `width` bytes, `height` of them in a slice, `depth` slices; a pitch is from row to row, a
// slice from slice to slice, in bytes.
struct hirc_copy {
  char *dst;
  const char *src;
  size_t dst_pitch, src_pitch;
  size_t dst_slice, src_slice;
  size_t width, height, depth;
};

// Copies as CUDA's documentation says for the kind of copy and of memory; `waits`: as the calls
// without Async do.
int hirc_begin_copy(const struct hirc_copy *copy, int kind, cuda_stream stream, bool waits);

// Enters the copy into the stream whatever the memory is.
int hirc_enqueue_copy(struct hirc_stream *stream, const struct hirc_copy *copy);

void hirc_perform_copy(const struct hirc_copy *copy);

#endif
