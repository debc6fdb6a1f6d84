// Graphs: what a capture recorded, and launching it.
//
// A graph is a list of commands, each of which depends on others before it. An executable graph is
// one order that respects that; a launch runs it in one stream, so branches of a graph do not
// overlap. Launches of one executable graph follow one another, as in CUDA.

#include "capture.h"
#include "allocation.h"
#include "launch.h"

#include <stdlib.h>
#include <string.h>

struct owned_memory {
  void *start;
  bool freed; // by a node of the graph: it ends with the graph
};

struct hirc_graph {
  _Atomic unsigned references; // the program's, executable graphs', graphs' that contain it
  struct hirc_graph_node **nodes;
  size_t count, room;
  struct owned_memory *memory;
  size_t memory_count;
};

struct hirc_graph_exec {
  _Atomic unsigned references; // the program's, launches'
  struct hirc_graph *graph;
  pthread_mutex_t lock;
  struct hirc_point last; // the newest launch
  size_t count;
  struct exec_node {
    const struct hirc_graph_node *node;
    struct hirc_command *command; // the node's, or one of its own
  } nodes[];
};

bool hirc_frontier_add(struct hirc_frontier *frontier, const struct hirc_frontier *more) {
  if (more->count == 0)
    return true;
  struct hirc_graph_node **nodes =
      realloc(frontier->nodes, (frontier->count + more->count) * sizeof *nodes);
  if (!nodes)
    return false;
  frontier->nodes = nodes;
  for (size_t i = 0; i < more->count; ++i) {
    size_t k = 0;
    while (k < frontier->count && nodes[k] != more->nodes[i])
      ++k;
    if (k == frontier->count)
      nodes[frontier->count++] = more->nodes[i];
  }
  return true;
}

struct hirc_graph *hirc_graph_create(void) {
  struct hirc_graph *graph = calloc(1, sizeof *graph);
  if (graph)
    graph->references = 1;
  return graph;
}

void hirc_graph_release(struct hirc_graph *graph) {
  if (atomic_fetch_sub(&graph->references, 1) != 1)
    return;
  for (size_t i = 0; i < graph->count; ++i) {
    hirc_command_free(graph->nodes[i]->command);
    free(graph->nodes[i]->dependencies.nodes);
    free(graph->nodes[i]);
  }
  for (size_t i = 0; i < graph->memory_count; ++i)
    if (graph->memory[i].freed)
      hirc_allocation_free(graph->memory[i].start, HIRC_MEMORY_ORDERED, true);
  free(graph->memory);
  free(graph->nodes);
  free(graph);
}

struct hirc_graph_node *hirc_graph_add(struct hirc_graph *graph, struct hirc_command *command,
                                       const struct hirc_frontier *dependencies) {
  struct hirc_graph_node *node = calloc(1, sizeof *node);
  if (graph->count == graph->room) {
    size_t room = graph->room ? 2 * graph->room : 16;
    struct hirc_graph_node **nodes = realloc(graph->nodes, room * sizeof *nodes);
    if (nodes) {
      graph->nodes = nodes;
      graph->room = room;
    }
  }
  if (!node || graph->count == graph->room ||
      !hirc_frontier_add(&node->dependencies, dependencies)) {
    free(node);
    hirc_command_free(command);
    return NULL;
  }
  node->graph = graph;
  node->command = command;
  graph->nodes[graph->count++] = node;
  return node;
}

bool hirc_graph_own(struct hirc_graph *graph, void *memory) {
  struct owned_memory *grown =
      realloc(graph->memory, (graph->memory_count + 1) * sizeof *graph->memory);
  if (!grown)
    return false;
  graph->memory = grown;
  graph->memory[graph->memory_count++] = (struct owned_memory){memory, false};
  return true;
}

bool hirc_graph_take_free(struct hirc_graph *graph, void *memory) {
  for (size_t i = 0; i < graph->memory_count; ++i)
    if (graph->memory[i].start == memory && !graph->memory[i].freed)
      return graph->memory[i].freed = true;
  return false;
}

// A captured node comes after those that it depends on.
bool hirc_graph_leads_to(struct hirc_graph *graph, const struct hirc_frontier *frontier) {
  for (size_t i = 0; i < graph->count; ++i)
    graph->nodes[i]->mark = false;
  for (size_t i = 0; i < frontier->count; ++i)
    frontier->nodes[i]->mark = true;
  for (size_t i = graph->count; i-- > 0;) {
    const struct hirc_graph_node *node = graph->nodes[i];
    if (!node->mark)
      return false;
    for (size_t k = 0; k < node->dependencies.count; ++k)
      node->dependencies.nodes[k]->mark = true;
  }
  return true;
}

// --- executable graphs ---------------------------------------------------------------------------

// Adds the node's command after those that it depends on.
static void put_in_order(struct hirc_graph_exec *exec, struct hirc_graph_node *node) {
  if (node->mark)
    return;
  node->mark = true;
  for (size_t i = 0; i < node->dependencies.count; ++i)
    put_in_order(exec, node->dependencies.nodes[i]);
  exec->nodes[exec->count++] = (struct exec_node){node, node->command};
}

