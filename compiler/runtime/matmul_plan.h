// What is found out once about a matrix product of one call site, for the sizes it is called with.
#ifndef HIRC_MATMUL_PLAN_H
#define HIRC_MATMUL_PLAN_H

#include "kept_plans.h"
#include "matmul_library.h"
#include "matmul_shape.h"

// The operands' first elements, NULL of a bias or an addend that is not there.
struct matmul_pointers {
  char *of[MATMUL_OPERANDS];
};

enum matmul_work {
  MATMUL_NOTHING,    // the result has no elements
  MATMUL_ZERO,       // every sum is empty
  MATMUL_ZERO_TERMS, // so it is, but something is added or an activation follows: as zero times zero
  MATMUL_PRODUCT,
};

_Static_assert(MATMUL_MAX_LOOPS * (1 + MATMUL_OPERANDS) <= PLAN_MOST_EXTENTS, "they fit");

// A plan is for one thread at a time: it remembers the bias that the library was told last.
struct matmul_plan {
  struct plan_key key; // with a byte of alignments an operand
  enum matmul_work work;
  struct matmul_shape shape;
  int64_t zero_bytes;
  cublaslt_handle handle;
  cublaslt_matmul matmul;
  cublaslt_layout left, right, result;
  cublaslt_layout addend; // NULL without one
  cublaslt_preference preference; // while the algorithm is chosen
  struct cublaslt_algorithm algorithm;
  size_t workspace_bytes;
  const void *bias;
};

// A plan, which is the call's (calls.h) until hirc_disown.
struct matmul_plan *hirc_matmul_plan(const struct hirc_matmul_site *site, const int64_t *extents,
                                     const struct matmul_pointers *pointers, uint64_t alignments,
                                     int device, const char *location);

plan_release hirc_matmul_plan_release;

static inline int64_t matmul_element_bytes(int64_t type) {
  return type == CUBLASLT_F64 ? 8 : type == CUBLASLT_F32 ? 4 : 2;
}

static inline int64_t matmul_extents_count(const struct hirc_matmul_site *site) {
  return site->loops * (1 + MATMUL_OPERANDS);
}

// How far a pointer or a distance is aligned, as a power of two, up to 256 bytes.
static inline uint32_t matmul_alignment(uint64_t address) {
  return (uint32_t)__builtin_ctzll(address | 256);
}

#endif
