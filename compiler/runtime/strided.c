// Simplifying a strided copy: the order of its dimensions is free, and dimensions that lie
// back to back in both views are one.

#include "strided.h"

#include <stdlib.h>

static void append(struct strided_copy *copy, int64_t size, int64_t dst_stride,
                   int64_t src_stride) {
  // Walking a dimension from its far end is as good, and makes its strides positive.
  if (dst_stride < 0 && src_stride <= 0) {
    copy->dst += (size - 1) * dst_stride;
    copy->src += (size - 1) * src_stride;
    dst_stride = -dst_stride;
    src_stride = -src_stride;
  }
  int at = copy->rank++;
  // Insertion sort, the largest stride of the destination first.
  for (; at > 0; --at) {
    int64_t left_dst = llabs(copy->dst_strides[at - 1]);
    int64_t left_src = llabs(copy->src_strides[at - 1]);
    if (left_dst > llabs(dst_stride) ||
        (left_dst == llabs(dst_stride) && left_src >= llabs(src_stride)))
      break;
    copy->sizes[at] = copy->sizes[at - 1];
    copy->dst_strides[at] = copy->dst_strides[at - 1];
    copy->src_strides[at] = copy->src_strides[at - 1];
  }
  copy->sizes[at] = size;
  copy->dst_strides[at] = dst_stride;
  copy->src_strides[at] = src_stride;
}

bool hirc_strided_simplify(struct strided_copy *copy, void *dst, void *src, int64_t rank,
                           const int64_t *sizes, const int64_t *dst_strides,
                           const int64_t *src_strides, int64_t element_bytes) {
  copy->dst = dst;
  copy->src = src;
  copy->width = element_bytes;
  copy->rank = 0;
  for (int64_t i = 0; i < rank; ++i)
    if (sizes[i] <= 0)
      return false;
  for (int64_t i = 0; i < rank; ++i)
    if (sizes[i] > 1)
      append(copy, sizes[i], dst_strides[i] * element_bytes, src_strides[i] * element_bytes);

  for (int last = copy->rank - 1; last >= 0 && copy->dst_strides[last] == copy->width &&
                                  copy->src_strides[last] == copy->width;
       last = --copy->rank - 1)
    copy->width *= copy->sizes[last];

  for (int i = copy->rank - 1; i > 0; --i) {
    if (copy->dst_strides[i - 1] != copy->dst_strides[i] * copy->sizes[i] ||
        copy->src_strides[i - 1] != copy->src_strides[i] * copy->sizes[i])
      continue;
    copy->sizes[i] *= copy->sizes[i - 1];
    strided_drop(copy, i - 1);
  }
  return true;
}
