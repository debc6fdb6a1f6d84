// The tensor of the DLPack specification (version 1), declared here so that the support library
// needs no header of anybody's.
#ifndef HIRC_DLPACK_ABI_H
#define HIRC_DLPACK_ABI_H

#include <stdint.h>

// DLDeviceType.
enum {
  DL_CPU = 1,
  DL_CUDA = 2,
  DL_CUDA_HOST = 3,
  DL_ROCM = 10,
  DL_ROCM_HOST = 11,
  DL_CUDA_MANAGED = 13,
};

// DLDataTypeCode.
enum {
  DL_INT = 0,
  DL_UINT = 1,
  DL_FLOAT = 2,
  DL_BFLOAT = 4,
  DL_COMPLEX = 5,
  DL_BOOL = 6,
  DL_FLOAT8_E3M4 = 7,
  DL_FLOAT8_E4M3 = 8,
  DL_FLOAT8_E4M3B11FNUZ = 9,
  DL_FLOAT8_E4M3FN = 10,
  DL_FLOAT8_E4M3FNUZ = 11,
  DL_FLOAT8_E5M2 = 12,
  DL_FLOAT8_E5M2FNUZ = 13,
  DL_FLOAT8_E8M0FNU = 14,
};

struct dl_device {
  int32_t type;
  int32_t number;
};

struct dl_data_type {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

// DLTensor. Strides count elements; without them the elements lie packed, row by row.
struct dl_tensor {
  void *data;
  struct dl_device device;
  int32_t rank;
  struct dl_data_type type;
  int64_t *sizes;
  int64_t *strides;
  uint64_t byte_offset;
};

// DLManagedTensor: the deleter frees the tensor and the struct.
struct dl_managed_tensor {
  struct dl_tensor tensor;
  void *owner;
  void (*deleter)(struct dl_managed_tensor *self);
};

// DLManagedTensorVersioned. No flag: others may write to it.
struct dl_versioned_tensor {
  uint32_t major;
  uint32_t minor;
  void *owner;
  void (*deleter)(struct dl_versioned_tensor *self);
  uint64_t flags;
  struct dl_tensor tensor;
};

#endif
