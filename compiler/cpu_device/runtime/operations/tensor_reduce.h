#ifndef HIRC_OPERATIONS_TENSOR_REDUCE_H
#define HIRC_OPERATIONS_TENSOR_REDUCE_H

#include <stdint.h>

// Combines an element in global memory with one in shared memory, atomically. `type` is the map's,
// `reduction` enum hirc_tensor_reduction.
void hirc_reduce_element(char *global, const char *shared, uint32_t bytes, uint32_t type,
                         uint32_t reduction);

#endif
