// The queue of a stream.
//
// Enqueueing takes a node from the stream's free list, links it under the stream's lock and counts
// it; only a stream that nobody executes is handed to the pool. A worker then executes commands
// until there is none left, without taking the lock. Both sides count: a stream is idle when as
// many commands are completed as are enqueued.
//
// A command that has to wait for a point of another stream does not hold its worker: the stream
// parks at the other one, which hands it back to the pool once it gets there. Positions that
// somebody waits for are watched, so that completing a command costs nobody a look at a lock.

#include "stream.h"
#include "capture.h"
#include "checks/checks.h"
#include "pool.h"
#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  TURN = 512,   // commands before other streams get the worker
  SPINS = 2000, // before a thread of the host sleeps
  ASK_MILLISECONDS = 100, // a question waits for its answer in a checked program
};

// --- waiting for points --------------------------------------------------------------------------

static void watch(struct hirc_stream *stream, uint64_t position) {
  if (position < atomic_load(&stream->watched))
    atomic_store(&stream->watched, position);
}

// Puts the stream among those that wait for the point; false if the point has been reached.
static bool park(struct hirc_stream *stream, struct hirc_point point) {
  struct hirc_stream *other = point.stream;
  pthread_mutex_lock(&other->watch_lock);
  watch(other, point.position);
  bool parks = atomic_load(&other->completed) < point.position;
  if (parks) {
    stream->parked_until = point.position;
    stream->next_parked = other->parked;
    other->parked = stream;
  }
  pthread_mutex_unlock(&other->watch_lock);
  return parks;
}

static void wake(struct hirc_stream *stream) {
  pthread_mutex_lock(&stream->watch_lock);
  uint64_t completed = atomic_load(&stream->completed), least = UINT64_MAX;
  struct hirc_stream *ready = NULL, **link = &stream->parked;
  while (*link) {
    struct hirc_stream *other = *link;
    if (other->parked_until <= completed) {
      *link = other->next_parked;
      other->next_parked = ready;
      ready = other;
    } else {
      least = other->parked_until < least ? other->parked_until : least;
      link = &other->next_parked;
    }
  }
  atomic_store(&stream->watched, least); // threads of the host watch anew
  pthread_cond_broadcast(&stream->watch);
  pthread_mutex_unlock(&stream->watch_lock);
  while (ready) {
    struct hirc_stream *next = ready->next_parked;
    hirc_pool_submit(&ready->task);
    ready = next;
  }
}

static inline void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void wait_for(struct hirc_point point) {
  if (hirc_pool_size() > 1)
    for (int i = 0; i < SPINS; ++i) {
      if (hirc_reached(point))
        return;
      relax();
    }
  if (hirc_reached(point))
    return;
  struct hirc_stream *stream = point.stream;
  struct hirc_waiting_host host = {.point = point};
  hirc_host_waits(&host);
  pthread_mutex_lock(&stream->watch_lock);
  for (;;) {
    watch(stream, point.position);
    if (atomic_load(&stream->completed) >= point.position)
      break;
    if (!hirc_checks_memory()) {
      pthread_cond_wait(&stream->watch, &stream->watch_lock);
      continue;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ASK_MILLISECONDS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&stream->watch, &stream->watch_lock, &until);
    pthread_mutex_unlock(&stream->watch_lock);
    hirc_checks_allow_wanted();
    pthread_mutex_lock(&stream->watch_lock);
  }
  pthread_mutex_unlock(&stream->watch_lock);
  hirc_host_goes_on(&host);
}

void hirc_wait_for(struct hirc_point point) {
  if (!hirc_reached(point)) {
    hirc_checks_begin_wait();
    hirc_checks_need(point.stream, point.position);
    hirc_checks_start();
    wait_for(point);
    hirc_checks_end_wait();
  }
  if (hirc_checks_order())
    hirc_order_waited(point.stream, point.position);
}

