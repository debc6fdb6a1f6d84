// Tensor maps: the descriptors that the tensor memory accelerator (sm_90 and newer) copies by.
//
// The integers of nvgpu's attributes and of CUDA's enums are the same, so compiled code passes them
// through (CUDA driver API reference, cuTensorMapEncodeTiled; nvgpu's TensorMap attributes):
//   interleave none 0, 16b 1, 32b 2          l2promo none 0, 64b 1, 128b 2, 256b 3
//   swizzle    none 0, 32b 1, 64b 2, 128b 3  oob     zero 0, nan 1
// Element kinds are CUtensorMapDataType's: u8 0, u16 1, u32 2, i32 3, u64 4, i64 5, f16 6, f32 7,
// f64 8, bf16 9, f32 flushing denormals 10, tf32 11.

#include "check.h"
#include "memref.h"

#include <stdatomic.h>
#include <stdio.h>

enum {
  MAX_RANK = 5,
  FIRST_CUDA_VERSION = 12000, // the version that introduced cuTensorMapEncodeTiled
  INTERLEAVE_NONE = 0,
};

typedef int (*encode_function)(void *map, int element_kind, uint32_t rank, void *start,
                               const uint64_t *sizes, const uint64_t *byte_strides,
                               const uint32_t *box_sizes, const uint32_t *element_strides,
                               int interleave, int swizzle, int l2promo, int oob);

// The tensor as CUDA wants it: the innermost dimension first.
struct tensor {
  char *start;
  uint32_t rank;
  uint64_t sizes[MAX_RANK];
  uint64_t byte_strides[MAX_RANK]; // of every dimension but the innermost
  uint32_t box[MAX_RANK];
  uint32_t steps[MAX_RANK];
};

// The driver's function, found through the runtime so that nothing links to libcuda.
static encode_function find_encode(const char *location) {
  static _Atomic(encode_function) found;
  encode_function encode = atomic_load_explicit(&found, memory_order_acquire);
  if (encode)
    return encode;
  void *symbol = NULL;
  int status = 0;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, FIRST_CUDA_VERSION, 0,
                                         &status),
        "cudaGetDriverEntryPointByVersion", location);
  if (!symbol || status != 0)
    hirc_check_failed(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "cuTensorMapEncodeTiled", location,
                      NULL);
  encode = (encode_function)symbol;
  atomic_store_explicit(&found, encode, memory_order_release);
  return encode;
}

// CUDA says no more than "invalid argument": finds the rule of its reference that is broken.
// Returns false when it finds none.
static int explain(char *text, size_t room, const struct tensor *tensor, const void *map,
                   int64_t element_bytes, int interleave, int swizzle) {
  unsigned long long alignment = interleave == 2 ? 32 : 16;
  unsigned long long inner = tensor->box[0] * (unsigned long long)element_bytes;
  if ((uintptr_t)tensor->start % alignment != 0)
    return snprintf(text, room, "the tensor must start at a multiple of %llu bytes, not at %p",
                    alignment, (void *)tensor->start);
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    unsigned dim = tensor->rank - 1 - i;
    unsigned long long size = tensor->sizes[i], stride = i ? tensor->byte_strides[i - 1] : 0;
    if (size == 0 || size > UINT64_C(1) << 32)
      return snprintf(text, room, "the size of dimension %u must be 1 to 2^32, not %llu", dim,
                      size);
    if (stride % alignment != 0 || stride >= UINT64_C(1) << 40)
      return snprintf(text, room,
                      "the stride of dimension %u must be a multiple of %llu bytes below 2^40, "
                      "not %llu",
                      dim, alignment, stride);
    if (tensor->box[i] == 0 || tensor->box[i] > 256)
      return snprintf(text, room, "the box must be 1 to 256 elements along dimension %u, not %u",
                      dim, tensor->box[i]);
    if (tensor->steps[i] == 0 || tensor->steps[i] > 8)
      return snprintf(text, room, "the step along dimension %u must be 1 to 8, not %u", dim,
                      tensor->steps[i]);
  }
  if (interleave != INTERLEAVE_NONE)
    return tensor->rank < 3 ? snprintf(text, room, "interleaving needs a tensor of rank 3 or more")
                            : 0;
  if (inner % 16 != 0)
    return snprintf(text, room, "a row of the box must be a multiple of 16 bytes, not %llu", inner);
  if (swizzle >= 1 && swizzle <= 3 && inner > 16ULL << swizzle)
    return snprintf(text, room,
                    "a row of the box must fit in the swizzle's %llu bytes, not be %llu",
                    16ULL << swizzle, inner);
  if ((uintptr_t)map % 64 != 0)
    return snprintf(text, room, "the map must lie at a multiple of 64 bytes, not at %p", map);
  return 0;
}

// Writes the 128-byte tensor map of the tensor behind a memref descriptor. The memref's innermost
// dimension is contiguous; `box_sizes`, in elements and in the memref's order of dimensions, is
// what one copy passes over, and `steps` how far apart the elements are that it moves.
void hirc_tensor_map_encode(void *map, int64_t rank, void *ranked_descriptor, int element_kind,
                            int64_t element_bytes, const int64_t *box_sizes,
                            const int64_t *steps, int interleave, int swizzle, int l2promo, int oob,
                            const char *location) {
  const struct memref_descriptor *descriptor = ranked_descriptor;
  if (rank < 1 || rank > MAX_RANK)
    hirc_check_failed(CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeTiled", location,
                      "a tensor map has 1 to 5 dimensions");
  const int64_t *sizes = memref_sizes(descriptor);
  const int64_t *strides = memref_strides(descriptor, rank);
  if (sizes[rank - 1] > 1 && strides[rank - 1] != 1)
    hirc_check_failed(CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeTiled", location,
                      "the innermost dimension of the tensor must be contiguous");

  struct tensor tensor = {.start = memref_first_element(descriptor, element_bytes),
                          .rank = (uint32_t)rank};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim = rank - 1 - i;
    int64_t box = box_sizes[dim];
    tensor.sizes[i] = (uint64_t)sizes[dim];
    tensor.box[i] = box < 0 || box > UINT32_MAX ? UINT32_MAX : (uint32_t)box;
    tensor.steps[i] = (uint32_t)steps[dim];
    if (i > 0)
      tensor.byte_strides[i - 1] = (uint64_t)(strides[dim] * element_bytes);
  }
  int rc = find_encode(location)(map, element_kind, tensor.rank, tensor.start, tensor.sizes,
                                 tensor.byte_strides, tensor.box, tensor.steps, interleave,
                                 swizzle, l2promo, oob);
  if (__builtin_expect(rc == 0, 1))
    return;
  // The driver's and the runtime's errors share their numbers.
  char text[160];
  int explained = explain(text, sizeof text, &tensor, map, element_bytes, interleave, swizzle);
  hirc_check_failed(rc, "cuTensorMapEncodeTiled", location, explained > 0 ? text : NULL);
}
