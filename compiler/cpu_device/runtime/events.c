// Events: points of streams with a time.
//
// An event that was never recorded counts as complete. Times are taken by the worker that executes
// the record. An event lives until the program has destroyed it and its last record has run.

#include "capture.h"

#include <stdlib.h>
#include <time.h>

#define MAGIC UINT64_C(0x6869726365766e74)

struct hirc_event {
  uint64_t magic;
  unsigned flags;
  _Atomic unsigned references; // the program's, records'
  pthread_mutex_t lock;        // of the rest
  struct hirc_point point;
  uint64_t record;      // counts the records
  uint64_t timed;       // the record that `nanoseconds` is of
  uint64_t nanoseconds;
  struct hirc_captured_event captured;
};

struct record {
  struct hirc_event *event;
  uint64_t number;
};

static bool is_event(const struct hirc_event *event) { return event && event->magic == MAGIC; }

static void release(struct hirc_event *event) {
  if (atomic_fetch_sub(&event->references, 1) != 1)
    return;
  hirc_captured_event_clear(&event->captured);
  pthread_mutex_destroy(&event->lock);
  event->magic = 0;
  free(event);
}

static int run_record(void *payload) {
  const struct record *record = payload;
  struct hirc_event *event = record->event;
  if (event->flags & CUDA_EVENT_DISABLE_TIMING)
    return 0;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&event->lock);
  if (record->number > event->timed) {
    event->timed = record->number;
    event->nanoseconds = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
  }
  pthread_mutex_unlock(&event->lock);
  return 0;
}

static void release_record(void *payload) { release(((const struct record *)payload)->event); }

static int create(cuda_event *event, unsigned flags) {
  if (!event || flags & ~7u || (flags & (CUDA_EVENT_INTERPROCESS | CUDA_EVENT_DISABLE_TIMING)) ==
                                   CUDA_EVENT_INTERPROCESS)
    return CUDA_ERROR_INVALID_VALUE;
  int error = hirc_device_status();
  if (error != 0)
    return error;
  *event = calloc(1, sizeof **event);
  if (!*event)
    return CUDA_ERROR_MEMORY_ALLOCATION;
  (*event)->magic = MAGIC;
  (*event)->flags = flags;
  (*event)->references = 1;
  pthread_mutex_init(&(*event)->lock, NULL);
  return 0;
}

int cudaEventCreateWithFlags(cuda_event *event, unsigned flags) {
  return hirc_report(create(event, flags));
}

int cudaEventCreate(cuda_event *event) { return cudaEventCreateWithFlags(event, 0); }

int cudaEventDestroy(cuda_event event) {
  if (!is_event(event))
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  release(event);
  return hirc_report(hirc_device_status());
}

static int record_in(struct hirc_event *event, struct hirc_stream *stream) {
  struct hirc_command *command;
  pthread_mutex_lock(&event->lock);
  int error = hirc_command_begin(stream, sizeof(struct record), &command);
  if (error == 0) {
    atomic_fetch_add(&event->references, 1);
    *(struct record *)command->payload = (struct record){event, ++event->record};
    command->run = run_record;
    command->release = release_record;
    command->type = HIRC_NODE_EVENT_RECORD;
    hirc_captured_event_clear(&event->captured);
    struct hirc_point point = hirc_command_end(stream, command);
    event->point = point.stream ? point : event->point;
  }
  pthread_mutex_unlock(&event->lock);
  return error;
}

static int record_captured(struct hirc_event *event, struct hirc_stream *stream) {
  int error = hirc_capture_check(stream);
  if (error != 0)
    return error;
  pthread_mutex_lock(&event->lock);
  hirc_capture_record(stream, &event->captured);
  pthread_mutex_unlock(&event->lock);
  return 0;
}

static int record(struct hirc_event *event, cuda_stream handle, unsigned flags) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream || !is_event(event))
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  bool captured = atomic_load_explicit(&stream->capture, memory_order_relaxed) != NULL;
  if (flags & ~(unsigned)CUDA_EVENT_EXTERNAL || (flags != 0 && !captured))
    return CUDA_ERROR_INVALID_VALUE;
  return captured && flags == 0 ? record_captured(event, stream) : record_in(event, stream);
}

int cudaEventRecord(cuda_event event, cuda_stream stream) {
  return hirc_report(record(event, stream, 0));
}

int cudaEventRecordWithFlags(cuda_event event, cuda_stream stream, unsigned flags) {
  return hirc_report(record(event, stream, flags));
}

static int wait_event(cuda_stream handle, struct hirc_event *event, unsigned flags) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream || !is_event(event))
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (flags & ~(unsigned)CUDA_EVENT_EXTERNAL)
    return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&event->lock);
  struct hirc_point point = event->point;
  if (event->captured.capture != 0)
    error = hirc_capture_wait(stream, &event->captured);
  else if (atomic_load(&stream->capture) && flags == 0) {
    hirc_capture_invalidate(stream);
    error = CUDA_ERROR_CAPTURE_ISOLATION;
  } else
    error = hirc_enqueue_wait(stream, point);
  pthread_mutex_unlock(&event->lock);
  return error;
}

int cudaStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned flags) {
  return hirc_report(wait_event(stream, event, flags));
}

// Whether the event may be asked about, and its point.
static int point_of(struct hirc_event *event, struct hirc_point *point) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  if (!is_event(event))
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  pthread_mutex_lock(&event->lock);
  *point = event->point;
  if (event->captured.capture != 0)
    error = hirc_capture_ask(&event->captured);
  pthread_mutex_unlock(&event->lock);
  return error;
}

int cudaEventQuery(cuda_event event) {
  struct hirc_point point;
  int error = point_of(event, &point);
  if (error == 0)
    error = hirc_capture_forbid();
  if (error == 0 && !hirc_ask_reached(point))
    error = CUDA_ERROR_NOT_READY;
  return hirc_report(error);
}

int cudaEventSynchronize(cuda_event event) {
  struct hirc_point point;
  int error = point_of(event, &point);
  if (error == 0)
    error = hirc_capture_forbid();
  if (error != 0)
    return hirc_report(error);
  hirc_wait_for(point);
  hirc_flush_printf();
  return hirc_report(hirc_device_status());
}

static int elapsed(float *milliseconds, struct hirc_event *start, struct hirc_event *end) {
  struct hirc_point first, last;
  int error = point_of(start, &first);
  if (error == 0)
    error = point_of(end, &last);
  if (error != 0)
    return error;
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  if ((start->flags | end->flags) & CUDA_EVENT_DISABLE_TIMING || !first.stream || !last.stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!hirc_reached(first) || !hirc_reached(last))
    return CUDA_ERROR_NOT_READY;
  pthread_mutex_lock(&start->lock);
  int64_t from = (int64_t)start->nanoseconds;
  pthread_mutex_unlock(&start->lock);
  pthread_mutex_lock(&end->lock);
  int64_t to = (int64_t)end->nanoseconds;
  pthread_mutex_unlock(&end->lock);
  *milliseconds = (float)((double)(to - from) / 1e6);
  return 0;
}

int cudaEventElapsedTime(float *milliseconds, cuda_event start, cuda_event end) {
  return hirc_report(elapsed(milliseconds, start, end));
}
