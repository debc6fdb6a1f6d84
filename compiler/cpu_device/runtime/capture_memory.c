// Stream-ordered memory under capture: its address is that of every launch of the graph, so it is
// allocated at once; where the graph frees it too it is the graph's and ends with it.

#include "capture.h"
#include "allocation.h"

#include <string.h>

static int run_free(void *payload) {
  hirc_allocation_free(*(void **)payload, HIRC_MEMORY_ORDERED, true);
  return 0;
}

// A node of the type, which does nothing by itself.
static int add_node(struct hirc_stream *stream, uint8_t type, struct hirc_command **added) {
  int error = hirc_command_begin(stream, sizeof(void *), added);
  if (error == 0)
    (*added)->type = type;
  return error;
}

int hirc_capture_malloc(struct hirc_stream *stream, void **pointer, size_t bytes) {
  struct hirc_command *command;
  int error = add_node(stream, HIRC_NODE_MALLOC, &command);
  if (error != 0)
    return error;
  struct hirc_graph *graph = hirc_capture_graph(stream);
  hirc_command_end(stream, command);
  *pointer = hirc_allocation_create(HIRC_MEMORY_ORDERED, bytes, 0);
  return *pointer && hirc_graph_own(graph, *pointer) ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

int hirc_capture_free(struct hirc_stream *stream, void *pointer) {
  struct hirc_allocation found;
  if (!hirc_allocation_find(pointer, &found) || found.start != pointer ||
      found.memory != HIRC_MEMORY_ORDERED)
    return CUDA_ERROR_INVALID_VALUE;
  struct hirc_command *command;
  int error = add_node(stream, HIRC_NODE_FREE, &command);
  if (error != 0)
    return error;
  memcpy(command->payload, &pointer, sizeof pointer);
  if (!hirc_graph_take_free(hirc_capture_graph(stream), pointer))
    command->run = run_free;
  hirc_command_end(stream, command);
  return 0;
}
