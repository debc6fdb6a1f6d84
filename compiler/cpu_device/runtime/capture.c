// Stream capture: commands go into a graph instead of the queue.
//
// The stream that a capture began in, its origin, and those that joined it by waiting for an event
// recorded in one that takes part, each have a frontier: the nodes that the next command depends
// on. What CUDA forbids meanwhile (waiting for such a stream, the legacy stream beside a blocking
// one, calls that may wait in the capturing thread) returns its error and invalidates the capture.

#include "capture.h"
#include "allocation.h"
#include "ordered_memory.h"

#include <stdlib.h>
#include <string.h>

struct member {
  struct member *next;
  struct hirc_stream *stream;
  struct hirc_frontier frontier;
};

struct hirc_capture {
  struct hirc_capture *next;
  uint64_t id;
  struct hirc_graph *graph;
  struct hirc_stream *origin;
  pthread_t thread;
  int mode;
  bool invalidated;
  struct member *members;
};

_Atomic int hirc_capture_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // after a stream's
static struct hirc_capture *captures;
static uint64_t last_id;
static _Thread_local int thread_mode = CUDA_CAPTURE_GLOBAL;

static struct member *member_of(struct hirc_capture *capture, const struct hirc_stream *stream) {
  struct member *member = capture->members;
  while (member && member->stream != stream)
    member = member->next;
  return member;
}

static struct member *join(struct hirc_capture *capture, struct hirc_stream *stream) {
  struct member *member = calloc(1, sizeof *member);
  if (!member)
    return NULL;
  member->stream = stream;
  member->next = capture->members;
  capture->members = member;
  atomic_store(&stream->capture, capture);
  return member;
}

int hirc_capture_check(struct hirc_stream *stream) {
  int error = 0;
  pthread_mutex_lock(&lock);
  struct hirc_capture *own = atomic_load(&stream->capture);
  if (own && own->invalidated)
    error = CUDA_ERROR_CAPTURE_INVALIDATED;
  if (stream == &hirc_legacy_stream)
    for (struct hirc_capture *capture = captures; capture; capture = capture->next)
      for (struct member *member = capture->members; member; member = member->next)
        if (hirc_is_blocking(member->stream)) {
          capture->invalidated = true;
          error = CUDA_ERROR_CAPTURE_IMPLICIT;
        }
  pthread_mutex_unlock(&lock);
  return error;
}

int hirc_capture_forbid(void) {
  if (!hirc_captures_running() || thread_mode == CUDA_CAPTURE_RELAXED)
    return 0;
  int error = 0;
  pthread_mutex_lock(&lock);
  for (struct hirc_capture *capture = captures; capture; capture = capture->next) {
    bool here = pthread_equal(capture->thread, pthread_self());
    if ((here && capture->mode != CUDA_CAPTURE_RELAXED) ||
        (capture->mode == CUDA_CAPTURE_GLOBAL && thread_mode == CUDA_CAPTURE_GLOBAL)) {
      capture->invalidated = true;
      error = CUDA_ERROR_CAPTURE_UNSUPPORTED;
    }
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int hirc_capture_forbid_stream(struct hirc_stream *stream) {
  if (!hirc_captures_running())
    return 0;
  int error = hirc_capture_check(stream);
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture) {
    capture->invalidated = true;
    error = CUDA_ERROR_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&lock);
  return error;
}

void hirc_capture_add(struct hirc_capture *capture, struct hirc_stream *stream,
                      struct hirc_command *command) {
  pthread_mutex_lock(&lock);
  struct member *member = member_of(capture, stream);
  struct hirc_graph_node *node = hirc_graph_add(capture->graph, command, &member->frontier);
  struct hirc_frontier one = {&node, 1};
  member->frontier.count = 0;
  if (!node || !hirc_frontier_add(&member->frontier, &one))
    capture->invalidated = true;
  pthread_mutex_unlock(&lock);
}

// --- events --------------------------------------------------------------------------------------

void hirc_captured_event_clear(struct hirc_captured_event *event) {
  free(event->frontier.nodes);
  *event = (struct hirc_captured_event){0};
}

void hirc_capture_record(struct hirc_stream *stream, struct hirc_captured_event *event) {
  hirc_captured_event_clear(event);
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture) {
    event->capture = capture->id;
    hirc_frontier_add(&event->frontier, &member_of(capture, stream)->frontier);
  }
  pthread_mutex_unlock(&lock);
}

int hirc_capture_wait(struct hirc_stream *stream, const struct hirc_captured_event *event) {
  int error = 0;
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = captures, *own = atomic_load(&stream->capture);
  while (capture && capture->id != event->capture)
    capture = capture->next;
  if (!capture)
    error = CUDA_ERROR_INVALID_VALUE; // its capture has ended
  else if (own && own != capture)
    error = CUDA_ERROR_CAPTURE_MERGE;
  else if (stream == &hirc_legacy_stream)
    error = CUDA_ERROR_CAPTURE_IMPLICIT;
  else {
    struct member *member = own ? member_of(own, stream) : join(capture, stream);
    if (!member || !hirc_frontier_add(&member->frontier, &event->frontier))
      error = CUDA_ERROR_MEMORY_ALLOCATION;
  }
  if (error != 0 && own)
    own->invalidated = true;
  pthread_mutex_unlock(&lock);
  return error;
}

int hirc_capture_ask(const struct hirc_captured_event *event) {
  int error = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&lock);
  for (struct hirc_capture *capture = captures; capture; capture = capture->next)
    if (capture->id == event->capture) {
      capture->invalidated = true;
      error = CUDA_ERROR_CAPTURED_EVENT;
    }
  pthread_mutex_unlock(&lock);
  return error;
}

