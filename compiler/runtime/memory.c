// Copies between views of any strides, and page-locking the memory behind a memref.

#include "check.h"
#include "graphs.h"
#include "memref.h"
#include "strided.h"

static bool fits_2d(const struct strided_copy *copy, int dim) {
  int64_t dst = copy->dst_strides[dim], src = copy->src_strides[dim];
  return dst >= copy->width && src >= copy->width && dst <= MAX_PITCH && src <= MAX_PITCH;
}

// The longest dimension that one 2D copy can cover, or -1.
static int best_2d(const struct strided_copy *copy) {
  int best = -1;
  for (int i = 0; i < copy->rank; ++i)
    if (fits_2d(copy, i) && (best < 0 || copy->sizes[i] > copy->sizes[best]))
      best = i;
  return best;
}

static void enqueue_pieces(const struct strided_copy *whole, cuda_stream stream,
                           const char *location) {
  struct strided_copy copy = *whole;
  struct strided_walk walk;
  int rows = best_2d(&copy);
  size_t height = 1, dst_pitch = 0, src_pitch = 0;
  if (rows >= 0) {
    height = (size_t)copy.sizes[rows];
    dst_pitch = (size_t)copy.dst_strides[rows];
    src_pitch = (size_t)copy.src_strides[rows];
    strided_drop(&copy, rows);
  }
  size_t width = (size_t)copy.width;
  strided_begin(&copy, &walk);
  do {
    if (rows < 0)
      check(cudaMemcpyAsync(walk.dst, walk.src, width, CUDA_MEMCPY_DEFAULT, stream),
            "cudaMemcpyAsync", location);
    else
      check(cudaMemcpy2DAsync(walk.dst, dst_pitch, walk.src, src_pitch, width, height,
                              CUDA_MEMCPY_DEFAULT, stream),
            "cudaMemcpy2DAsync", location);
  } while (strided_advance(&copy, &walk));
}

// A dimension that the source repeats, or -1.
static int repeated(const struct strided_copy *copy) {
  for (int i = 0; i < copy->rank; ++i)
    if (copy->src_strides[i] == 0 && copy->dst_strides[i] != 0)
      return i;
  return -1;
}

// Enqueues the copy. A repeated dimension is filled by copying once from the source, then from the
// destination's own filled part, twice as much each time: a stream runs them in order.
static void enqueue(const struct strided_copy *copy, cuda_stream stream, const char *location) {
  int dim = repeated(copy);
  if (dim < 0) {
    enqueue_pieces(copy, stream, location);
    return;
  }
  int64_t size = copy->sizes[dim], stride = copy->dst_strides[dim];
  struct strided_copy part = *copy;
  strided_drop(&part, dim);
  enqueue(&part, stream, location);

  int64_t sizes[STRIDED_MAX_RANK + 1], strides[STRIDED_MAX_RANK + 1];
  for (int i = 0; i < copy->rank; ++i) {
    sizes[i] = copy->sizes[i];
    strides[i] = copy->dst_strides[i];
  }
  sizes[copy->rank] = copy->width;
  strides[copy->rank] = 1;
  for (int64_t filled = 1; filled < size; filled += sizes[dim]) {
    sizes[dim] = filled < size - filled ? filled : size - filled;
    if (hirc_strided_simplify(&part, copy->dst + filled * stride, copy->dst, copy->rank + 1, sizes,
                              strides, strides, 1))
      enqueue_pieces(&part, stream, location);
  }
}

// Enqueues a copy of bytes, on the host or a device.
void hirc_copy_bytes(void *dst, void *src, int64_t bytes, void *stream, const char *location) {
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    struct hirc_part parts[] = {{&dst, sizeof dst},
                                {&src, sizeof src},
                                {&stream, sizeof stream},
                                {&bytes, sizeof bytes}};
    if (hirc_graph_does(recorder, HIRC_STEP_COPY, parts, 4))
      return;
    hirc_graph_did(recorder);
  }
  check(cudaMemcpyAsync(dst, src, (size_t)bytes, CUDA_MEMCPY_DEFAULT, stream), "cudaMemcpyAsync",
        location);
}

// Copies src to dst, each the address of its view's first element, on the host or a device. Strides
// are in elements; the source's may be 0 (repeated) or negative, and no two elements of the
// destination may share memory, nor the views overlap. Enqueued in `stream`, and waited for unless
// `asynchronous`. One call of CUDA where the views are contiguous or differ from it in one
// dimension, one for each index of the remaining dimensions otherwise.
void hirc_memcpy_strided(void *dst, void *src, int64_t rank, const int64_t *sizes,
                         const int64_t *dst_strides, const int64_t *src_strides,
                         int64_t element_bytes, void *stream, int asynchronous,
                         const char *location) {
  struct strided_copy copy;
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    size_t bytes = (size_t)rank * sizeof *sizes;
    struct hirc_part parts[] = {{&dst, sizeof dst},
                                {&src, sizeof src},
                                {&stream, sizeof stream},
                                {&element_bytes, sizeof element_bytes},
                                {sizes, bytes},
                                {dst_strides, bytes},
                                {src_strides, bytes}};
    if (!asynchronous)
      hirc_graph_abandon(recorder);
    if (hirc_graph_does(recorder, HIRC_STEP_COPY, parts, 7))
      return;
    hirc_graph_did(recorder);
  }
  if (!hirc_strided_simplify(&copy, dst, src, rank, sizes, dst_strides, src_strides,
                             element_bytes))
    return;
  enqueue(&copy, stream, location);
  if (!asynchronous)
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize", location);
}

// The bytes from a view's lowest address to its highest. Returns 0 when it has no element.
static size_t span(const struct memref_descriptor *descriptor, int64_t rank, int64_t element_bytes,
                   char **start) {
  const int64_t *sizes = memref_sizes(descriptor);
  const int64_t *strides = memref_strides(descriptor, rank);
  int64_t below = 0, above = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (sizes[i] <= 0)
      return 0;
    int64_t reach = (sizes[i] - 1) * strides[i];
    if (reach < 0)
      below -= reach;
    else
      above += reach;
  }
  *start = memref_first_element(descriptor, element_bytes) - below * element_bytes;
  return (size_t)((below + above + 1) * element_bytes);
}

static void release_page_lock(void *start, void *stream) {
  cudaStreamSynchronize(stream);
  cudaHostUnregister(start);
  cudaGetLastError();
}

// Page-locks the memory that the memref spans and maps it into the devices' address space. CUDA
// asks for no alignment and locks whole pages by itself.
void hirc_host_register(int64_t rank, void *descriptor, int64_t element_bytes,
                        const char *location) {
  char *start = NULL;
  size_t bytes = span(descriptor, rank, element_bytes, &start);
  if (bytes == 0)
    return;
  check(cudaHostRegister(start, bytes, CUDA_HOST_REGISTER_DEFAULT), "cudaHostRegister", location);
  hirc_own(start, release_page_lock, HIRC_PAGE_LOCK, location);
}

// Undoes hirc_host_register of the same view.
void hirc_host_unregister(int64_t rank, void *descriptor, int64_t element_bytes,
                          const char *location) {
  char *start = NULL;
  if (span(descriptor, rank, element_bytes, &start) == 0)
    return;
  check(cudaHostUnregister(start), "cudaHostUnregister", location);
  hirc_disown(start, HIRC_PAGE_LOCK);
}
