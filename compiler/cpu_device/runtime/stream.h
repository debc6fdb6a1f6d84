// Streams: queues of commands that workers of the pool execute in order. See stream.c.
#ifndef HIRC_STREAM_H
#define HIRC_STREAM_H

#include "cuda_abi.h"
#include "errors.h"
#include "execution.h"

#include <pthread.h>
#include <stdatomic.h>

struct hirc_capture;
struct hirc_stream_order;

// The moment when a stream has executed its first `position` commands. A stream's storage is never
// given back and its count never falls, so that a point is valid for ever.
struct hirc_point {
  struct hirc_stream *stream; // NULL: the beginning of time
  uint64_t position;
};

// What a command is in a graph (cudaGraphNodeType).
enum hirc_node_type {
  HIRC_NODE_KERNEL = 0,
  HIRC_NODE_MEMCPY = 1,
  HIRC_NODE_MEMSET = 2,
  HIRC_NODE_HOST = 3,
  HIRC_NODE_GRAPH = 4,
  HIRC_NODE_EMPTY = 5,
  HIRC_NODE_WAIT_EVENT = 6,
  HIRC_NODE_EVENT_RECORD = 7,
  HIRC_NODE_MALLOC = 10,
  HIRC_NODE_FREE = 11,
  HIRC_NODE_COMMUNICATION = 64, // in no graph
};

struct hirc_command {
  struct hirc_command *next;
  int (*run)(void *payload);      // returns a CUDA error, which fails the device; NULL: only waits
  void (*release)(void *payload); // when the command will not be run again; NULL: nothing to do
  struct hirc_point after;        // waits for this first
  uint32_t room;
  uint8_t type; // enum hirc_node_type
  bool always;  // runs on a failed device too
  _Alignas(16) char payload[];
};

struct hirc_stream {
  struct hirc_task task; // in the pool while `running` and not parked; first, see stream.c
  struct hirc_stream *next_stream;
  uint64_t magic;
  unsigned flags;
  int priority;
  uint64_t id;
  _Atomic bool alive;

  pthread_mutex_t lock; // of what enqueues: down to `enqueued`
  struct hirc_command *tail;
  struct hirc_command *spare;
  struct hirc_nodes *nodes; // all of them: see command_nodes.c
  struct hirc_capture *_Atomic capture; // not NULL: commands go into a graph
  struct hirc_stream_order *order;      // in a checked program: see checks/order.c
  uint64_t legacy_seen;                 // the legacy stream's position that commands wait for
  struct ordered_frees *frees;          // see ordered_memory.c
  _Atomic uint64_t enqueued;
  _Atomic uint64_t allowed;          // in a checked program: see checks/pending.c
  struct hirc_command *last_allowed; // its predecessor before the first

  _Alignas(64) _Atomic uint64_t completed;
  _Atomic uint64_t watched; // the least position that somebody waits for
  _Atomic int running;
  struct hirc_command *head; // the command executed last; the worker's
  uint64_t traced_id;        // the id under which a trace knows it, and 1; the worker's
  _Atomic(struct hirc_command *) returned;

  pthread_mutex_t watch_lock; // of the rest
  pthread_cond_t watch;
  struct hirc_stream *parked; // streams that wait for a point of this one
  struct hirc_stream *next_parked;
  uint64_t parked_until;
};

extern struct hirc_stream hirc_legacy_stream;

// --- streams -----------------------------------------------------------------------------------

// The stream behind a handle, NULL if there is none.
struct hirc_stream *hirc_stream_of(cuda_stream handle);
struct hirc_stream *hirc_first_stream(void); // then next_stream; the legacy stream is not in it
struct hirc_stream *hirc_stream_open(unsigned flags, int priority);
void hirc_stream_close(struct hirc_stream *stream);
// Frees what streams and their commands lie in, for a library that is being unloaded.
void hirc_streams_release(void);

static inline bool hirc_is_blocking(const struct hirc_stream *stream) {
  return !(stream->flags & CUDA_STREAM_NON_BLOCKING);
}

static inline bool hirc_reached(struct hirc_point point) {
  return !point.stream || atomic_load(&point.stream->completed) >= point.position;
}

// The point after everything enqueued so far.
static inline struct hirc_point hirc_end_of(struct hirc_stream *stream) {
  return (struct hirc_point){stream, atomic_load(&stream->enqueued)};
}

// As hirc_reached, for a program that asks again and again: in a checked program, where only those
// who wait have anything executed, asking is waiting.
bool hirc_ask_reached(struct hirc_point point);

// Whether a command enqueued now would wait for other streams.
bool hirc_others_are_busy(struct hirc_stream *stream);

// Whether a command enqueued now would run at once.
bool hirc_stream_is_idle(struct hirc_stream *stream);

// --- commands ----------------------------------------------------------------------------------

// Locks the stream and gives a command whose payload, of undefined contents, and functions the
// caller fills in; hirc_command_end enqueues it, or adds it to the graph where the stream is being
// captured. Returns a CUDA error, and then nothing is locked.
int hirc_command_begin(struct hirc_stream *stream, size_t payload_bytes,
                       struct hirc_command **command);
struct hirc_point hirc_command_end(struct hirc_stream *stream, struct hirc_command *command);

// Enqueues a command that runs with a copy of the payload. Returns a CUDA error.
int hirc_enqueue(struct hirc_stream *stream, enum hirc_node_type type, int (*run)(void *payload),
                 const void *payload, size_t bytes);

// Enqueues a communication with other processes: a function that accesses memory of the device and
// may wait. Returns a CUDA error.
int hirc_enqueue_communication(struct hirc_stream *stream, cuda_host_function *function,
                               void *data);

// Lets what is enqueued in the stream from now on wait for the point.
int hirc_enqueue_wait(struct hirc_stream *stream, struct hirc_point point);

// A node for a command: taken with the stream locked, given back by its worker alone.
struct hirc_command *hirc_take_node(struct hirc_stream *stream, size_t payload_bytes);
void hirc_give_node(struct hirc_stream *stream, struct hirc_command *node);
void hirc_free_nodes(struct hirc_stream *stream);

// A command outside of any stream: for graphs.
struct hirc_command *hirc_command_allocate(size_t payload_bytes);
void hirc_command_free(struct hirc_command *command);
// Runs it as its stream would: not on a failed device.
void hirc_command_run(struct hirc_command *command);

// Lets the stream, which has commands that it may execute, do so.
void hirc_stream_start(struct hirc_stream *stream);

// --- waiting -----------------------------------------------------------------------------------

void hirc_wait_for(struct hirc_point point);
// quiet.c: a thread of the program that waits for a point, from the one call to the other.
struct hirc_waiting_host {
  struct hirc_point point;
  struct hirc_waiting_host *next;
};
void hirc_host_waits(struct hirc_waiting_host *host);
void hirc_host_goes_on(struct hirc_waiting_host *host);
void hirc_wait_for_stream(struct hirc_stream *stream);
void hirc_cpu_device_wait(void);
// Until a command enqueued in the stream now would run at once.
void hirc_wait_for_turn(struct hirc_stream *stream);

#endif
