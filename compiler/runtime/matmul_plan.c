// Making a plan: the form that the library takes the product in, its descriptors, and the algorithm
// that its heuristics choose.

#include "matmul_plan.h"
#include "calls.h"
#include "check.h"
#include "matmul_workspace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_epilogue(const struct hirc_matmul_site *site) {
  return site->has_bias || site->activation != HIRC_MATMUL_PLAIN;
}

static bool sums_are_empty(const struct hirc_matmul_site *site, const struct matmul_loop *loops) {
  for (int64_t i = 0; i < site->loops; ++i)
    if (site->kinds[i] == MATMUL_LOOP_K && loops[i].size <= 0)
      return true;
  return false;
}

// Makes of the operands a packed column and a packed row, of zeros, whose product is the result.
// Returns the elements that the longer one has.
static int64_t give_zero_terms(const struct hirc_matmul_site *site, struct matmul_loop *loops) {
  int64_t packed[2] = {1, 1};
  for (int64_t i = site->loops - 1; i >= 0; --i) {
    int64_t *strides = loops[i].strides;
    int64_t kind = site->kinds[i] & MATMUL_LOOP_BATCH;
    strides[MATMUL_FIRST] = strides[MATMUL_SECOND] = 0;
    if (kind == MATMUL_LOOP_K) {
      loops[i].size = 1;
    } else if (kind == MATMUL_LOOP_M || kind == MATMUL_LOOP_N) {
      int operand = kind == MATMUL_LOOP_M ? MATMUL_FIRST : MATMUL_SECOND;
      strides[operand] = packed[operand];
      packed[operand] *= loops[i].size;
    }
  }
  return packed[0] > packed[1] ? packed[0] : packed[1];
}

static void make_layout(cublaslt_layout *made, const struct cublaslt *library, int64_t type,
                        const struct matmul_matrix *matrix, int64_t batch, const char *location) {
  cublaslt_check(library,
                 library->MatrixLayoutCreate(made, (int)type, (uint64_t)matrix->rows,
                                             (uint64_t)matrix->columns, matrix->leading),
                 "cublasLtMatrixLayoutCreate", location);
  cublaslt_layout layout = *made;
  if (batch != 1) {
    int32_t count = (int32_t)batch;
    cublaslt_check(library,
                   library->MatrixLayoutSetAttribute(layout, CUBLASLT_LAYOUT_BATCH_COUNT, &count,
                                                     sizeof count),
                   "cublasLtMatrixLayoutSetAttribute", location);
    cublaslt_check(library,
                   library->MatrixLayoutSetAttribute(layout, CUBLASLT_LAYOUT_BATCH_STRIDE,
                                                     &matrix->batch_stride,
                                                     sizeof matrix->batch_stride),
                   "cublasLtMatrixLayoutSetAttribute", location);
  }
}

static void set_matmul(const struct cublaslt *library, cublaslt_matmul matmul, int attribute,
                       int32_t value, const char *location) {
  cublaslt_check(library, library->MatmulDescSetAttribute(matmul, attribute, &value, sizeof value),
                 "cublasLtMatmulDescSetAttribute", location);
}

