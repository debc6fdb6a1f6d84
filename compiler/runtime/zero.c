// Filling a view of any strides with zeros.

#include "check.h"
#include "cpu_device.h"
#include "graphs.h"
#include "strided.h"

// The largest pitch a 2D fill takes: cudaDevAttrMaxPitch is this on every device.
#define MAX_PITCH INT64_C(0x7fffffff)

// The longest dimension that one 2D fill can cover, or -1.
static int best_2d(const struct strided_copy *view) {
  int best = -1;
  for (int i = 0; i < view->rank; ++i)
    if (view->dst_strides[i] >= view->width && view->dst_strides[i] <= MAX_PITCH &&
        (best < 0 || view->sizes[i] > view->sizes[best]))
      best = i;
  return best;
}

// Enqueues in `stream` the filling of memory with a byte.
void hirc_fill_bytes(void *start, int byte, int64_t bytes, void *stream, const char *location) {
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    struct hirc_part parts[] = {{&start, sizeof start},
                                {&stream, sizeof stream},
                                {&byte, sizeof byte},
                                {&bytes, sizeof bytes}};
    if (hirc_graph_does(recorder, HIRC_STEP_FILL, parts, 4))
      return;
    hirc_graph_did(recorder);
  }
  check(cudaMemsetAsync(start, byte, (size_t)bytes, stream), "cudaMemsetAsync", location);
}

// Enqueues in `stream` the filling of the view whose first element is at `start`; strides are in
// elements. One call of CUDA where the view is contiguous or differs from it in one dimension, one
// for each index of the remaining dimensions otherwise.
void hirc_zero_strided(void *start, int64_t rank, const int64_t *sizes, const int64_t *strides,
                       int64_t element_bytes, void *stream, const char *location) {
  struct strided_copy view;
  struct strided_walk walk;
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    size_t bytes = (size_t)rank * sizeof *sizes;
    struct hirc_part parts[] = {{&start, sizeof start},
                                {&stream, sizeof stream},
                                {&element_bytes, sizeof element_bytes},
                                {sizes, bytes},
                                {strides, bytes}};
    if (hirc_graph_does(recorder, HIRC_STEP_FILL, parts, 5))
      return;
    hirc_graph_did(recorder);
  }
  if (!hirc_strided_simplify(&view, start, start, rank, sizes, strides, strides, element_bytes))
    return;
  int rows = best_2d(&view);
  size_t width = (size_t)view.width, pitch = 0, height = 1;
  if (rows >= 0) {
    pitch = (size_t)view.dst_strides[rows];
    height = (size_t)view.sizes[rows];
    strided_drop(&view, rows);
  }
  strided_begin(&view, &walk);
  do {
    if (on_cpu_device())
      check(hirc_cpu_device_zero(walk.dst, rows < 0 ? width : pitch, width, height, stream),
            "cudaMemset2DAsync", location);
    else if (rows < 0)
      check(cudaMemsetAsync(walk.dst, 0, width, stream), "cudaMemsetAsync", location);
    else
      check(cudaMemset2DAsync(walk.dst, pitch, 0, width, height, stream), "cudaMemset2DAsync",
            location);
  } while (strided_advance(&view, &walk));
}
