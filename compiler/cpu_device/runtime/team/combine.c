// How the elements of a team's processes are combined.

#include "shared.h"

#include <string.h>

#define EACH_TYPE(DO)                                                                              \
  DO(NCCL_INT8, int8_t)                                                                            \
  DO(NCCL_UINT8, uint8_t)                                                                          \
  DO(NCCL_INT32, int32_t)                                                                          \
  DO(NCCL_UINT32, uint32_t)                                                                        \
  DO(NCCL_INT64, int64_t)                                                                          \
  DO(NCCL_UINT64, uint64_t)                                                                        \
  DO(NCCL_FLOAT32, float)                                                                          \
  DO(NCCL_FLOAT64, double)

int hirc_team_type_bytes(int type) {
  switch (type) {
#define BYTES(number, c_type)                                                                      \
  case number:                                                                                     \
    return sizeof(c_type);
    EACH_TYPE(BYTES)
#undef BYTES
  default: // the two of 16 bits
    return 2;
  }
}

static float widened(uint16_t bits, int type) {
  if (type == NCCL_FLOAT16) {
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
  }
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static uint16_t narrowed(float value, int type) {
  uint16_t bits;
  if (type == NCCL_FLOAT16) {
    _Float16 half = (_Float16)value;
    memcpy(&bits, &half, sizeof bits);
    return bits;
  }
  uint32_t wide;
  memcpy(&wide, &value, sizeof wide);
  if (value != value)
    return (uint16_t)(wide >> 16 | 0x40);
  return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

// Sums and products of signed integers wrap.
#define SUM(c_type, x, y) ((c_type)((x) + (y)))
#define PROD(c_type, x, y) ((c_type)((x) * (y)))
#define MAX(c_type, x, y) ((x) > (y) ? (x) : (y))
#define MIN(c_type, x, y) ((x) < (y) ? (x) : (y))

#define LOOP(c_type, operation)                                                                    \
  for (uint64_t i = 0; i < count; ++i)                                                             \
    mine[i] = operation(c_type, mine[i], theirs[i]);

#define COMBINE(number, c_type)                                                                    \
  case number: {                                                                                   \
    c_type *mine = into;                                                                           \
    const c_type *theirs = other;                                                                  \
    if (reduction == NCCL_PROD)                                                                    \
      LOOP(c_type, PROD)                                                                           \
    else if (reduction == NCCL_MAX)                                                                \
      LOOP(c_type, MAX)                                                                            \
    else if (reduction == NCCL_MIN)                                                                \
      LOOP(c_type, MIN)                                                                            \
    else                                                                                           \
      LOOP(c_type, SUM)                                                                            \
    break;                                                                                         \
  }

static float combined(float x, float y, int reduction) {
  switch (reduction) {
  case NCCL_PROD:
    return x * y;
  case NCCL_MAX:
    return x > y ? x : y;
  case NCCL_MIN:
    return x < y ? x : y;
  default:
    return x + y;
  }
}

void hirc_team_combine(void *into, const void *other, uint64_t count, int type, int reduction) {
  switch (type) {
    EACH_TYPE(COMBINE)
  default: {
    uint16_t *mine = into;
    const uint16_t *theirs = other;
    for (uint64_t i = 0; i < count; ++i)
      mine[i] = narrowed(combined(widened(mine[i], type), widened(theirs[i], type), reduction), type);
  }
  }
}

#define DIVIDE(number, c_type)                                                                     \
  case number:                                                                                     \
    for (uint64_t i = 0; i < count; ++i)                                                           \
      ((c_type *)values)[i] = (c_type)(((c_type *)values)[i] / (c_type)by);                        \
    break;

void hirc_team_divide(void *values, uint64_t count, int type, int by) {
  switch (type) {
    EACH_TYPE(DIVIDE)
  default: {
    uint16_t *each = values;
    for (uint64_t i = 0; i < count; ++i)
      each[i] = narrowed(widened(each[i], type) / (float)by, type);
  }
  }
}