static void make_descriptors(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                             const struct cublaslt *library, const struct matmul_pointers *pointers,
                             const char *location) {
  const struct matmul_shape *shape = &plan->shape;
  int scale = site->compute == CUBLASLT_COMPUTE_F64 ? CUBLASLT_F64 : CUBLASLT_F32;
  cublaslt_check(library, library->MatmulDescCreate(&plan->matmul, (int)site->compute, scale),
                 "cublasLtMatmulDescCreate", location);
  set_matmul(library, plan->matmul, CUBLASLT_MATMUL_TRANSPOSE_A,
             shape->left.is_transposed ? CUBLASLT_TRANSPOSED : CUBLASLT_PLAIN, location);
  set_matmul(library, plan->matmul, CUBLASLT_MATMUL_TRANSPOSE_B,
             shape->right.is_transposed ? CUBLASLT_TRANSPOSED : CUBLASLT_PLAIN, location);
  if (has_epilogue(site)) {
    int epilogue = (site->activation == HIRC_MATMUL_RELU   ? CUBLASLT_EPILOGUE_RELU
                    : site->activation == HIRC_MATMUL_GELU ? CUBLASLT_EPILOGUE_GELU
                                                           : 0) |
                   (site->has_bias ? CUBLASLT_EPILOGUE_BIAS : 0);
    set_matmul(library, plan->matmul, CUBLASLT_MATMUL_EPILOGUE, epilogue, location);
  }
  if (site->has_bias) {
    // The heuristics see by it how far the bias is aligned.
    plan->bias = pointers->of[MATMUL_BIAS];
    cublaslt_check(library,
                   library->MatmulDescSetAttribute(plan->matmul, CUBLASLT_MATMUL_BIAS_POINTER,
                                                   &plan->bias, sizeof plan->bias),
                   "cublasLtMatmulDescSetAttribute", location);
  }
  make_layout(&plan->left, library, site->element, &shape->left, shape->batch, location);
  make_layout(&plan->right, library, site->element, &shape->right, shape->batch, location);
  make_layout(&plan->result, library, site->result, &shape->result, shape->batch, location);
  if (site->has_addend)
    make_layout(&plan->addend, library, site->result, &shape->addend, shape->batch, location);
}

// How far an operand is aligned in every call of the library.
static uint32_t alignment_of(const struct matmul_plan *plan, int operand, int64_t element_bytes) {
  uint64_t together = UINT64_C(1) << (plan->key.alignments >> 8 * operand & 255);
  for (int i = 0; i < plan->shape.outer_count; ++i)
    together |= (uint64_t)(plan->shape.outer[i].strides[operand] * element_bytes);
  return UINT32_C(1) << matmul_alignment(together);
}

static void prefer(const struct cublaslt *library, cublaslt_preference preference, int attribute,
                   const void *value, size_t bytes, const char *location) {
  cublaslt_check(library,
                 library->MatmulPreferenceSetAttribute(preference, attribute, value, bytes),
                 "cublasLtMatmulPreferenceSetAttribute", location);
}

static void make_preference(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                            const struct cublaslt *library, const char *location) {
  cublaslt_check(library, library->MatmulPreferenceCreate(&plan->preference),
                 "cublasLtMatmulPreferenceCreate", location);
  cublaslt_preference preference = plan->preference;
  uint64_t workspace = MATMUL_WORKSPACE_BYTES;
  prefer(library, preference, CUBLASLT_PREFERENCE_WORKSPACE_BYTES, &workspace, sizeof workspace,
         location);
  int64_t bytes = matmul_element_bytes(site->element);
  bool swapped = plan->shape.is_swapped;
  uint32_t left = alignment_of(plan, swapped ? MATMUL_SECOND : MATMUL_FIRST, bytes);
  uint32_t right = alignment_of(plan, swapped ? MATMUL_FIRST : MATMUL_SECOND, bytes);
  uint32_t result = alignment_of(plan, MATMUL_RESULT, matmul_element_bytes(site->result));
  uint32_t addend = result;
  if (site->has_addend) {
    addend = alignment_of(plan, MATMUL_ADDEND, matmul_element_bytes(site->result));
    // Further terms are added to the result.
    if (plan->shape.outer_adding && result < addend)
      addend = result;
  }
  prefer(library, preference, CUBLASLT_PREFERENCE_ALIGNMENT_A, &left, sizeof left, location);
  prefer(library, preference, CUBLASLT_PREFERENCE_ALIGNMENT_B, &right, sizeof right, location);
  prefer(library, preference, CUBLASLT_PREFERENCE_ALIGNMENT_C, &addend, sizeof addend, location);
  prefer(library, preference, CUBLASLT_PREFERENCE_ALIGNMENT_D, &result, sizeof result, location);
  if (matmul_element_bytes(site->result) < 4) {
    // Parts of a split sum that were rounded to the result's type would be rounded twice.
    uint32_t reductions = CUBLASLT_REDUCTION_IN_COMPUTE_TYPE;
    prefer(library, preference, CUBLASLT_PREFERENCE_REDUCTION_MASK, &reductions,
           sizeof reductions, location);
  }
}

