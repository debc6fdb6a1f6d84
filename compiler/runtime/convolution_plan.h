// What is found out once about a convolution of one call site, for the sizes it is called with.
#ifndef HIRC_CONVOLUTION_PLAN_H
#define HIRC_CONVOLUTION_PLAN_H

#include "convolution_library.h"
#include "hirc_runtime.h"

#include <string.h>

enum {
  CONVOLUTION_IMAGE,
  CONVOLUTION_WEIGHTS,
  CONVOLUTION_RESULT,
  CONVOLUTION_OPERANDS,
};
enum { CONVOLUTION_MOST_DIMS = 2 + HIRC_CONVOLUTION_PLACES };
// The bytes that an algorithm may use at most.
#define CONVOLUTION_WORKSPACE_BYTES ((size_t)1 << 30)

// A dim of an operand.
struct convolution_extent {
  int64_t size, stride;
};

enum convolution_work {
  CONVOLUTION_NOTHING, // the result has no elements
  CONVOLUTION_ZERO,    // every sum is empty
  CONVOLUTION_SUMS,
};

// A plan is for one thread at a time.
struct convolution_plan {
  struct convolution_extent extents[CONVOLUTION_OPERANDS * CONVOLUTION_MOST_DIMS];
  int device;
  enum convolution_work work;
  cudnn_tensor image, result;
  cudnn_filter weights;
  cudnn_convolution convolution;
  int algorithm;
  size_t workspace_bytes;
};

// Returns a plan, which is the call's (calls.h) until hirc_disown.
struct convolution_plan *hirc_convolution_plan(const struct hirc_convolution_site *site,
                                               const int64_t *extents, int device, void *stream,
                                               const char *location);

void hirc_convolution_plan_free(void *plan);

void hirc_convolution_plan_release(void *plan, void *stream);

static inline int convolution_rank(const struct hirc_convolution_site *site) {
  return 2 + (int)site->places;
}

// The bytes that the extents of all operands take.
static inline size_t convolution_extents_bytes(const struct hirc_convolution_site *site) {
  return CONVOLUTION_OPERANDS * (size_t)convolution_rank(site) * sizeof(struct convolution_extent);
}

static inline int64_t convolution_element_bytes(int64_t type) { return type == CUDNN_F32 ? 4 : 2; }

#endif
