// What the 128 bytes of a tensor map hold on the CPU device.
#ifndef HIRC_OPERATIONS_TENSOR_MAP_H
#define HIRC_OPERATIONS_TENSOR_MAP_H

#include <stdint.h>

enum { HIRC_TENSOR_RANK = 5 };

// CUtensorMapDataType.
enum hirc_tensor_type {
  HIRC_TENSOR_U8,
  HIRC_TENSOR_U16,
  HIRC_TENSOR_U32,
  HIRC_TENSOR_I32,
  HIRC_TENSOR_U64,
  HIRC_TENSOR_I64,
  HIRC_TENSOR_F16,
  HIRC_TENSOR_F32,
  HIRC_TENSOR_F64,
  HIRC_TENSOR_BF16,
  HIRC_TENSOR_F32_FTZ,
  HIRC_TENSOR_TF32,
  HIRC_TENSOR_TF32_FTZ,
  HIRC_TENSOR_TYPES,
};

struct hirc_tensor_map {
  uint64_t start;
  uint64_t strides[HIRC_TENSOR_RANK - 1]; // bytes, of every dimension but the innermost
  uint32_t sizes[HIRC_TENSOR_RANK];       // less one: a size may be 2^32
  uint16_t box[HIRC_TENSOR_RANK];
  uint8_t element_strides[HIRC_TENSOR_RANK];
  uint8_t type, rank, swizzle, fill_nan;
  char unused[39];
  uint32_t magic; // tells maps from bytes that are none
};

_Static_assert(sizeof(struct hirc_tensor_map) == 128, "cuTensorMap has 128 bytes");

enum { HIRC_TENSOR_MAP_MAGIC = 0x6869724d };

uint32_t hirc_tensor_element_bytes(uint32_t type);

#endif
