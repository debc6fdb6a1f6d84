// The reductions of cp.reduce.async.bulk.tensor, element by element.

#include "tensor_reduce.h"

#include "elements.h"
#include "tensor_map.h"

#include <math.h>
#include <string.h>

static int32_t float_element(uint32_t type) {
  switch (type) {
  case HIRC_TENSOR_F16:
    return HIRC_F16;
  case HIRC_TENSOR_BF16:
    return HIRC_BF16;
  case HIRC_TENSOR_F64:
    return HIRC_F64;
  default:
    return HIRC_F32;
  }
}

static uint64_t combine_floats(uint32_t reduction, int32_t element, uint64_t a, uint64_t b) {
  double x = hirc_decode_float(element, a), y = hirc_decode_float(element, b);
  double result = reduction == HIRC_TENSOR_ADD   ? x + y
                  : reduction == HIRC_TENSOR_MIN ? fmin(x, y)
                                                 : fmax(x, y);
  return hirc_encode_float(element, result);
}

static uint64_t combine_integers(uint32_t reduction, bool is_signed, uint64_t a, uint64_t b) {
  bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;
  switch (reduction) {
  case HIRC_TENSOR_ADD:
    return a + b;
  case HIRC_TENSOR_MIN:
    return less ? a : b;
  case HIRC_TENSOR_MAX:
    return less ? b : a;
  case HIRC_TENSOR_INC:
    return a >= b ? 0 : a + 1;
  case HIRC_TENSOR_DEC:
    return a == 0 || a > b ? b : a - 1;
  case HIRC_TENSOR_AND:
    return a & b;
  case HIRC_TENSOR_OR:
    return a | b;
  default:
    return a ^ b;
  }
}

static uint64_t combine(uint32_t reduction, uint32_t type, uint64_t a, uint64_t b) {
  bool bitwise = reduction >= HIRC_TENSOR_AND;
  if (type >= HIRC_TENSOR_F16 && !bitwise)
    return combine_floats(reduction, float_element(type), a, b);
  bool is_signed = type == HIRC_TENSOR_I32 || type == HIRC_TENSOR_I64;
  if (type == HIRC_TENSOR_I32) {
    a = (uint64_t)(int64_t)(int32_t)a;
    b = (uint64_t)(int64_t)(int32_t)b;
  }
  return combine_integers(reduction, is_signed, a, b);
}

#define REDUCE(integer)                                                                            \
  do {                                                                                             \
    integer old = __atomic_load_n((integer *)global, __ATOMIC_RELAXED), new, operand;              \
    memcpy(&operand, shared, sizeof operand);                                                      \
    do                                                                                             \
      new = (integer)combine(reduction, type, old, operand);                                       \
    while (!__atomic_compare_exchange_n((integer *)global, &old, new, true, __ATOMIC_ACQ_REL,      \
                                        __ATOMIC_RELAXED));                                        \
  } while (0)

void hirc_reduce_element(char *global, const char *shared, uint32_t bytes, uint32_t type,
                         uint32_t reduction) {
  switch (bytes) {
  case 1:
    REDUCE(uint8_t);
    break;
  case 2:
    REDUCE(uint16_t);
    break;
  case 4:
    REDUCE(uint32_t);
    break;
  default:
    REDUCE(uint64_t);
  }
}
