// Where commands are stored: nodes of one size, which a stream takes from its free list and its
// worker gives back without a lock; a larger payload has memory of its own.

#include "stream.h"

#include <stdlib.h>

enum {
  NODE_ROOM = 448, // of a payload: a launch with its arguments
  NODES = 64,      // allocated at a time
};

// Nodes that were allocated together.
struct hirc_nodes {
  struct hirc_nodes *others;
  _Alignas(struct hirc_command) char memory[NODES][sizeof(struct hirc_command) + NODE_ROOM];
};

struct hirc_command *hirc_command_allocate(size_t payload_bytes) {
  struct hirc_command *command = malloc(sizeof *command + payload_bytes);
  if (command)
    *command = (struct hirc_command){.room = UINT32_MAX};
  return command;
}

void hirc_command_free(struct hirc_command *command) {
  if (command->release)
    command->release(command->payload);
  free(command);
}

static bool more_nodes(struct hirc_stream *stream) {
  stream->spare = atomic_exchange_explicit(&stream->returned, NULL, memory_order_acquire);
  if (stream->spare)
    return true;
  struct hirc_nodes *nodes = malloc(sizeof *nodes);
  if (!nodes)
    return false;
  nodes->others = stream->nodes;
  stream->nodes = nodes;
  for (size_t i = 0; i < NODES; ++i) {
    struct hirc_command *node = (struct hirc_command *)nodes->memory[i];
    node->room = NODE_ROOM;
    node->next = stream->spare;
    stream->spare = node;
  }
  return true;
}

struct hirc_command *hirc_take_node(struct hirc_stream *stream, size_t payload_bytes) {
  if (payload_bytes > NODE_ROOM)
    return hirc_command_allocate(payload_bytes);
  if (!stream->spare && !more_nodes(stream))
    return NULL;
  struct hirc_command *node = stream->spare;
  stream->spare = node->next;
  *node = (struct hirc_command){.room = NODE_ROOM};
  return node;
}

void hirc_give_node(struct hirc_stream *stream, struct hirc_command *node) {
  if (node->room != NODE_ROOM) {
    free(node);
    return;
  }
  struct hirc_command *first = atomic_load_explicit(&stream->returned, memory_order_relaxed);
  do
    node->next = first;
  while (!atomic_compare_exchange_weak_explicit(&stream->returned, &first, node,
                                                memory_order_release, memory_order_relaxed));
}

void hirc_free_nodes(struct hirc_stream *stream) {
  while (stream->nodes) {
    struct hirc_nodes *nodes = stream->nodes;
    stream->nodes = nodes->others;
    free(nodes);
  }
}
