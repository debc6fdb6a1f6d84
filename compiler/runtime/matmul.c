// Matrix products by cuBLASLt.
//
// Every call site keeps a few plans (kept_plans.h), each for the sizes, strides and alignments it was
// made for. Where one fits, a call compares integers and calls the library.

#include "current_device.h"
#include "graphs.h"
#include "matmul_plan.h"
#include "matmul_workspace.h"

static uint64_t alignments_of(const struct matmul_pointers *pointers) {
  uint64_t all = 0;
  for (int i = 0; i < MATMUL_OPERANDS; ++i)
    all |= (uint64_t)matmul_alignment((uintptr_t)pointers->of[i]) << 8 * i;
  return all;
}

static void tell_bias(struct matmul_plan *plan, const struct cublaslt *library, const void *bias,
                      const char *location) {
  if (plan->bias == bias)
    return;
  cublaslt_check(library,
                 library->MatmulDescSetAttribute(plan->matmul, CUBLASLT_MATMUL_BIAS_POINTER, &bias,
                                                 sizeof bias),
                 "cublasLtMatmulDescSetAttribute", location);
  plan->bias = bias;
}

// One call of the library; where it `adds_terms`, to what the result holds.
static void multiply(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                     const struct cublaslt *library, const struct matmul_pointers *pointers,
                     bool adds_terms, struct matmul_workspace workspace, void *stream,
                     const char *location) {
  static const float f32[2] = {0, 1};
  static const double f64[2] = {0, 1};
  bool is_f64 = site->compute == CUBLASLT_COMPUTE_F64;
  const void *one = is_f64 ? (const void *)&f64[1] : &f32[1];
  bool adds = adds_terms || site->has_addend;
  const void *beta = is_f64 ? (const void *)&f64[adds] : &f32[adds];
  bool swapped = plan->shape.is_swapped;
  char *result = pointers->of[MATMUL_RESULT];
  bool has_addend = adds && !adds_terms;
  if (site->has_bias)
    tell_bias(plan, library, pointers->of[MATMUL_BIAS], location);
  cublaslt_check(
      library,
      library->Matmul(plan->handle, plan->matmul, one,
                      pointers->of[swapped ? MATMUL_SECOND : MATMUL_FIRST], plan->left,
                      pointers->of[swapped ? MATMUL_FIRST : MATMUL_SECOND], plan->right, beta,
                      has_addend ? pointers->of[MATMUL_ADDEND] : result,
                      has_addend ? plan->addend : plan->result, result, plan->result,
                      &plan->algorithm,
                      workspace.memory, workspace.memory ? plan->workspace_bytes : 0, stream),
      "cublasLtMatmul", location);
}

// The calls of the library for every index of the loops around it.
static void multiply_outer(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                           const struct cublaslt *library, struct matmul_pointers pointers,
                           struct matmul_workspace workspace, void *stream,
                           const char *location) {
  const struct matmul_shape *shape = &plan->shape;
  int64_t index[MATMUL_MAX_LOOPS] = {0};
  int64_t bytes[MATMUL_OPERANDS] = {
      matmul_element_bytes(site->element), matmul_element_bytes(site->element),
      matmul_element_bytes(site->result), matmul_element_bytes(site->result),
      matmul_element_bytes(site->result)};
  for (;;) {
    bool adds = false;
    for (int i = shape->outer_count - shape->outer_adding; i < shape->outer_count; ++i)
      adds |= index[i] != 0;
    multiply(plan, site, library, &pointers, adds, workspace, stream, location);
    int place = shape->outer_count - 1;
    for (; place >= 0; --place) {
      const struct matmul_loop *loop = &shape->outer[place];
      bool ends = ++index[place] == loop->size;
      int64_t steps = ends ? 1 - loop->size : 1;
      for (int i = 0; i < MATMUL_OPERANDS; ++i)
        pointers.of[i] += steps * loop->strides[i] * bytes[i];
      if (!ends)
        break;
      index[place] = 0;
    }
    if (place < 0)
      return;
  }
}

static void zero(const struct hirc_matmul_site *site, const int64_t *extents, void *result,
                 void *stream, const char *location) {
  int64_t sizes[MATMUL_MAX_LOOPS], strides[MATMUL_MAX_LOOPS], rank = 0;
  const struct matmul_loop *loops = (const struct matmul_loop *)extents;
  for (int64_t i = 0; i < site->loops; ++i)
    if (site->kinds[i] & 1 << MATMUL_RESULT) {
      sizes[rank] = loops[i].size;
      strides[rank++] = loops[i].strides[MATMUL_RESULT];
    }
  hirc_zero_strided(result, rank, sizes, strides, matmul_element_bytes(site->result), stream,
                    location);
}

static void run(struct matmul_plan *plan, const struct hirc_matmul_site *site,
                struct matmul_pointers pointers, void *stream, const char *location) {
  const struct cublaslt *library = hirc_cublaslt(location);
  struct matmul_workspace workspace = {NULL, true};
  void *zeros = NULL;
  if (plan->work == MATMUL_ZERO_TERMS) {
    if (hirc_recorder())
      hirc_graph_abandon(hirc_recorder());
    check(cudaMallocAsync(&zeros, (size_t)plan->zero_bytes, stream), "cudaMallocAsync", location);
    hirc_own(zeros, hirc_release_on_device, HIRC_OBJECT, location);
    check(cudaMemsetAsync(zeros, 0, (size_t)plan->zero_bytes, stream), "cudaMemsetAsync",
          location);
    pointers.of[MATMUL_FIRST] = pointers.of[MATMUL_SECOND] = zeros;
  }
  if (plan->workspace_bytes != 0)
    workspace = hirc_matmul_workspace(MATMUL_WORKSPACE_BYTES, plan->key.device, stream, location);
  if (plan->shape.outer_count == 0)
    multiply(plan, site, library, &pointers, false, workspace, stream, location);
  else
    multiply_outer(plan, site, library, pointers, workspace, stream, location);
  hirc_matmul_workspace_done(workspace, stream, location);
  if (zeros) {
    check(cudaFreeAsync(zeros, stream), "cudaFreeAsync", location);
    hirc_disown(zeros, HIRC_OBJECT);
  }
}

void hirc_matmul(const struct hirc_matmul_site *site, struct hirc_plan_cache *cache,
                 const int64_t *extents, void *first, void *second, void *result, void *bias,
                 void *addend, void *stream, const char *location) {
  struct matmul_pointers pointers = {{first, second, result, bias, addend}};
  size_t bytes = (size_t)matmul_extents_count(site) * sizeof *extents;
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    struct hirc_part parts[] = {{&site, sizeof site},
                                {&pointers, sizeof pointers},
                                {&stream, sizeof stream},
                                {extents, bytes}};
    if (hirc_graph_does(recorder, HIRC_STEP_MULTIPLY, parts, 4))
      return;
  }
  int device = current_device(location);
  uint64_t alignments = alignments_of(&pointers);
  struct matmul_plan *plan =
      plan_take(cache, extents, bytes, alignments, device, hirc_matmul_plan_release);
  if (plan)
    hirc_own(plan, hirc_matmul_plan_release, HIRC_OBJECT, location);
  else
    plan = hirc_matmul_plan(site, extents, &pointers, alignments, device, location);
  if (plan->work == MATMUL_ZERO)
    zero(site, extents, result, stream, location);
  else if (plan->work != MATMUL_NOTHING)
    run(plan, site, pointers, stream, location);
  wait_at_end();
  hirc_disown(plan, HIRC_OBJECT);
  plan_put_back(cache, plan, hirc_matmul_plan_release);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_did(recorder);
}
