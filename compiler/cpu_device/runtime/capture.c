// Stream capture: commands go into a graph instead of the queue.
//
// The stream that a capture began in, its origin, and those that joined it by waiting for an event
// recorded in one that takes part, each have a frontier: the nodes that the next command depends
// on. What CUDA forbids meanwhile (waiting for such a stream, the legacy stream beside a blocking
// one, calls that may wait in the capturing thread) returns its error and invalidates the capture.

#include "capture_state.h"

#include <stdlib.h>
#include <string.h>

_Atomic int hirc_capture_count;

pthread_mutex_t hirc_capture_lock = PTHREAD_MUTEX_INITIALIZER;
struct hirc_capture *hirc_captures;
static _Thread_local int thread_mode = CUDA_CAPTURE_GLOBAL;

// Another thread may have been at one of them: nothing of them is read.
void hirc_capture_forget(void) {
  pthread_mutex_init(&hirc_capture_lock, NULL);
  hirc_captures = NULL;
  atomic_store(&hirc_capture_count, 0);
}

struct hirc_member *hirc_capture_member(struct hirc_capture *capture,
                                        const struct hirc_stream *stream) {
  struct hirc_member *member = capture->members;
  while (member && member->stream != stream)
    member = member->next;
  return member;
}

struct hirc_member *hirc_capture_join(struct hirc_capture *capture, struct hirc_stream *stream) {
  struct hirc_member *member = calloc(1, sizeof *member);
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
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *own = atomic_load(&stream->capture);
  if (own && own->invalidated)
    error = CUDA_ERROR_CAPTURE_INVALIDATED;
  if (stream == &hirc_legacy_stream)
    for (struct hirc_capture *capture = hirc_captures; capture; capture = capture->next)
      for (struct hirc_member *member = capture->members; member; member = member->next)
        if (hirc_is_blocking(member->stream)) {
          capture->invalidated = true;
          error = CUDA_ERROR_CAPTURE_IMPLICIT;
        }
  pthread_mutex_unlock(&hirc_capture_lock);
  return error;
}

int hirc_capture_forbid(void) {
  if (!hirc_captures_running() || thread_mode == CUDA_CAPTURE_RELAXED)
    return 0;
  int error = 0;
  pthread_mutex_lock(&hirc_capture_lock);
  for (struct hirc_capture *capture = hirc_captures; capture; capture = capture->next) {
    bool here = pthread_equal(capture->thread, pthread_self());
    if ((here && capture->mode != CUDA_CAPTURE_RELAXED) ||
        (capture->mode == CUDA_CAPTURE_GLOBAL && thread_mode == CUDA_CAPTURE_GLOBAL)) {
      capture->invalidated = true;
      error = CUDA_ERROR_CAPTURE_UNSUPPORTED;
    }
  }
  pthread_mutex_unlock(&hirc_capture_lock);
  return error;
}

int hirc_capture_forbid_stream(struct hirc_stream *stream) {
  if (!hirc_captures_running())
    return 0;
  int error = hirc_capture_check(stream);
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture) {
    capture->invalidated = true;
    error = CUDA_ERROR_CAPTURE_UNSUPPORTED;
  }
  pthread_mutex_unlock(&hirc_capture_lock);
  return error;
}

void hirc_capture_add(struct hirc_capture *capture, struct hirc_stream *stream,
                      struct hirc_command *command) {
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_member *member = hirc_capture_member(capture, stream);
  struct hirc_graph_node *node = hirc_graph_add(capture->graph, command, &member->frontier);
  struct hirc_frontier one = {&node, 1};
  member->frontier.count = 0;
  if (!node || !hirc_frontier_add(&member->frontier, &one))
    capture->invalidated = true;
  pthread_mutex_unlock(&hirc_capture_lock);
}

struct hirc_graph *hirc_capture_graph(struct hirc_stream *stream) {
  return atomic_load(&stream->capture)->graph;
}

// --- events --------------------------------------------------------------------------------------

void hirc_captured_event_clear(struct hirc_captured_event *event) {
  free(event->frontier.nodes);
  *event = (struct hirc_captured_event){0};
}

void hirc_capture_record(struct hirc_stream *stream, struct hirc_captured_event *event) {
  hirc_captured_event_clear(event);
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture) {
    event->capture = capture->id;
    hirc_frontier_add(&event->frontier, &hirc_capture_member(capture, stream)->frontier);
  }
  pthread_mutex_unlock(&hirc_capture_lock);
}

int hirc_capture_wait(struct hirc_stream *stream, const struct hirc_captured_event *event) {
  int error = 0;
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = hirc_captures, *own = atomic_load(&stream->capture);
  while (capture && capture->id != event->capture)
    capture = capture->next;
  if (!capture)
    error = CUDA_ERROR_INVALID_VALUE; // its capture has ended
  else if (own && own != capture)
    error = CUDA_ERROR_CAPTURE_MERGE;
  else if (stream == &hirc_legacy_stream)
    error = CUDA_ERROR_CAPTURE_IMPLICIT;
  else {
    struct hirc_member *member =
        own ? hirc_capture_member(own, stream) : hirc_capture_join(capture, stream);
    if (!member || !hirc_frontier_add(&member->frontier, &event->frontier))
      error = CUDA_ERROR_MEMORY_ALLOCATION;
  }
  if (error != 0 && own)
    own->invalidated = true;
  pthread_mutex_unlock(&hirc_capture_lock);
  return error;
}

int hirc_capture_ask(const struct hirc_captured_event *event) {
  int error = CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&hirc_capture_lock);
  for (struct hirc_capture *capture = hirc_captures; capture; capture = capture->next)
    if (capture->id == event->capture) {
      capture->invalidated = true;
      error = CUDA_ERROR_CAPTURED_EVENT;
    }
  pthread_mutex_unlock(&hirc_capture_lock);
  return error;
}

void hirc_capture_invalidate(struct hirc_stream *stream) {
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture)
    capture->invalidated = true;
  pthread_mutex_unlock(&hirc_capture_lock);
}

int cudaThreadExchangeStreamCaptureMode(int *mode) {
  if (!mode || *mode < CUDA_CAPTURE_GLOBAL || *mode > CUDA_CAPTURE_RELAXED)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  int previous = thread_mode;
  thread_mode = *mode;
  *mode = previous;
  return 0;
}
