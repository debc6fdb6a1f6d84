// The driver's calls about kernels' nodes of graphs, as entry_points.c names them. Their errors are
// not the runtime's: cudaGetLastError does not know them.
#ifndef HIRC_KERNEL_NODES_H
#define HIRC_KERNEL_NODES_H

#include "device_abi.h"

struct hirc_graph_exec;
struct hirc_graph_node;

struct cuda_driver_kernel_parameters { // CUDA_KERNEL_NODE_PARAMS_v2
  void *function;
  struct hirc_extent grid, block;
  unsigned dynamic_shared_bytes;
  void **arguments;
  void **others;
  void *kernel; // read where there is no function
  void *context;
};

// cuGraphKernelNodeGetParams_v2
int hirc_driver_node_parameters(struct hirc_graph_node *node,
                                struct cuda_driver_kernel_parameters *parameters);
// cuKernelGetFunction
int hirc_driver_function_of_kernel(void **function, void *kernel);
// cuGraphExecKernelNodeSetParams_v2
int hirc_driver_change_node(struct hirc_graph_exec *exec, struct hirc_graph_node *node,
                            const struct cuda_driver_kernel_parameters *parameters);

#endif
