// Programs as device graphs: what a call of the support library does while a program is recorded or
// replayed. See graphs.c.
#ifndef HIRC_GRAPHS_H
#define HIRC_GRAPHS_H

#include "calls.h"

#include <stdbool.h>
#include <stdint.h>

enum hirc_step_kind {
  HIRC_STEP_LAUNCH,
  HIRC_STEP_ALLOCATE,
  HIRC_STEP_FREE,
  HIRC_STEP_FILL,
  HIRC_STEP_COPY,
  HIRC_STEP_MULTIPLY,
  HIRC_STEP_CONVOLVE,
  HIRC_STEP_WAIT,
};
enum hirc_stream_kind { HIRC_STREAM_NAMED, HIRC_STREAM_NUMBERED, HIRC_STREAM_ACQUIRED };

// What tells one step of a kind from another.
struct hirc_part {
  const void *start;
  size_t bytes;
};

// A launch, but for its arguments.
struct hirc_graph_launch {
  const void *stub;
  void *stream;
  int64_t cluster[3];
  int64_t kinds;
  // What a node of a graph can be told anew.
  int64_t grid[3], block[3], dynamic_shared_bytes;
};

struct hirc_recorder;

// What a recorder does, by a table: programs that are never recorded are linked without graphs.c.
struct hirc_recorder_functions {
  bool (*does)(struct hirc_recorder *recorder, enum hirc_step_kind kind,
               const struct hirc_part *parts, int count);
  void (*did)(struct hirc_recorder *recorder);
  bool (*launches)(struct hirc_recorder *recorder, const struct hirc_graph_launch *launch,
                   void **arguments, size_t bytes, const char *location);
  void (*launched)(struct hirc_recorder *recorder, void *stream);
  void *(*memory)(struct hirc_recorder *recorder, size_t *bytes, void **stream);
  void (*allocated)(struct hirc_recorder *recorder, void *memory, size_t bytes);
  void (*frees)(struct hirc_recorder *recorder, void *memory);
  void *(*stream)(struct hirc_recorder *recorder, enum hirc_stream_kind kind, int64_t number,
                  const char *name);
  void (*abandon)(struct hirc_recorder *recorder);
};
// The beginning of one.
struct hirc_recorder_base {
  const struct hirc_recorder_functions *functions;
};

// The recorder of the calling thread's call; NULL where what the call does is done at once.
static inline struct hirc_recorder *hirc_recorder(void) {
  struct hirc_call *call = hirc_state_call_2;
  return call ? call->recorder : NULL;
}

static inline const struct hirc_recorder_functions *hirc_graph_of(struct hirc_recorder *recorder) {
  return ((const struct hirc_recorder_base *)(const void *)recorder)->functions;
}

// Whether the graph does this step, which then need not be done. Else it is being recorded:
// hirc_graph_did follows what does it.
static inline bool hirc_graph_does(struct hirc_recorder *recorder, enum hirc_step_kind kind,
                                   const struct hirc_part *parts, int count) {
  return hirc_graph_of(recorder)->does(recorder, kind, parts, count);
}
static inline void hirc_graph_did(struct hirc_recorder *recorder) {
  hirc_graph_of(recorder)->did(recorder);
}

// The same of a launch; hirc_graph_launched follows it.
static inline bool hirc_graph_launches(struct hirc_recorder *recorder,
                                       const struct hirc_graph_launch *launch, void **arguments,
                                       size_t bytes, const char *location) {
  return hirc_graph_of(recorder)->launches(recorder, launch, arguments, bytes, location);
}
static inline void hirc_graph_launched(struct hirc_recorder *recorder, void *stream) {
  hirc_graph_of(recorder)->launched(recorder, stream);
}

// The memory that an allocation gets. NULL where it is to come from the caller's stream, which
// `stream` becomes, with `bytes`, which may become more; then hirc_graph_allocated follows.
static inline void *hirc_graph_memory(struct hirc_recorder *recorder, size_t *bytes,
                                      void **stream) {
  return hirc_graph_of(recorder)->memory(recorder, bytes, stream);
}
static inline void hirc_graph_allocated(struct hirc_recorder *recorder, void *memory,
                                        size_t bytes) {
  hirc_graph_of(recorder)->allocated(recorder, memory, bytes);
}
static inline void hirc_graph_frees(struct hirc_recorder *recorder, void *memory) {
  hirc_graph_of(recorder)->frees(recorder, memory);
}

// The recording's own stream that stands for one of the linked file's.
static inline void *hirc_graph_stream(struct hirc_recorder *recorder, enum hirc_stream_kind kind,
                                      int64_t number, const char *name) {
  return hirc_graph_of(recorder)->stream(recorder, kind, number, name);
}

// The program does what no graph can: the call begins anew, without one.
_Noreturn static inline void hirc_graph_abandon(struct hirc_recorder *recorder) {
  hirc_graph_of(recorder)->abandon(recorder);
  __builtin_unreachable();
}

#endif