bool hirc_ask_reached(struct hirc_point point) {
  if (hirc_checks_memory() && !hirc_reached(point)) {
    hirc_checks_begin_wait();
    hirc_checks_need(point.stream, point.position);
    hirc_checks_start();
    for (int i = 0; i < ASK_MILLISECONDS && !hirc_reached(point); ++i)
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    hirc_checks_end_wait();
  }
  bool reached = hirc_reached(point);
  if (reached && hirc_checks_order())
    hirc_order_waited(point.stream, point.position);
  return reached;
}

// --- executing -----------------------------------------------------------------------------------

// Whose command this thread executes.
static _Thread_local struct hirc_stream *executed;

void hirc_command_run(struct hirc_command *command) {
  if (!command->run || (hirc_device_status() != 0 && !command->always))
    return;
  struct hirc_stream *stream = hirc_traces() ? executed : NULL;
  uint64_t began = stream ? hirc_trace_time() : 0;
  int error = command->run(command->payload);
  if (stream)
    hirc_trace_command(stream, command, began);
  if (error != 0)
    hirc_fail_device(error);
}

// Executes the next command; false if the stream has parked.
static bool execute_next(struct hirc_stream *stream) {
  struct hirc_command *command = stream->head->next;
  if (!hirc_reached(command->after) && park(stream, command->after))
    return false;
  if (stream->head->room)
    hirc_give_node(stream, stream->head);
  stream->head = command;
  uint64_t completed = atomic_load_explicit(&stream->completed, memory_order_relaxed) + 1;
  executed = stream;
  if (hirc_checks_order())
    hirc_order_run(stream, command, completed);
  else
    hirc_command_run(command);
  if (command->release)
    command->release(command->payload);
  atomic_store(&stream->completed, completed);
  if (completed >= atomic_load(&stream->watched))
    wake(stream);
  return true;
}

// The number of commands that may have been executed.
static uint64_t available(struct hirc_stream *stream) {
  uint64_t enqueued = atomic_load(&stream->enqueued);
  if (!hirc_checks_memory())
    return enqueued;
  uint64_t allowed = atomic_load(&stream->allowed);
  return allowed < enqueued ? allowed : enqueued;
}

static void execute(struct hirc_task *task) {
  struct hirc_stream *stream = (struct hirc_stream *)task;
  for (int turn = 0;; ++turn) {
    uint64_t completed = atomic_load_explicit(&stream->completed, memory_order_relaxed);
    if (available(stream) <= completed) {
      atomic_store(&stream->running, 0);
      // From here on the stream may be another worker's.
      if (available(stream) <= completed || atomic_exchange(&stream->running, 1))
        return;
      continue;
    }
    if (turn >= TURN || hirc_pool_closes()) {
      hirc_pool_submit(task);
      return;
    }
    if (!execute_next(stream))
      return;
  }
}

void hirc_stream_start(struct hirc_stream *stream) {
  if (atomic_load(&stream->running) == 0 && atomic_exchange(&stream->running, 1) == 0)
    hirc_pool_submit(&stream->task);
}

// --- enqueueing ----------------------------------------------------------------------------------

// Links the command; the stream is locked. Returns whether the stream must be handed to the pool.
static bool link_command(struct hirc_stream *stream, struct hirc_command *command) {
  command->next = NULL;
  if (!stream->tail) {
    static const struct hirc_command none;
    struct hirc_command *first = malloc(sizeof *first);
    if (!first)
      abort();
    *first = none;
    stream->tail = stream->head = stream->last_allowed = first;
    stream->task.run = execute;
  }
  if (hirc_checks_order())
    hirc_order_enqueueing(stream, command->after.stream, command->after.position);
  stream->tail->next = command;
  stream->tail = command;
  atomic_fetch_add(&stream->enqueued, 1);
  if (hirc_checks_memory()) {
    hirc_checks_enqueued(command);
    return false;
  }
  return atomic_load(&stream->running) == 0 && atomic_exchange(&stream->running, 1) == 0;
}

static bool link_wait(struct hirc_stream *stream, struct hirc_point point) {
  struct hirc_command *command = hirc_take_node(stream, 0);
  if (!command)
    abort();
  command->after = point;
  return link_command(stream, command);
}

