// Structs of the driver's calls are CUDA's: compiled, not run. Its header and the runtime's give
// enumerators the same names.

#include <cuda.h>

#include "kernel_nodes.h"

#define SAME_PLACE(our_field, their_field)                                                         \
  _Static_assert(offsetof(struct cuda_driver_kernel_parameters, our_field) ==                      \
                     offsetof(CUDA_KERNEL_NODE_PARAMS_v2, their_field),                            \
                 #their_field)

_Static_assert(sizeof(struct cuda_driver_kernel_parameters) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2),
               "CUDA_KERNEL_NODE_PARAMS_v2");
SAME_PLACE(function, func);
SAME_PLACE(grid, gridDimX);
SAME_PLACE(block, blockDimX);
SAME_PLACE(dynamic_shared_bytes, sharedMemBytes);
SAME_PLACE(arguments, kernelParams);
SAME_PLACE(others, extra);
SAME_PLACE(kernel, kern);
SAME_PLACE(context, ctx);
