// Convolutions by cuDNN.
//
// Every call site keeps a few plans (kept_plans.h), each for the sizes and strides it was made for.
// Where one fits, a call compares integers and calls the library.

#include "convolution_plan.h"
#include "current_device.h"
#include "graphs.h"
#include "matmul_workspace.h"

#include <stdbool.h>

static void zero(const struct hirc_convolution_site *site, struct convolution_plan *plan,
                 void *result, void *stream, const char *location) {
  int rank = convolution_rank(site);
  int64_t sizes[CONVOLUTION_MOST_DIMS], strides[CONVOLUTION_MOST_DIMS];
  const struct convolution_extent *extents = convolution_extents(site, plan, CONVOLUTION_RESULT);
  for (int i = 0; i < rank; ++i) {
    sizes[i] = extents[i].size;
    strides[i] = extents[i].stride;
  }
  hirc_zero_strided(result, rank, sizes, strides, convolution_element_bytes(site->element), stream,
                    location);
}

static void run(const struct convolution_plan *plan, const struct hirc_convolution_site *site,
                const void *image, const void *weights, void *result, void *stream,
                const char *location) {
  static const float one = 1, none = 0;
  const struct cudnn *library = hirc_cudnn(location);
  // That of matrix products: a stream does them and convolutions one after the other.
  struct matmul_workspace workspace = {NULL, true};
  int device = plan->key.device;
  if (plan->workspace_bytes != 0)
    workspace = hirc_matmul_workspace(plan->workspace_bytes, device, stream, location);
  struct convolution_handle *handle = hirc_cudnn_handle(library, device, stream, location);
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
  hirc_cudnn_handle_done(handle, device);
  hirc_matmul_workspace_done(workspace, stream, location);
}

void hirc_convolution(const struct hirc_convolution_site *site, struct hirc_plan_cache *cache,
                      const int64_t *extents, void *image, void *weights, void *result,
                      void *stream, const char *location) {
  size_t bytes = convolution_extents_bytes(site);
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    void *pointers[] = {image, weights, result, stream};
    struct hirc_part parts[] = {{&site, sizeof site},
                                {pointers, sizeof pointers},
                                {extents, bytes}};
    if (hirc_graph_does(recorder, HIRC_STEP_CONVOLVE, parts, 3))
      return;
  }
  int device = current_device(location);
  struct convolution_plan *plan =
      plan_take(cache, extents, bytes, 0, device, hirc_convolution_plan_release);
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
  plan_put_back(cache, plan, hirc_convolution_plan_release);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_did(recorder);
}