// Whether the stream's next command must be made to wait for the point.
static bool needs_wait(struct hirc_stream *stream, struct hirc_point point) {
  return hirc_checks_order() ? !hirc_order_awaits(stream, point.stream, point.position)
                             : !hirc_reached(point);
}

// Orders what comes next after the legacy stream, or after all blocking streams if it is that one
// (CUDA Runtime API, stream synchronization behavior).
static void order_after_others(struct hirc_stream *stream) {
  bool start = false;
  if (stream == &hirc_legacy_stream) {
    for (struct hirc_stream *other = hirc_first_stream(); other; other = other->next_stream)
      if (hirc_is_blocking(other) && !atomic_load(&other->capture)) {
        struct hirc_point end = hirc_end_of(other);
        if (needs_wait(stream, end))
          start |= link_wait(stream, end);
      }
  } else if (hirc_is_blocking(stream)) {
    struct hirc_point end = hirc_end_of(&hirc_legacy_stream);
    if (end.position != stream->legacy_seen) {
      stream->legacy_seen = end.position;
      if (needs_wait(stream, end))
        start |= link_wait(stream, end);
    }
  }
  if (start)
    hirc_pool_submit(&stream->task);
}

bool hirc_others_are_busy(struct hirc_stream *stream) {
  if (stream != &hirc_legacy_stream)
    return hirc_is_blocking(stream) && !hirc_reached(hirc_end_of(&hirc_legacy_stream));
  for (struct hirc_stream *other = hirc_first_stream(); other; other = other->next_stream)
    if (hirc_is_blocking(other) && !hirc_reached(hirc_end_of(other)))
      return true;
  return false;
}

bool hirc_stream_is_idle(struct hirc_stream *stream) {
  return !atomic_load(&stream->capture) && hirc_reached(hirc_end_of(stream)) &&
         !hirc_others_are_busy(stream);
}

int hirc_command_begin(struct hirc_stream *stream, size_t payload_bytes,
                       struct hirc_command **command) {
  int error = hirc_device_status();
  if (error == 0 && hirc_captures_running())
    error = hirc_capture_check(stream);
  if (error == 0 && hirc_pool_size() == 0)
    error = CUDA_ERROR_OPERATING_SYSTEM;
  if (error != 0)
    return error;
  pthread_mutex_lock(&stream->lock);
  if (atomic_load_explicit(&stream->capture, memory_order_relaxed)) {
    *command = hirc_command_allocate(payload_bytes);
  } else {
    order_after_others(stream);
    *command = hirc_take_node(stream, payload_bytes);
  }
  if (*command)
    return 0;
  pthread_mutex_unlock(&stream->lock);
  return CUDA_ERROR_MEMORY_ALLOCATION;
}

struct hirc_point hirc_command_end(struct hirc_stream *stream, struct hirc_command *command) {
  struct hirc_capture *capture = atomic_load_explicit(&stream->capture, memory_order_relaxed);
  if (capture) {
    hirc_capture_add(capture, stream, command);
    pthread_mutex_unlock(&stream->lock);
    return (struct hirc_point){0};
  }
  bool start = link_command(stream, command);
  struct hirc_point point = hirc_end_of(stream);
  pthread_mutex_unlock(&stream->lock);
  if (start)
    hirc_pool_submit(&stream->task);
  return point;
}

int hirc_enqueue(struct hirc_stream *stream, enum hirc_node_type type, int (*run)(void *payload),
                 const void *payload, size_t bytes) {
  struct hirc_command *command;
  int error = hirc_command_begin(stream, bytes, &command);
  if (error != 0)
    return error;
  command->run = run;
  command->type = type;
  memcpy(command->payload, payload, bytes);
  hirc_command_end(stream, command);
  return 0;
}

int hirc_enqueue_wait(struct hirc_stream *stream, struct hirc_point point) {
  if (!point.stream || (hirc_reached(point) && !hirc_checks_order()))
    return hirc_device_status();
  struct hirc_command *command;
  int error = hirc_command_begin(stream, 0, &command);
  if (error != 0)
    return error;
  command->after = point;
  hirc_command_end(stream, command);
  return 0;
}
