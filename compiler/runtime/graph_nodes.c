// The kernels' nodes of device graphs.
//
// The driver changes a node faster than the runtime does, which looks its kernel up by the stub each
// time: here that is done once, when the launch is captured. Where the driver lacks a function, and
// on devices that have none of its functions, the runtime changes the node. What fails here leaves
// no error behind: the caller does without.

#include "graph_nodes.h"

enum { FIRST_CUDA_VERSION = 12000 }; // of the functions as they are declared here

// CUDA_KERNEL_NODE_PARAMS_v2.
struct kernel_parameters {
  void *function;
  struct cuda_extent grid, block;
  unsigned dynamic_shared_bytes;
  void **arguments;
  void **others;
  void *kernel;  // read where there is no function
  void *context; // of the kernel; NULL: the current one
};

// Its functions, found through the runtime so that nothing links to libcuda: all of them or none.
static struct {
  int (*get_parameters)(cuda_graph_node node, struct kernel_parameters *parameters);
  int (*get_function)(void **function, void *kernel);
  int (*change)(cuda_graph_exec made, cuda_graph_node node,
                const struct kernel_parameters *parameters);
} driver;

static bool find(const char *name, void *function) {
  void *symbol = NULL;
  int status = 0;
  if (cudaGetDriverEntryPointByVersion(name, &symbol, FIRST_CUDA_VERSION, 0, &status) != 0 ||
      status != 0)
    symbol = NULL;
  __atomic_store_n((void **)function, symbol, __ATOMIC_RELAXED);
  return symbol != NULL;
}

// Whether the driver has them; it is asked once. Two threads at a time find the same.
static bool has_driver(void) {
  enum { UNKNOWN, MISSING, FOUND };
  static int known;
  int state = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (state == UNKNOWN) {
    state = find("cuGraphKernelNodeGetParams", &driver.get_parameters) &&
                    find("cuKernelGetFunction", &driver.get_function) &&
                    find("cuGraphExecKernelNodeSetParams", &driver.change)
                ? FOUND
                : MISSING;
    cudaGetLastError();
    __atomic_store_n(&known, state, __ATOMIC_RELEASE);
  }
  return state == FOUND;
}

// The driver's name of a node's kernel in the current context.
static void *function_of(cuda_graph_node node) {
  struct kernel_parameters parameters = {0};
  void *function = NULL;
  if (!has_driver() || driver.get_parameters(node, &parameters) != 0)
    return NULL;
  if (parameters.function)
    return parameters.function;
  return parameters.kernel && driver.get_function(&function, parameters.kernel) == 0 ? function
                                                                                     : NULL;
}

// It is what the next launch in the stream would follow.
bool hirc_kernel_node_find(struct hirc_kernel_node *found, void *stream) {
  int status = 0;
  unsigned long long id = 0;
  cuda_graph graph = NULL;
  const cuda_graph_node *nodes = NULL;
  const void *edges = NULL;
  size_t node_count = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &edges, &node_count) != 0) {
    cudaGetLastError();
    return false;
  }
  if (node_count != 1)
    return false;
  *found = (struct hirc_kernel_node){nodes[0], function_of(nodes[0])};
  return true;
}

static struct cuda_extent extent(const int64_t sizes[3]) {
  return (struct cuda_extent){(unsigned)sizes[0], (unsigned)sizes[1], (unsigned)sizes[2]};
}

static bool change_by_runtime(cuda_graph_exec made, cuda_graph_node node,
                              const struct hirc_graph_launch *launch, void **arguments) {
  struct cuda_kernel_node_parameters parameters = {
      .stub = (void *)(uintptr_t)launch->stub,
      .grid = extent(launch->grid),
      .block = extent(launch->block),
      .dynamic_shared_bytes = (unsigned)launch->dynamic_shared_bytes,
      .arguments = arguments};
  if (cudaGraphExecKernelNodeSetParams(made, node, &parameters) == 0)
    return true;
  cudaGetLastError();
  return false;
}

bool hirc_kernel_node_change(cuda_graph_exec made, struct hirc_kernel_node *kernel,
                             const struct hirc_graph_launch *launch, void **arguments) {
  struct kernel_parameters parameters = {
      .function = kernel->function,
      .grid = extent(launch->grid),
      .block = extent(launch->block),
      .dynamic_shared_bytes = (unsigned)launch->dynamic_shared_bytes,
      .arguments = arguments};
  if (kernel->function && driver.change(made, kernel->node, &parameters) == 0)
    return true;
  // What the driver refuses once is not asked of it again.
  kernel->function = NULL;
  return change_by_runtime(made, kernel->node, launch, arguments);
}
