// The calls that begin and end a capture and ask about it. What a capture is, is in capture.c.

#include "capture_state.h"

#include <stdlib.h>

static uint64_t last_id;

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
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = NULL;
  if (atomic_load(&stream->capture)) {
    error = CUDA_ERROR_ILLEGAL_STATE;
  } else {
    capture = calloc(1, sizeof *capture);
    struct hirc_graph *graph = hirc_graph_create();
    if (!capture || !graph)
      abort();
    *capture = (struct hirc_capture){.next = hirc_captures,
                                     .id = ++last_id,
                                     .graph = graph,
                                     .origin = stream,
                                     .thread = pthread_self(),
                                     .mode = mode};
    if (!hirc_capture_join(capture, stream))
      abort();
    hirc_captures = capture;
    atomic_fetch_add(&hirc_capture_count, 1);
  }
  pthread_mutex_unlock(&hirc_capture_lock);
  pthread_mutex_unlock(&stream->lock);
  return error;
}

int cudaStreamBeginCapture(cuda_stream stream, int mode) {
  return hirc_report(begin_capture(stream, mode));
}

static void free_member(struct hirc_member *member) {
  atomic_store(&member->stream->capture, NULL);
  free(member->frontier.nodes);
  free(member);
}

// With the lock held: takes the capture out of the list and its streams out of the capture.
static void end_members(struct hirc_capture *capture) {
  struct hirc_capture **link = &hirc_captures;
  while (*link != capture)
    link = &(*link)->next;
  *link = capture->next;
  while (capture->members) {
    struct hirc_member *member = capture->members;
    capture->members = member->next;
    free_member(member);
  }
  atomic_fetch_sub(&hirc_capture_count, 1);
}

void hirc_capture_leave(struct hirc_stream *stream) {
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  bool ends = capture && capture->origin == stream;
  if (ends) {
    end_members(capture);
  } else if (capture) {
    capture->invalidated = true;
    struct hirc_member **link = &capture->members;
    while ((*link)->stream != stream)
      link = &(*link)->next;
    struct hirc_member *member = *link;
    *link = member->next;
    free_member(member);
  }
  pthread_mutex_unlock(&hirc_capture_lock);
  if (ends) {
    hirc_graph_release(capture->graph);
    free(capture);
  }
}

static int end_capture(cuda_stream handle, struct hirc_graph **graph) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = NULL;
  int error = 0;
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (!capture)
    error = CUDA_ERROR_ILLEGAL_STATE;
  else if (capture->origin != stream)
    error = CUDA_ERROR_CAPTURE_UNMATCHED;
  if (error != 0) {
    if (capture)
      capture->invalidated = true;
    pthread_mutex_unlock(&hirc_capture_lock);
    return error;
  }
  if (capture->mode != CUDA_CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
    error = CUDA_ERROR_CAPTURE_WRONG_THREAD; // ends the capture all the same
  else if (capture->invalidated)
    error = CUDA_ERROR_CAPTURE_INVALIDATED;
  else if (!hirc_graph_leads_to(capture->graph, &hirc_capture_member(capture, stream)->frontier))
    error = CUDA_ERROR_CAPTURE_UNJOINED;
  end_members(capture);
  pthread_mutex_unlock(&hirc_capture_lock);
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
  pthread_mutex_lock(&hirc_capture_lock);
  struct hirc_capture *capture = atomic_load(&stream->capture);
  if (capture)
    *status = capture->invalidated ? CUDA_CAPTURE_INVALIDATED : CUDA_CAPTURE_ACTIVE;
  if (id && capture)
    *id = capture->id;
  if (graph && capture)
    *graph = capture->graph;
  pthread_mutex_unlock(&hirc_capture_lock);
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
    pthread_mutex_lock(&hirc_capture_lock);
    struct hirc_stream *found = hirc_stream_of(stream);
    struct hirc_capture *capture = atomic_load(&found->capture);
    struct hirc_member *member = capture ? hirc_capture_member(capture, found) : NULL;
    if (member && dependencies)
      *dependencies = member->frontier.nodes;
    if (member && dependency_count)
      *dependency_count = member->frontier.count;
    if (edges)
      *edges = NULL;
    pthread_mutex_unlock(&hirc_capture_lock);
  }
  return hirc_report(error);
}