void hirc_capture_invalidate(struct hirc_stream *stream) {
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture)
    capture->invalidated = true;
  pthread_mutex_unlock(&lock);
}

// --- memory --------------------------------------------------------------------------------------

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
  struct hirc_graph *graph = atomic_load(&stream->capture)->graph;
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
  if (!hirc_graph_take_free(atomic_load(&stream->capture)->graph, pointer))
    command->run = run_free;
  hirc_command_end(stream, command);
  return 0;
}

// --- calls ---------------------------------------------------------------------------------------

static int begin_capture(cuda_stream handle, int mode) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (mode < CUDA_CAPTURE_GLOBAL || mode > CUDA_CAPTURE_RELAXED)
    return CUDA_ERROR_INVALID_VALUE;
  if (stream == &hirc_legacy_stream)
    return CUDA_ERROR_CAPTURE_UNSUPPORTED;
  pthread_mutex_lock(&stream->lock);
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = NULL;
  if (atomic_load(&stream->capture)) {
    error = CUDA_ERROR_ILLEGAL_STATE;
  } else {
    capture = calloc(1, sizeof *capture);
    struct hirc_graph *graph = hirc_graph_create();
    if (!capture || !graph)
      abort();
    *capture = (struct hirc_capture){.next = captures,
                                     .id = ++last_id,
                                     .graph = graph,
                                     .origin = stream,
                                     .thread = pthread_self(),
                                     .mode = mode};
    if (!join(capture, stream))
      abort();
    captures = capture;
    atomic_fetch_add(&hirc_capture_count, 1);
  }
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&stream->lock);
  return error;
}

int cudaStreamBeginCapture(cuda_stream stream, int mode) {
  return hirc_report(begin_capture(stream, mode));
}

// With the lock held: takes the capture out of the list and its streams out of the capture.
static void end_members(struct hirc_capture *capture) {
  struct hirc_capture **link = &captures;
  while (*link != capture)
    link = &(*link)->next;
  *link = capture->next;
  while (capture->members) {
    struct member *member = capture->members;
    capture->members = member->next;
    atomic_store(&member->stream->capture, NULL);
    free(member->frontier.nodes);
    free(member);
  }
  atomic_fetch_sub(&hirc_capture_count, 1);
}

static int end_capture(cuda_stream handle, struct hirc_graph **graph) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = NULL;
  int error = 0;
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (!capture)
    error = CUDA_ERROR_ILLEGAL_STATE;
  else if (capture->origin != stream)
    error = CUDA_ERROR_CAPTURE_UNMATCHED;
  if (error != 0) {
    if (capture)
      capture->invalidated = true;
    pthread_mutex_unlock(&lock);
    return error;
  }
  if (capture->mode != CUDA_CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
    error = CUDA_ERROR_CAPTURE_WRONG_THREAD; // ends the capture all the same
  else if (capture->invalidated)
    error = CUDA_ERROR_CAPTURE_INVALIDATED;
  else if (!hirc_graph_leads_to(capture->graph, &member_of(capture, stream)->frontier))
    error = CUDA_ERROR_CAPTURE_UNJOINED;
  end_members(capture);
  pthread_mutex_unlock(&lock);
  if (error == 0)
    *graph = capture->graph;
  else
    hirc_graph_release(capture->graph);
  free(capture);
  return error;
}

int cudaStreamEndCapture(cuda_stream stream, cuda_graph *graph) {
  return hirc_report(end_capture(stream, graph));
}

static int capture_status(cuda_stream handle, int *status, unsigned long long *id,
                          cuda_graph *graph) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!status)
    return CUDA_ERROR_INVALID_VALUE;
  *status = CUDA_CAPTURE_NONE;
  int error = 0;
  if (hirc_captures_running() && stream == &hirc_legacy_stream)
    error = hirc_capture_check(stream);
  pthread_mutex_lock(&lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture)
    *status = capture->invalidated ? CUDA_CAPTURE_INVALIDATED : CUDA_CAPTURE_ACTIVE;
  if (id && capture)
    *id = capture->id;
  if (graph && capture)
    *graph = capture->graph;
  pthread_mutex_unlock(&lock);
  return error;
}

int cudaStreamIsCapturing(cuda_stream stream, int *status) {
  return hirc_report(capture_status(stream, status, NULL, NULL));
}

int cudaStreamGetCaptureInfo(cuda_stream stream, int *status, unsigned long long *id,
                             cuda_graph *graph, const cuda_graph_node **dependencies,
                             const void **edges, size_t *dependency_count) {
  int error = capture_status(stream, status, id, graph);
  if (error == 0 && *status == CUDA_CAPTURE_ACTIVE) {
    pthread_mutex_lock(&lock);
    struct hirc_stream *found = hirc_stream_of(stream);
    struct hirc_capture *capture = atomic_load(&found->capture);
    struct member *member = capture ? member_of(capture, found) : NULL;
    if (member && dependencies)
      *dependencies = member->frontier.nodes;
    if (member && dependency_count)
      *dependency_count = member->frontier.count;
    if (edges)
      *edges = NULL;
    pthread_mutex_unlock(&lock);
  }
  return hirc_report(error);
}

int cudaThreadExchangeStreamCaptureMode(int *mode) {
  if (!mode || *mode < CUDA_CAPTURE_GLOBAL || *mode > CUDA_CAPTURE_RELAXED)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  int previous = thread_mode;
  thread_mode = *mode;
  *mode = previous;
  return 0;
}
