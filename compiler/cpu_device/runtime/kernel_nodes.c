// Kernels' nodes of graphs, by the runtime's calls and the driver's.
//
// The driver's kernels and functions are what stubs were registered as. Of a captured node GPUs tell
// both; here the kernel alone, of which callers get the function.

#include "kernel_nodes.h"
#include "capture.h"
#include "launch.h"
#include "registration.h"

int cudaGraphExecKernelNodeSetParams(cuda_graph_exec exec, cuda_graph_node node,
                                     const struct cuda_kernel_node_parameters *parameters) {
  if (!parameters)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  const struct hirc_kernel_change change = {parameters->grid, parameters->block,
                                            parameters->dynamic_shared_bytes,
                                            parameters->arguments};
  return hirc_report(
      hirc_graph_change(exec, node, hirc_function_of(parameters->stub), &change));
}

int hirc_driver_node_parameters(struct hirc_graph_node *node,
                                struct cuda_driver_kernel_parameters *parameters) {
  if (!node || !parameters || node->command->type != HIRC_NODE_KERNEL)
    return CUDA_ERROR_INVALID_VALUE;
  const struct hirc_grid *grid = hirc_launch_grid(node->command);
  *parameters = (struct cuda_driver_kernel_parameters){
      .grid = grid->grid,
      .block = grid->block,
      .dynamic_shared_bytes = grid->dynamic_shared_bytes,
      .arguments = (void **)(uintptr_t)grid->arguments,
      .kernel = (void *)(uintptr_t)hirc_launch_function(node->command)};
  return hirc_device_status();
}

int hirc_driver_function_of_kernel(void **function, void *kernel) {
  if (!function || !kernel)
    return CUDA_ERROR_INVALID_VALUE;
  *function = kernel;
  return hirc_device_status();
}

int hirc_driver_change_node(struct hirc_graph_exec *exec, struct hirc_graph_node *node,
                            const struct cuda_driver_kernel_parameters *parameters) {
  if (!parameters || parameters->others)
    return CUDA_ERROR_INVALID_VALUE;
  const struct hirc_kernel_change change = {parameters->grid, parameters->block,
                                            parameters->dynamic_shared_bytes,
                                            parameters->arguments};
  return hirc_graph_change(exec, node,
                           parameters->function ? parameters->function : parameters->kernel,
                           &change);
}
