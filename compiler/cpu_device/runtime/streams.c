// The streams there are. Their storage is used again by later streams, and never given back: see
// struct hirc_point.

#include "checks/checks.h"
#include "capture.h"

#include <stdlib.h>

#define MAGIC UINT64_C(0x6869726373747265)

struct hirc_stream hirc_legacy_stream = {
    .magic = MAGIC,
    .alive = true,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .watched = UINT64_MAX,
    .watch_lock = PTHREAD_MUTEX_INITIALIZER,
    .watch = PTHREAD_COND_INITIALIZER,
};

static _Atomic(struct hirc_stream *) all;
static _Atomic uint64_t last_id = 1;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

struct hirc_stream *hirc_first_stream(void) {
  return atomic_load_explicit(&all, memory_order_acquire);
}

// A stream that was closed and has executed everything.
static struct hirc_stream *closed_stream(void) {
  for (struct hirc_stream *stream = hirc_first_stream(); stream; stream = stream->next_stream)
    if (!atomic_load(&stream->alive) && hirc_reached(hirc_end_of(stream)) &&
        (!hirc_checks_order() || hirc_order_is_settled(stream)))
      return stream;
  return NULL;
}

struct hirc_stream *hirc_stream_open(unsigned flags, int priority) {
  pthread_mutex_lock(&opening);
  struct hirc_stream *stream = closed_stream();
  bool is_new = stream == NULL;
  if (is_new) {
    stream = aligned_alloc(64, sizeof *stream);
    if (!stream) {
      pthread_mutex_unlock(&opening);
      return NULL;
    }
    *stream = (struct hirc_stream){.magic = MAGIC, .watched = UINT64_MAX};
    pthread_mutex_init(&stream->lock, NULL);
    pthread_mutex_init(&stream->watch_lock, NULL);
    pthread_cond_init(&stream->watch, NULL);
  }
  stream->flags = flags;
  stream->priority = priority;
  stream->id = atomic_fetch_add(&last_id, 1) + 1;
  atomic_store(&stream->alive, true);
  if (is_new) {
    stream->next_stream = hirc_first_stream();
    atomic_store_explicit(&all, stream, memory_order_release);
  }
  pthread_mutex_unlock(&opening);
  return stream;
}

void hirc_stream_close(struct hirc_stream *stream) { atomic_store(&stream->alive, false); }

// --- after fork() --------------------------------------------------------------------------------

// What the parent has not executed is the parent's: the stream counts as done in the child. It is not
// captured there.
static void forget_commands(struct hirc_stream *stream) {
  pthread_mutex_init(&stream->lock, NULL);
  pthread_mutex_init(&stream->watch_lock, NULL);
  pthread_cond_init(&stream->watch, NULL);
  atomic_store(&stream->capture, NULL);
  stream->head = stream->last_allowed = stream->tail;
  atomic_store(&stream->completed, atomic_load(&stream->enqueued));
  atomic_store(&stream->allowed, atomic_load(&stream->enqueued));
  atomic_store(&stream->watched, UINT64_MAX);
  atomic_store(&stream->running, 0);
  stream->parked = NULL;
}

static void forget_all_commands(void) {
  pthread_mutex_init(&opening, NULL);
  hirc_order_forget_running();
  hirc_capture_forget();
  forget_commands(&hirc_legacy_stream);
  for (struct hirc_stream *stream = hirc_first_stream(); stream; stream = stream->next_stream)
    forget_commands(stream);
}

__attribute__((constructor)) static void watch_fork(void) {
  pthread_atfork(NULL, NULL, forget_all_commands);
}

// --- the stream of a thread ----------------------------------------------------------------------

static pthread_key_t thread_key;
static bool has_thread_key;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;

static void close_thread_stream(void *stream) {
  hirc_capture_leave(stream);
  hirc_stream_close(stream);
}

static void create_thread_key(void) {
  has_thread_key = pthread_key_create(&thread_key, close_thread_stream) == 0;
}

static struct hirc_stream *thread_stream(void) {
  pthread_once(&thread_once, create_thread_key);
  struct hirc_stream *stream = pthread_getspecific(thread_key);
  if (!stream) {
    stream = hirc_stream_open(0, 0);
    pthread_setspecific(thread_key, stream);
  }
  return stream;
}

struct hirc_stream *hirc_stream_of(cuda_stream handle) {
  if ((uintptr_t)handle <= CUDA_STREAM_LEGACY)
    return &hirc_legacy_stream;
  if ((uintptr_t)handle == CUDA_STREAM_PER_THREAD)
    return thread_stream();
  if ((uintptr_t)handle % _Alignof(struct hirc_stream) != 0 || handle->magic != MAGIC ||
      !atomic_load_explicit(&handle->alive, memory_order_relaxed))
    return NULL;
  return handle;
}

// --- unloading -----------------------------------------------------------------------------------

static void release(struct hirc_stream *stream) {
  hirc_free_nodes(stream);
  free(stream->frees);
}

void hirc_streams_release(void) {
  // A thread that ends later must not call into the library.
  if (has_thread_key)
    pthread_key_delete(thread_key);
  release(&hirc_legacy_stream);
  struct hirc_stream *next;
  for (struct hirc_stream *stream = hirc_first_stream(); stream; stream = next) {
    next = stream->next_stream;
    release(stream);
    free(stream);
  }
}

// --- waiting -------------------------------------------------------------------------------------

// Waits for the legacy stream and all others, or those that are blocking.
static void wait_for_all(bool blocking) {
  hirc_checks_begin_wait();
  struct hirc_stream *first = hirc_first_stream();
  for (struct hirc_stream *stream = first; stream; stream = stream->next_stream)
    if (!blocking || hirc_is_blocking(stream))
      hirc_checks_need(stream, hirc_end_of(stream).position);
  hirc_wait_for(hirc_end_of(&hirc_legacy_stream));
  for (struct hirc_stream *stream = first; stream; stream = stream->next_stream)
    if (!blocking || hirc_is_blocking(stream))
      hirc_wait_for(hirc_end_of(stream));
  hirc_checks_end_wait();
}

void hirc_wait_for_stream(struct hirc_stream *stream) {
  if (stream == &hirc_legacy_stream)
    wait_for_all(true);
  else
    hirc_wait_for(hirc_end_of(stream));
}

void hirc_cpu_device_wait(void) { wait_for_all(false); }

void hirc_wait_for_turn(struct hirc_stream *stream) {
  hirc_wait_for_stream(stream);
  if (hirc_is_blocking(stream))
    hirc_wait_for(hirc_end_of(&hirc_legacy_stream));
}
