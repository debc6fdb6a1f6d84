// The streams that programs name or number: one for each name, or number, and device.
//
// State: see streams.c. None of these streams is ever destroyed.

#include "current_device.h"
#include "graphs.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERED_STREAMS = 64 };

struct named_stream {
  struct named_stream *next;
  cuda_stream stream;
  char name[];
};

struct numbered_streams {
  _Atomic(cuda_stream) streams[NUMBERED_STREAMS];
};

// Lists that only grow at their heads.
__attribute__((weak, visibility("hidden"))) struct named_stream *_Atomic
    hirc_state_named_streams_1[MAX_DEVICES];
__attribute__((weak, visibility("hidden"))) struct numbered_streams
    hirc_state_numbered_streams_1[MAX_DEVICES];

static void settle(void) {
  int device = 0;
  if (cudaGetDevice(&device) != 0 || device < 0 || device >= MAX_DEVICES)
    return;
  for (int i = 0; i < NUMBERED_STREAMS; ++i)
    hirc_stream_settle(hirc_state_numbered_streams_1[device].streams[i]);
  for (struct named_stream *each = hirc_state_named_streams_1[device]; each; each = each->next)
    hirc_stream_settle(each->stream);
}

static cuda_stream create(const char *location) {
  cuda_stream stream = NULL;
  wait_at_end();
  check(cudaStreamCreateWithFlags(&stream, CUDA_STREAM_NON_BLOCKING), "cudaStreamCreateWithFlags",
        location);
  __atomic_store_n(&hirc_state_settle_1[HIRC_SETTLE_NAMED], &settle, __ATOMIC_RELEASE);
  return stream;
}

static struct named_stream *find(struct named_stream *from, const struct named_stream *end,
                                 const char *name) {
  for (; from != end; from = from->next)
    if (strcmp(from->name, name) == 0)
      return from;
  return NULL;
}

// The stream of that name, made where there is none. Of two threads that make it at once, the
// second finds the first's and gives its own back.
__attribute__((noinline)) static cuda_stream find_or_create(struct named_stream *_Atomic *list,
                                                            const char *name,
                                                            const char *location) {
  struct named_stream *head = atomic_load_explicit(list, memory_order_acquire);
  struct named_stream *found = find(head, NULL, name);
  if (found)
    return found->stream;
  size_t bytes = strlen(name) + 1;
  struct named_stream *created = malloc(sizeof *created + bytes);
  hirc_own_host(created, (int64_t)(sizeof *created + bytes), location);
  memcpy(created->name, name, bytes);
  created->stream = create(location);
  hirc_disown_memory(created);
  do {
    created->next = head;
    if (atomic_compare_exchange_weak_explicit(list, &head, created, memory_order_acq_rel,
                                              memory_order_acquire))
      return created->stream;
    found = find(head, created->next, name);
  } while (!found);
  check(cudaStreamDestroy(created->stream), "cudaStreamDestroy", location);
  free(created);
  return found->stream;
}

// The current device's stream called `name`. `known` is a caller's zeroed table, one for
// each name, in which the stream is found the next time.
void *hirc_stream_named(void **known, const char *name, const char *location) {
  if (hirc_recorder())
    return hirc_graph_stream(hirc_recorder(), HIRC_STREAM_NAMED, 0, name);
  int device = current_device(location);
  cuda_stream stream = __atomic_load_n(&known[device], __ATOMIC_ACQUIRE);
  if (__builtin_expect(stream == NULL, 0)) {
    stream = find_or_create(&hirc_state_named_streams_1[device], name, location);
    __atomic_store_n(&known[device], stream, __ATOMIC_RELEASE);
  }
  return stream;
}

__attribute__((noinline)) static cuda_stream create_numbered(_Atomic(cuda_stream) *slot,
                                                             const char *location) {
  cuda_stream created = create(location), present = NULL;
  if (atomic_compare_exchange_strong(slot, &present, created))
    return created;
  check(cudaStreamDestroy(created), "cudaStreamDestroy", location);
  return present;
}

// The current device's stream number `index` modulo `pool`, which is positive. Beyond
// NUMBERED_STREAMS several numbers share a stream: that costs overlap, never correctness.
void *hirc_stream_of_pool(int64_t index, int64_t pool, const char *location) {
  int64_t number = index % pool;
  if (hirc_recorder())
    return hirc_graph_stream(hirc_recorder(), HIRC_STREAM_NUMBERED, number, NULL);
  number += number < 0 ? pool : 0;
  struct numbered_streams *all = &hirc_state_numbered_streams_1[current_device(location)];
  _Atomic(cuda_stream) *slot = &all->streams[number % NUMBERED_STREAMS];
  cuda_stream stream = atomic_load_explicit(slot, memory_order_acquire);
  return stream ? stream : create_numbered(slot, location);
}
