// What device graphs ask of the driver rather than of the runtime, which takes longer.
//
// A replay asks CUDA for no more than which device is current, whether the stream is captured, and
// the launch. A node is changed faster, too: the runtime looks its kernel up by the stub each time,
// and here that is done once, when the launch is captured. Where the driver lacks a
// function, and on devices that have none of its functions, the runtime does it. What fails here
// leaves no error behind: the caller does without.

#include "graph_driver.h"
#include "driver.h"

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

// Its functions: all of them or none.
static struct {
  int (*get_device)(int *device);
  int (*is_capturing)(cuda_stream stream, int *status);
  int (*launch)(cuda_graph_exec made, cuda_stream stream);
  int (*get_parameters)(cuda_graph_node node, struct kernel_parameters *parameters);
  int (*get_function)(void **function, void *kernel);
  int (*change)(cuda_graph_exec made, cuda_graph_node node,
                const struct kernel_parameters *parameters);
} driver;

static bool find_all(void) {
  return hirc_driver_find("cuCtxGetDevice", &driver.get_device) &&
         hirc_driver_find("cuStreamIsCapturing", &driver.is_capturing) &&
         hirc_driver_find("cuGraphLaunch", &driver.launch) &&
         hirc_driver_find("cuGraphKernelNodeGetParams", &driver.get_parameters) &&
         hirc_driver_find("cuKernelGetFunction", &driver.get_function) &&
         hirc_driver_find("cuGraphExecKernelNodeSetParams", &driver.change);
}

// Whether the driver has them; it is asked once. Two threads at a time find the same.
static bool has_driver(void) {
  enum { UNKNOWN, MISSING, FOUND };
  static int known;
  int state = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
  if (state == UNKNOWN) {
    state = find_all() ? FOUND : MISSING;
    __atomic_store_n(&known, state, __ATOMIC_RELEASE);
  }
  return state == FOUND;
}

// A thread that did nothing on a device yet has no context, which the driver needs for all that
// follows: the runtime makes its own current.
int hirc_graph_device(int *device) {
  if (!has_driver())
    return cudaGetDevice(device);
  if (driver.get_device(device) == 0)
    return 0;
  int rc = cudaGetDevice(device);
  return rc ? rc : cudaSetDevice(*device);
}

int hirc_graph_is_captured(cuda_stream stream, int *status) {
  return has_driver() ? driver.is_capturing(stream, status) : cudaStreamIsCapturing(stream, status);
}

int hirc_graph_launch(cuda_graph_exec made, cuda_stream stream) {
  return has_driver() ? driver.launch(made, stream) : cudaGraphLaunch(made, stream);
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
