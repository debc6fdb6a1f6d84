// cuTensorMapEncodeTiled, whose rules are those of the CUDA driver API's reference.

#include "tensor_map.h"

#include "operations.h"

#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_SUPPORTED = 801 }; // CUresult
enum { INTERLEAVE_NONE, INTERLEAVE_32B = 2, SWIZZLE_128B = 3, PROMOTION_256B = 3 };

uint32_t hirc_tensor_element_bytes(uint32_t type) {
  static const uint8_t bytes[HIRC_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return bytes[type];
}

static bool is_float(int type) { return type >= HIRC_TENSOR_F16; }

static bool valid_dimension(uint32_t i, uint64_t size, uint64_t stride, uint32_t box,
                            uint32_t element_stride) {
  if (size == 0 || size > UINT64_C(1) << 32 || box == 0 || box > 256)
    return false;
  if (element_stride == 0 || element_stride > 8)
    return false;
  return i == 0 || (stride % 16 == 0 && stride < UINT64_C(1) << 40);
}

int hirc_encode_tensor_map_tiled(void *map, int type, uint32_t rank, void *start,
                                 const uint64_t *sizes, const uint64_t *strides,
                                 const uint32_t *box, const uint32_t *element_strides,
                                 int interleave, int swizzle, int l2_promotion, int fill) {
  if (!map || (uintptr_t)map % 64 || type < 0 || type >= HIRC_TENSOR_TYPES || !sizes || !box ||
      !element_strides || rank == 0 || rank > HIRC_TENSOR_RANK || (rank > 1 && !strides))
    return INVALID_VALUE;
  if (interleave < 0 || interleave > INTERLEAVE_32B || swizzle < 0 || swizzle > SWIZZLE_128B ||
      l2_promotion < 0 || l2_promotion > PROMOTION_256B || fill < 0 || fill > 1)
    return INVALID_VALUE;
  if (!start || (uintptr_t)start % 16 || (fill && !is_float(type)))
    return INVALID_VALUE;
  struct hirc_tensor_map it = {.start = (uintptr_t)start,
                               .type = (uint8_t)type,
                               .rank = (uint8_t)rank,
                               .swizzle = (uint8_t)swizzle,
                               .fill_nan = (uint8_t)fill,
                               .magic = HIRC_TENSOR_MAP_MAGIC};
  for (uint32_t i = 0; i < rank; ++i) {
    uint64_t stride = i ? strides[i - 1] : 0;
    if (!valid_dimension(i, sizes[i], stride, box[i], element_strides[i]))
      return INVALID_VALUE;
    it.sizes[i] = (uint32_t)(sizes[i] - 1);
    it.box[i] = (uint16_t)box[i];
    // Without interleaving there is none along the innermost dimension: the driver ignores it.
    it.element_strides[i] = i ? (uint8_t)element_strides[i] : 1;
    if (i)
      it.strides[i - 1] = stride;
  }
  if (interleave != INTERLEAVE_NONE)
    return rank < 3 ? INVALID_VALUE : NOT_SUPPORTED;
  uint64_t row = (uint64_t)box[0] * hirc_tensor_element_bytes((uint32_t)type);
  if (row % 16 || (swizzle && row > UINT64_C(16) << swizzle))
    return INVALID_VALUE;
  memcpy(map, &it, sizeof it);
  return SUCCESS;
}
