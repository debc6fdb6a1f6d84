// Streams for asynchronous ops, and ordering one stream after another.
//
// State: one pool a linked file (executable or shared library), as the statically linked CUDA
// runtime is too. Every translation unit carries a copy of these functions and of the two tables,
// but the tables are weak and hidden, so the linker keeps one of each. They must therefore not be
// made internal when this code is linked into a module, and their names carry the number of their
// layout: change the layout, change the number.

#include "current_device.h"
#include "graphs.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
  STREAMS_PER_DEVICE = 32,
  EVENTS_PER_DEVICE = 8,
};

struct stream_pool {
  _Atomic unsigned next; // round robin, wraps
  _Atomic(cuda_stream) streams[STREAMS_PER_DEVICE];
};

// Idle events; whoever takes one out owns it until it is put back.
struct event_pool {
  _Atomic(cuda_event) events[EVENTS_PER_DEVICE];
};

__attribute__((weak, visibility("hidden"))) struct stream_pool
    hirc_state_stream_pools_1[MAX_DEVICES];
__attribute__((weak, visibility("hidden"))) struct event_pool hirc_state_event_pools_1[MAX_DEVICES];

// Lets a stream come to rest, unless it is being captured: then nothing of it runs.
void hirc_stream_settle(void *stream) {
  int captured = 0;
  if (stream && cudaStreamIsCapturing(stream, &captured) == 0 && !captured)
    cudaStreamSynchronize(stream);
  cudaGetLastError();
}

static void settle(void) {
  int device = 0;
  if (cudaGetDevice(&device) == 0 && device >= 0 && device < MAX_DEVICES)
    for (int i = 0; i < STREAMS_PER_DEVICE; ++i)
      hirc_stream_settle(hirc_state_stream_pools_1[device].streams[i]);
}

// Fills an empty slot. Two threads may both find it empty: the second gives its stream back.
__attribute__((noinline)) static cuda_stream create_stream(_Atomic(cuda_stream) *slot,
                                                           const char *location) {
  cuda_stream created = NULL, present = NULL;
  check(cudaStreamCreateWithFlags(&created, CUDA_STREAM_NON_BLOCKING), "cudaStreamCreateWithFlags",
        location);
  __atomic_store_n(&hirc_state_settle_1[HIRC_SETTLE_ACQUIRED], &settle, __ATOMIC_RELEASE);
  if (atomic_compare_exchange_strong(slot, &present, created))
    return created;
  check(cudaStreamDestroy(created), "cudaStreamDestroy", location);
  return present;
}

// Returns a stream of the current device that does not synchronise with the default stream. The
// pool hands its streams out in turn, so a stream may carry other work too: that costs overlap,
// never correctness. It is never to be destroyed.
void *hirc_stream_acquire(const char *location) {
  if (hirc_recorder())
    return hirc_graph_stream(hirc_recorder(), HIRC_STREAM_ACQUIRED, 0, NULL);
  wait_at_end();
  struct stream_pool *pool = &hirc_state_stream_pools_1[current_device(location)];
  unsigned turn = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
  _Atomic(cuda_stream) *slot = &pool->streams[turn % STREAMS_PER_DEVICE];
  cuda_stream stream = atomic_load_explicit(slot, memory_order_acquire);
  return stream ? stream : create_stream(slot, location);
}

static void release_event(void *event, void *stream) {
  (void)stream;
  cudaEventDestroy(event);
  cudaGetLastError();
}

// An idle event, which is the call's until it is put back.
static cuda_event take_event(struct event_pool *pool, const char *location) {
  cuda_event event = NULL;
  for (int i = 0; i < EVENTS_PER_DEVICE && !event; ++i)
    event = atomic_exchange_explicit(&pool->events[i], NULL, memory_order_acquire);
  if (!event)
    check(cudaEventCreateWithFlags(&event, CUDA_EVENT_DISABLE_TIMING), "cudaEventCreateWithFlags",
          location);
  hirc_own(event, release_event, HIRC_OBJECT, location);
  return event;
}

