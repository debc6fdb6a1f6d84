// Matrix elements as bits and as numbers. Floating-point elements are computed with as doubles,
// which hold every product of two of them exactly; integers as 64-bit integers.
#ifndef HIRC_OPERATIONS_ELEMENTS_H
#define HIRC_OPERATIONS_ELEMENTS_H

#include "operations.h"

uint32_t hirc_element_bits(int32_t type);
bool hirc_element_is_integer(int32_t type);
double hirc_decode_float(int32_t type, uint64_t bits);
uint64_t hirc_encode_float(int32_t type, double value);
int64_t hirc_decode_integer(int32_t type, uint64_t bits);

#endif