static void choose_algorithm(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                             const struct cublaslt *library, const char *location) {
  make_preference(plan, site, library, location);
  struct cublaslt_choice choice = {0};
  int found = 0;
  int status = library->MatmulAlgoGetHeuristic(
      plan->handle, plan->matmul, plan->left, plan->right,
      plan->addend ? plan->addend : plan->result, plan->result, plan->preference, 1, &choice,
      &found);
  if (status == CUBLASLT_SUCCESS && found > 0)
    status = choice.state;
  else if (status == CUBLASLT_SUCCESS)
    status = CUBLASLT_NOT_SUPPORTED;
  if (status != CUBLASLT_SUCCESS) {
    const struct matmul_shape *shape = &plan->shape;
    char note[320];
    snprintf(note, sizeof note,
             "it has no algorithm for this product: %lld of %lld x %lld times %lld x %lld, leading "
             "dimensions %lld, %lld and %lld; --products=own builds the program without it",
             (long long)shape->batch, (long long)shape->result.rows, (long long)shape->inner,
             (long long)shape->inner, (long long)shape->result.columns,
             (long long)shape->left.leading, (long long)shape->right.leading,
             (long long)shape->result.leading);
    hirc_cublaslt_failed(library, status, "cublasLtMatmulAlgoGetHeuristic", note, location);
  }
  cublaslt_check(library, library->MatmulPreferenceDestroy(plan->preference),
                 "cublasLtMatmulPreferenceDestroy", location);
  plan->preference = NULL;
  plan->algorithm = choice.algorithm;
  plan->workspace_bytes = choice.workspace_bytes;
}

static enum matmul_work work_of(const struct hirc_matmul_site *site,
                                const struct matmul_loop *loops) {
  if (!hirc_matmul_has_result((int)site->loops, site->kinds, loops))
    return MATMUL_NOTHING;
  if (!sums_are_empty(site, loops))
    return MATMUL_PRODUCT;
  return has_epilogue(site) || site->has_addend ? MATMUL_ZERO_TERMS : MATMUL_ZERO;
}

struct matmul_plan *hirc_matmul_plan(const struct hirc_matmul_site *site, const int64_t *extents,
                                     const struct matmul_pointers *pointers, uint64_t alignments,
                                     int device, const char *location) {
  struct matmul_plan *plan = calloc(1, sizeof *plan);
  if (!plan)
    hirc_refuse("no memory is left on the host", 0, 0, location);
  hirc_own(plan, hirc_matmul_plan_release, HIRC_OBJECT, location);
  struct matmul_loop loops[MATMUL_MAX_LOOPS];
  size_t bytes = (size_t)matmul_extents_count(site) * sizeof *extents;
  memcpy(plan->key.extents, extents, bytes);
  memcpy(loops, extents, bytes);
  plan->key.alignments = alignments;
  plan->key.device = device;
  plan->work = work_of(site, loops);
  if (plan->work == MATMUL_NOTHING || plan->work == MATMUL_ZERO)
    return plan;
  if (plan->work == MATMUL_ZERO_TERMS)
    plan->zero_bytes = give_zero_terms(site, loops) * matmul_element_bytes(site->element);
  if (!hirc_matmul_find_shape(&plan->shape, (int)site->loops, site->kinds, loops))
    hirc_refuse("the operands of this matrix product lie in memory in a way that cuBLASLt cannot "
                "take; --products=own builds the program without it",
                0, 0, location);
  const struct cublaslt *library = hirc_cublaslt(location);
  plan->handle = hirc_cublaslt_handle(library, device, location);
  make_descriptors(plan, site, library, pointers, location);
  choose_algorithm(plan, site, library, location);
  return plan;
}

void hirc_matmul_plan_release(void *made, void *stream) {
  (void)stream;
  struct matmul_plan *plan = made;
  const struct cublaslt *library = plan->matmul ? hirc_cublaslt(NULL) : NULL;
  if (plan->preference)
    library->MatmulPreferenceDestroy(plan->preference);
  if (plan->left)
    library->MatrixLayoutDestroy(plan->left);
  if (plan->right)
    library->MatrixLayoutDestroy(plan->right);
  if (plan->result)
    library->MatrixLayoutDestroy(plan->result);
  if (plan->addend)
    library->MatrixLayoutDestroy(plan->addend);
  if (plan->matmul)
    library->MatmulDescDestroy(plan->matmul);
  free(plan);
}
