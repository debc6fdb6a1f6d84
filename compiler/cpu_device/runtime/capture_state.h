// What capture.c and capture_calls.c share.
#ifndef HIRC_CAPTURE_STATE_H
#define HIRC_CAPTURE_STATE_H

#include "capture.h"

// A stream that takes part in a capture.
struct hirc_member {
  struct hirc_member *next;
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
  struct hirc_member *members;
};

extern pthread_mutex_t hirc_capture_lock; // of all captures; after a stream's
extern struct hirc_capture *hirc_captures;

// Both with the lock held.
struct hirc_member *hirc_capture_member(struct hirc_capture *capture,
                                        const struct hirc_stream *stream);
struct hirc_member *hirc_capture_join(struct hirc_capture *capture, struct hirc_stream *stream);

#endif
