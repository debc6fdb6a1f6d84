// Capturing streams into graphs: see capture.c and graphs.c.
#ifndef HIRC_CAPTURE_H
#define HIRC_CAPTURE_H

#include "stream.h"

// Nodes that what comes next depends on.
struct hirc_frontier {
  struct hirc_graph_node **nodes;
  size_t count;
};

struct hirc_graph_node {
  struct hirc_graph *graph;
  struct hirc_command *command;
  struct hirc_frontier dependencies;
  bool mark; // while the graph is walked
};

// How many captures go on in the process.
extern _Atomic int hirc_capture_count;

static inline bool hirc_captures_running(void) {
  return atomic_load_explicit(&hirc_capture_count, memory_order_relaxed) != 0;
}

// Whether a command may be enqueued in the stream: an error if not, which may end a capture.
int hirc_capture_check(struct hirc_stream *stream);

// An error if the calling thread may not make a call now that CUDA forbids during a capture.
int hirc_capture_forbid(void);
// The same for a call that would wait for the stream.
int hirc_capture_forbid_stream(struct hirc_stream *stream);

void hirc_capture_add(struct hirc_capture *capture, struct hirc_stream *stream,
                      struct hirc_command *command);
// The graph that the stream's commands go into.
struct hirc_graph *hirc_capture_graph(struct hirc_stream *stream);
int hirc_capture_malloc(struct hirc_stream *stream, void **pointer, size_t bytes);
int hirc_capture_free(struct hirc_stream *stream, void *pointer);

// What an event recorded in a stream under capture stands for.
struct hirc_captured_event {
  uint64_t capture; // its id, 0: none
  struct hirc_frontier frontier;
};

void hirc_capture_record(struct hirc_stream *stream, struct hirc_captured_event *event);
int hirc_capture_wait(struct hirc_stream *stream, const struct hirc_captured_event *event);
// The error for asking about such an event from the host, which also invalidates the capture.
int hirc_capture_ask(const struct hirc_captured_event *event);
// Invalidates the capture that the stream is in.
void hirc_capture_invalidate(struct hirc_stream *stream);
// The stream is destroyed: a capture that it began ends, another becomes invalid.
void hirc_capture_leave(struct hirc_stream *stream);
// After fork(), in the child: the captures are the parent's. Streams forget theirs in streams.c.
void hirc_capture_forget(void);
void hirc_captured_event_clear(struct hirc_captured_event *event);

// --- graphs --------------------------------------------------------------------------------------

struct hirc_graph *hirc_graph_create(void);
void hirc_graph_release(struct hirc_graph *graph);
// Adds the command, which the graph then owns; NULL if there is no memory for it.
struct hirc_graph_node *hirc_graph_add(struct hirc_graph *graph, struct hirc_command *command,
                                       const struct hirc_frontier *dependencies);
bool hirc_graph_own(struct hirc_graph *graph, void *memory);
bool hirc_graph_take_free(struct hirc_graph *graph, void *memory);
// Whether every node is among the frontier or leads to one of it.
bool hirc_graph_leads_to(struct hirc_graph *graph, const struct hirc_frontier *frontier);

// Changes what a kernel's node does in launches to come. Returns a CUDA error.
struct hirc_function;
struct hirc_kernel_change;
int hirc_graph_change(struct hirc_graph_exec *exec, const struct hirc_graph_node *node,
                      const struct hirc_function *function,
                      const struct hirc_kernel_change *parameters);

bool hirc_frontier_add(struct hirc_frontier *frontier, const struct hirc_frontier *more);

#endif
