// What device graphs ask of the driver: see graph_driver.c.
#ifndef HIRC_GRAPH_DRIVER_H
#define HIRC_GRAPH_DRIVER_H

#include "cuda_runtime_abi.h"
#include "graphs.h"

// The number of the current device.
int hirc_graph_device(int *device);

// Whether the stream is captured, as cudaStreamIsCapturing.
int hirc_graph_is_captured(cuda_stream stream, int *status);

int hirc_graph_launch(cuda_graph_exec made, cuda_stream stream);

// The node that a captured launch became, and its kernel as the driver knows it; NULL where that is
// not known.
struct hirc_kernel_node {
  cuda_graph_node node;
  void *function;
};

// Finds the node of the launch that was captured last in the stream. Returns false where CUDA does
// not tell.
bool hirc_kernel_node_find(struct hirc_kernel_node *found, void *stream);

// Changes extents, dynamic shared memory and arguments of the node's launches to come. Returns false
// where CUDA refuses.
bool hirc_kernel_node_change(cuda_graph_exec made, struct hirc_kernel_node *kernel,
                             const struct hirc_graph_launch *launch, void **arguments);

#endif