static void put_back_event(struct event_pool *pool, cuda_event event, const char *location) {
  bool is_kept = false;
  for (int i = 0; i < EVENTS_PER_DEVICE && !is_kept; ++i) {
    cuda_event empty = NULL;
    is_kept = atomic_compare_exchange_strong_explicit(&pool->events[i], &empty, event,
                                                      memory_order_release, memory_order_relaxed);
  }
  // CUDA frees a destroyed event once the work that refers to it is done.
  if (!is_kept)
    check(cudaEventDestroy(event), "cudaEventDestroy", location);
  hirc_disown(event, HIRC_OBJECT);
}

// Records an event of device `device`'s pool in `signaller` and lets `waiter` wait for it. The
// event may go back at once: cudaStreamWaitEvent refers to the record that was newest when it was
// called, whatever is recorded in the same event later. Returns what cudaEventRecord returned.
static int wait_through_event(int device, void *waiter, void *signaller, const char *location) {
  struct event_pool *pool = &hirc_state_event_pools_1[device];
  cuda_event event = take_event(pool, location);
  int rc = cudaEventRecord(event, signaller);
  if (rc == 0)
    check(cudaStreamWaitEvent(waiter, event, 0), "cudaStreamWaitEvent", location);
  put_back_event(pool, event, location);
  return rc;
}

// The device that was current before the call left it for another one, as its number plus 1: no
// object is there.
static void return_to_device(void *device, void *stream) {
  (void)stream;
  cudaSetDevice((int)(uintptr_t)device - 1);
}

// Event and stream must be of one device: takes the event from the device of `signaller`.
__attribute__((cold, noinline)) static void wait_for_other_device(int device, void *waiter,
                                                                  void *signaller,
                                                                  const char *location) {
  int other = device;
  cudaGetLastError(); // forget the failed record: nothing later may report it
  check(cudaStreamGetDevice(signaller, &other), "cudaStreamGetDevice", location);
  if (other == device || other < 0 || other >= MAX_DEVICES)
    hirc_check_failed(CUDA_ERROR_INVALID_RESOURCE_HANDLE, "cudaEventRecord", location, NULL);
  void *back = (void *)(uintptr_t)(device + 1);
  hirc_own(back, return_to_device, HIRC_OBJECT, location);
  check(cudaSetDevice(other), "cudaSetDevice", location);
  check(wait_through_event(other, waiter, signaller, location), "cudaEventRecord", location);
  check(cudaSetDevice(device), "cudaSetDevice", location);
  hirc_disown(back, HIRC_OBJECT);
}

// Lets what is put into `waiter` from now on start only after everything that is in `signaller`
// now. Never blocks the host. The streams may be of different devices.
void hirc_stream_wait(void *waiter, void *signaller, const char *location) {
  if (waiter == signaller)
    return;
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0)) {
    struct hirc_part parts[] = {{&waiter, sizeof waiter}, {&signaller, sizeof signaller}};
    if (hirc_graph_does(recorder, HIRC_STEP_WAIT, parts, 2))
      return;
    hirc_graph_did(recorder);
  }
  int device = current_device(location);
  int rc = wait_through_event(device, waiter, signaller, location);
  if (rc == CUDA_ERROR_INVALID_RESOURCE_HANDLE)
    wait_for_other_device(device, waiter, signaller, location);
  else
    check(rc, "cudaEventRecord", location);
}

// An event that stands for all that is in `stream` now, a stream of the current device. It is the
// caller's until hirc_event_release.
void *hirc_event_record(void *stream, const char *location) {
  struct event_pool *pool = &hirc_state_event_pools_1[current_device(location)];
  cuda_event event = take_event(pool, location);
  check(cudaEventRecord(event, stream), "cudaEventRecord", location);
  return event;
}

// Takes the event back. Streams that were told to wait for it still do: each refers to the record
// that was newest when it was told.
void hirc_event_release(void *event, const char *location) {
  put_back_event(&hirc_state_event_pools_1[current_device(location)], event, location);
}
