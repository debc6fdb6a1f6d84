// A copy between two strided views, in the form that takes the fewest contiguous pieces.
#ifndef HIRC_STRIDED_H
#define HIRC_STRIDED_H

#include <stdbool.h>
#include <stdint.h>

// Dimensions of size 1 are dropped, and 2^63 elements do not fit in an address space, so no copy
// has more dimensions than this.
enum { STRIDED_MAX_RANK = 64 };

// The largest pitch a 2D copy takes: cudaDevAttrMaxPitch is this on every device.
#define MAX_PITCH INT64_C(0x7fffffff)

// `width` contiguous bytes at every index of the dimensions, outermost first. Strides are in bytes.
struct strided_copy {
  char *dst;
  char *src;
  int64_t width;
  int rank;
  int64_t sizes[STRIDED_MAX_RANK];
  int64_t dst_strides[STRIDED_MAX_RANK];
  int64_t src_strides[STRIDED_MAX_RANK];
};

// Where a walk over the dimensions stands.
struct strided_walk {
  char *dst;
  char *src;
  int64_t index[STRIDED_MAX_RANK];
};

// Fills in `copy` from views whose strides are in elements. Returns false when there is nothing to
// copy. `dst` and `src` are the addresses of the elements at index 0.
bool hirc_strided_simplify(struct strided_copy *copy, void *dst, void *src, int64_t rank,
                           const int64_t *sizes, const int64_t *dst_strides,
                           const int64_t *src_strides, int64_t element_bytes);

// Removes dimension `dim`.
static inline void strided_drop(struct strided_copy *copy, int dim) {
  --copy->rank;
  for (int i = dim; i < copy->rank; ++i) {
    copy->sizes[i] = copy->sizes[i + 1];
    copy->dst_strides[i] = copy->dst_strides[i + 1];
    copy->src_strides[i] = copy->src_strides[i + 1];
  }
}

static inline void strided_begin(const struct strided_copy *copy, struct strided_walk *walk) {
  walk->dst = copy->dst;
  walk->src = copy->src;
  for (int i = 0; i < copy->rank; ++i)
    walk->index[i] = 0;
}

// Goes on to the next piece; returns false after the last one.
static inline bool strided_advance(const struct strided_copy *copy, struct strided_walk *walk) {
  for (int i = copy->rank - 1; i >= 0; --i) {
    if (++walk->index[i] < copy->sizes[i]) {
      walk->dst += copy->dst_strides[i];
      walk->src += copy->src_strides[i];
      return true;
    }
    walk->dst -= (copy->sizes[i] - 1) * copy->dst_strides[i];
    walk->src -= (copy->sizes[i] - 1) * copy->src_strides[i];
    walk->index[i] = 0;
  }
  return false;
}

#endif
