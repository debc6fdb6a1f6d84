"""DLPack's DLTensor for tests' programs in C, which include <stdint.h> before it."""

DL_TENSOR = """\
typedef struct {
  void *data;
  struct { int32_t device_type, device_id; } device;
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;
"""