static int instantiate(struct hirc_graph_exec **result, struct hirc_graph *graph) {
  if (!result || !graph)
    return CUDA_ERROR_INVALID_VALUE;
  struct hirc_graph_exec *exec = calloc(1, sizeof *exec + graph->count * sizeof *exec->nodes);
  if (!exec)
    return CUDA_ERROR_MEMORY_ALLOCATION;
  exec->references = 1;
  exec->graph = graph;
  atomic_fetch_add(&graph->references, 1);
  pthread_mutex_init(&exec->lock, NULL);
  for (size_t i = 0; i < graph->count; ++i)
    graph->nodes[i]->mark = false;
  for (size_t i = 0; i < graph->count; ++i)
    put_in_order(exec, graph->nodes[i]);
  *result = exec;
  return hirc_device_status();
}

static void release_exec(struct hirc_graph_exec *exec) {
  if (atomic_fetch_sub(&exec->references, 1) != 1)
    return;
  for (size_t i = 0; i < exec->count; ++i)
    if (exec->nodes[i].command != exec->nodes[i].node->command)
      hirc_command_free(exec->nodes[i].command);
  hirc_graph_release(exec->graph);
  pthread_mutex_destroy(&exec->lock);
  free(exec);
}

static int run_launch(void *payload) {
  struct hirc_graph_exec *exec = *(struct hirc_graph_exec **)payload;
  for (size_t i = 0; i < exec->count; ++i)
    hirc_command_run(exec->nodes[i].command);
  return 0;
}

static void release_launch(void *payload) { release_exec(*(struct hirc_graph_exec **)payload); }

static int launch(struct hirc_graph_exec *exec, cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!exec)
    return CUDA_ERROR_INVALID_VALUE;
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  pthread_mutex_lock(&exec->lock);
  struct hirc_command *command;
  int error = hirc_command_begin(stream, sizeof exec, &command);
  if (error == 0) {
    command->run = run_launch;
    command->release = release_launch;
    command->type = HIRC_NODE_GRAPH;
    command->after = exec->last;
    memcpy(command->payload, &exec, sizeof exec);
    atomic_fetch_add(&exec->references, 1);
    struct hirc_point point = hirc_command_end(stream, command);
    exec->last = point.stream ? point : exec->last;
  }
  pthread_mutex_unlock(&exec->lock);
  return error;
}

int hirc_graph_change(struct hirc_graph_exec *exec, const struct hirc_graph_node *node,
                      const struct hirc_function *function,
                      const struct hirc_kernel_change *parameters) {
  if (!exec || !node)
    return CUDA_ERROR_INVALID_VALUE;
  int error = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&exec->lock);
  for (size_t i = 0; i < exec->count; ++i) {
    if (exec->nodes[i].node != node)
      continue;
    struct hirc_command *before = exec->nodes[i].command;
    struct hirc_command *changed = hirc_launch_changed(before, function, parameters, &error);
    if (!changed)
      break;
    // Launches read the commands as they run.
    if (exec->last.stream)
      hirc_wait_for(exec->last);
    exec->nodes[i].command = changed;
    if (before != node->command)
      hirc_command_free(before);
    break;
  }
  pthread_mutex_unlock(&exec->lock);
  return error;
}

// --- calls ---------------------------------------------------------------------------------------

int cudaGraphInstantiate(cuda_graph_exec *exec, cuda_graph graph, unsigned long long flags) {
  if (flags & ~15ull)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(instantiate(exec, graph));
}

int cudaGraphInstantiateWithFlags(cuda_graph_exec *exec, cuda_graph graph,
                                  unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

int cudaGraphUpload(cuda_graph_exec exec, cuda_stream stream) {
  if (!exec)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!hirc_stream_of(stream))
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  return hirc_report(hirc_device_status());
}

int cudaGraphLaunch(cuda_graph_exec exec, cuda_stream stream) {
  return hirc_report(launch(exec, stream));
}

int cudaGraphExecDestroy(cuda_graph_exec exec) {
  if (!exec)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  release_exec(exec);
  return 0;
}

int cudaGraphDestroy(cuda_graph graph) {
  if (!graph)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  hirc_graph_release(graph);
  return 0;
}

int cudaGraphCreate(cuda_graph *graph, unsigned flags) {
  if (!graph || flags != 0)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *graph = hirc_graph_create();
  return hirc_report(*graph ? 0 : CUDA_ERROR_MEMORY_ALLOCATION);
}

// Writes as many of the nodes as there is room for, and how many there are or were written.
static int give_nodes(struct hirc_graph_node *const *nodes, size_t count, cuda_graph_node *to,
                      size_t *room) {
  if (!to) {
    *room = count;
    return 0;
  }
  for (size_t i = 0; i < *room; ++i)
    to[i] = i < count ? nodes[i] : NULL;
  if (*room > count)
    *room = count;
  return 0;
}

int cudaGraphGetNodes(cuda_graph graph, cuda_graph_node *nodes, size_t *count) {
  if (!graph || !count)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return give_nodes(graph->nodes, graph->count, nodes, count);
}

int cudaGraphNodeGetDependencies(cuda_graph_node node, cuda_graph_node *nodes, void *edges,
                                 size_t *count) {
  if (!node || !count)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (edges)
    memset(edges, 0, *count * 8); // cudaGraphEdgeData: a full dependency
  return give_nodes(node->dependencies.nodes, node->dependencies.count, nodes, count);
}

int cudaGraphNodeGetType(cuda_graph_node node, int *type) {
  if (!node || !type)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *type = node->command->type;
  return 0;
}
