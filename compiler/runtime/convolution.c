// Convolutions by cuDNN.
//
// Every call site keeps a few plans (kept_plans.h), each for the sizes and strides it was made for.
// Where one fits, a call compares integers and calls the library.

#include "convolution_plan.h"
#include "current_device.h"
#include "graphs.h"
#include "kept_plans.h"
#include "matmul_workspace.h"

#include <stdbool.h>

static void put_back(struct hirc_convolution_cache *cache, struct convolution_plan *plan) {
  plan_put_back(cache->plans, HIRC_CONVOLUTION_PLANS, &cache->turn, plan,
                hirc_convolution_plan_free);
}

// A plan that was made for just this, now the caller's; NULL where none is there.
static struct convolution_plan *take(struct hirc_convolution_cache *cache,
                                     const struct hirc_convolution_site *site,
                                     const int64_t *extents, int device) {
  for (int i = 0; i < HIRC_CONVOLUTION_PLANS; ++i) {
    struct convolution_plan *plan =
        atomic_exchange_explicit(&cache->plans[i], NULL, memory_order_acquire);
    if (!plan)
      continue;
    if (plan->device == device &&
        memcmp(plan->extents, extents, convolution_extents_bytes(site)) == 0)
      return plan;
    put_back(cache, plan);
  }
  return NULL;
}

static void zero(const struct hirc_convolution_site *site, const struct convolution_plan *plan,
                 void *result, void *stream, const char *location) {
  int rank = convolution_rank(site);
  int64_t sizes[CONVOLUTION_MOST_DIMS], strides[CONVOLUTION_MOST_DIMS];
  for (int i = 0; i < rank; ++i) {
    const struct convolution_extent *extent = &plan->extents[CONVOLUTION_RESULT * rank + i];
    sizes[i] = extent->size;
    strides[i] = extent->stride;
  }
  hirc_zero_strided(result, rank, sizes, strides, convolution_element_bytes(site->element), stream,
                    location);
}

static void run(const struct convolution_plan *plan, const struct hirc_convolution_site *site,
                const void *image, const void *weights, void *result, void *stream,
                const char *location) {
  static const float one = 1, none = 0;
  const struct cudnn *library = hirc_cudnn(location);
  // That of matrix products, which are done one after the other in a stream, where it is enough.
  struct matmul_workspace workspace = {NULL, true};
  bool is_large = plan->workspace_bytes > MATMUL_WORKSPACE_BYTES;
  if (is_large)
    workspace.memory =
        hirc_allocate((int64_t)plan->workspace_bytes, HIRC_MEMORY_DEVICE, stream, location);
  else if (plan->workspace_bytes != 0)
    workspace = hirc_matmul_workspace(plan->device, stream, location);
  struct convolution_handle *handle = hirc_cudnn_handle(library, plan->device, stream, location);
  if (site->is_gradient)
    cudnn_check(library,
                library->ConvolutionBackwardData(handle->handle, &one, plan->weights, weights,
                                                 plan->image, image, plan->convolution,
                                                 plan->algorithm, workspace.memory,
                                                 plan->workspace_bytes, &none, plan->result,
                                                 result),
                "cudnnConvolutionBackwardData", location);
  else
    cudnn_check(library,
                library->ConvolutionForward(handle->handle, &one, plan->image, image,
                                            plan->weights, weights, plan->convolution,
                                            plan->algorithm, workspace.memory,
                                            plan->workspace_bytes, &none, plan->result, result),
                "cudnnConvolutionForward", location);
  hirc_cudnn_handle_done(handle, plan->device);
  if (is_large)
    hirc_free(workspace.memory, HIRC_MEMORY_DEVICE, stream, location);
  else
    hirc_matmul_workspace_done(workspace, stream, location);
}

void hirc_convolution(const struct hirc_convolution_site *site,
                      struct hirc_convolution_cache *cache, const int64_t *extents, void *image,
                      void *weights, void *result, void *stream, const char *location) {
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    void *pointers[] = {image, weights, result, stream};
    struct hirc_part parts[] = {{&site, sizeof site},
                                {pointers, sizeof pointers},
                                {extents, convolution_extents_bytes(site)}};
    if (hirc_graph_does(recorder, HIRC_STEP_CONVOLVE, parts, 3))
      return;
  }
  int device = current_device(location);
  struct convolution_plan *plan = take(cache, site, extents, device);
  if (plan)
    hirc_own(plan, hirc_convolution_plan_release, HIRC_OBJECT, location);
  else
    plan = hirc_convolution_plan(site, extents, device, stream, location);
  if (plan->work == CONVOLUTION_ZERO)
    zero(site, plan, result, stream, location);
  else if (plan->work == CONVOLUTION_SUMS)
    run(plan, site, image, weights, result, stream, location);
  wait_at_end();
  hirc_disown(plan, HIRC_OBJECT);
  put_back(cache, plan);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_did(recorder);
}
