// What is found out once about a convolution of one call site, for the sizes it is called with.
#ifndef HIRC_CONVOLUTION_PLAN_H
#define HIRC_CONVOLUTION_PLAN_H

#include "convolution_library.h"
#include "kept_plans.h"

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
  struct plan_key key;
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

plan_release hirc_convolution_plan_release;

static inline int convolution_rank(const struct hirc_convolution_site *site) {
  return 2 + (int)site->places;
}

// Returns an operand's extents, a dim each.
static inline struct convolution_extent *
convolution_extents(const struct hirc_convolution_site *site, struct convolution_plan *plan,
                    int operand) {
  return (struct convolution_extent *)plan->key.extents + operand * convolution_rank(site);
}

// The bytes that the extents of all operands take.
static inline size_t convolution_extents_bytes(const struct hirc_convolution_site *site) {
  return CONVOLUTION_OPERANDS * (size_t)convolution_rank(site) * sizeof(struct convolution_extent);
}

static inline int64_t convolution_element_bytes(int64_t type) { return type == CUDNN_F32 ? 4 : 2; }

#endif
