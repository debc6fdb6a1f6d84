// The driver's functions that this device has, by name.

#include "cuda_abi.h"
#include "errors.h"
#include "kernel_nodes.h"

#include <string.h>

enum { FOUND = 0, NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 };

// What cuTensorMapEncodeTiled is: operations/ implements it.
int hirc_encode_tensor_map_tiled(void *map, int element_kind, uint32_t rank, void *start,
                                 const uint64_t *sizes, const uint64_t *byte_strides,
                                 const uint32_t *box_sizes, const uint32_t *element_strides,
                                 int interleave, int swizzle, int l2promo, int oob);

// What cuCtxGetDevice, cuStreamIsCapturing and cuGraphLaunch are: as the runtime does it.
int cudaGetDevice(int *device);
int cudaStreamIsCapturing(cuda_stream stream, int *status);
int cudaGraphLaunch(cuda_graph_exec exec, cuda_stream stream);

struct entry_point {
  const char *name;
  void *function;
  unsigned version; // of CUDA, the first with it
};

int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *status) {
  static const struct entry_point entry_points[] = {
      {"cuTensorMapEncodeTiled", (void *)hirc_encode_tensor_map_tiled, 12000},
      {"cuCtxGetDevice", (void *)cudaGetDevice, 2000},
      {"cuStreamIsCapturing", (void *)cudaStreamIsCapturing, 10000},
      {"cuGraphLaunch", (void *)cudaGraphLaunch, 10000},
      {"cuGraphKernelNodeGetParams", (void *)hirc_driver_node_parameters, 12000},
      {"cuKernelGetFunction", (void *)hirc_driver_function_of_kernel, 12000},
      {"cuGraphExecKernelNodeSetParams", (void *)hirc_driver_change_node, 12000},
  };
  if (!name || !function || flags > 2)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *function = NULL;
  int result = NOT_FOUND;
  for (size_t i = 0; i < sizeof entry_points / sizeof *entry_points; ++i) {
    if (strcmp(entry_points[i].name, name) != 0)
      continue;
    result = version >= entry_points[i].version ? FOUND : VERSION_NOT_SUFFICIENT;
    if (result == FOUND)
      *function = entry_points[i].function;
  }
  if (status)
    *status = result;
  return 0;
}

int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                            int *status) {
  return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, status);
}
