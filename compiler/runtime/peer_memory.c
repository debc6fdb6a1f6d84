// Memory that the processes of a team share: symmetric allocations, puts, gets, signals, barriers.
//
// An allocation is a slot: memory of one size in each process, which the others have mapped, and
// flags that they share. Slots are made by all of the team at once, who exchange handles then, and are
// kept: a later allocation of the team takes a free one, and as all of the team allocate and free in
// one order, all take the same. An allocation is a barrier of the team's streams, so nothing is put
// into memory that its owner still uses for something else.
//
// A flag is for one process to write and for one to wait at: a count of signals in the low half, of
// the slot's allocations in the high one, so that what nobody waited for does not count later. Flags
// lie in the host's memory: when processes cannot go on together, a thread ends the streams' waits.

#define _GNU_SOURCE
#include "calls.h"
#include "communicator.h"
#include "cpu_device.h"
#include "current_device.h"
#include "failure.h"
#include "memory_counts.h"
#include "peer_map.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What the flags of a slot are for: each kind has one from each process to each.
enum { SIGNALS, BARRIERS, KINDS };

static const uint64_t END_OF_WAITS = UINT64_C(1) << 62;
static const int GENERATION_SHIFT = 32;

// The waits at one flag: up to which value, and since when it stands still at which.
struct waits {
  uint64_t until, seen;
  time_t since;
  const char *location;
};

struct peer {
  char *memory;
  uint64_t sent[KINDS];
  struct waits waits[KINDS];
};

struct slot {
  struct slot *next;
  struct hirc_communicator *of;
  char *memory;
  size_t room; // one more than the bytes: an empty view may lie at their end
  uint64_t generation;
  int is_free;
  cuda_event freed; // after the last use of a slot that is free; NULL: it was never used
  _Atomic uint64_t *flags, *known_flags; // as the host and the device see them
  struct peer peers[];
};

// State: see streams.c. Slots are added under the lock of communications and never removed.
struct slots {
  struct slot *first;
  const struct hirc_peer_device *device;
};
__attribute__((weak, visibility("hidden"))) struct slots hirc_state_slots_1;

static const struct hirc_communication allocation = {.kind = HIRC_SYMMETRIC, .units = 1},
                                       a_put = {.kind = HIRC_PUT, .units = 1},
                                       a_get = {.kind = HIRC_GET, .units = 1},
                                       a_barrier = {.kind = HIRC_BARRIER, .units = 1};

static const struct hirc_peer_device *peers_of_device(const char *location) {
  if (!hirc_state_slots_1.device)
    hirc_state_slots_1.device =
        on_cpu_device() ? hirc_cpu_device_peers() : hirc_gpu_peers(location);
  return hirc_state_slots_1.device;
}

static size_t flag_of(const struct slot *slot, int kind, int64_t to, int64_t from) {
  return (size_t)((kind * slot->of->size + to) * slot->of->size + from);
}

// --- flags ---------------------------------------------------------------------------------------

static void signal_to(struct slot *slot, int kind, int64_t to, void *stream,
                      const char *location) {
  uint64_t value = ++slot->peers[to].sent[kind];
  _Atomic uint64_t *flag = slot->known_flags + flag_of(slot, kind, to, slot->of->place);
  check(peers_of_device(location)->signal(flag, value, stream), "cuStreamWriteValue64", location);
}

static void wait_for(struct slot *slot, int kind, int64_t from, void *stream,
                     const char *location) {
  struct waits *waits = &slot->peers[from].waits[kind];
  waits->location = location;
  __atomic_fetch_add(&waits->until, 1, __ATOMIC_RELEASE);
  struct hirc_peer_wait wait = {
      .flag = slot->known_flags + flag_of(slot, kind, slot->of->place, from),
      .value = waits->until,
      .of = slot->of->nccl,
      .place = (int)from,
      .rank = hirc_world(location)->rank,
      .location = location,
  };
  check(peers_of_device(location)->wait(&wait, stream), "cuStreamWaitValue64", location);
}

// Whether a wait has not got on for too long.
static int is_stuck(const struct slot *slot, int kind, int64_t from,
                    char why[HIRC_WORLD_TEXT_BYTES]) {
  struct waits *waits = (struct waits *)&slot->peers[from].waits[kind];
  uint64_t until = __atomic_load_n(&waits->until, __ATOMIC_ACQUIRE);
  uint64_t now = atomic_load(slot->flags + flag_of(slot, kind, slot->of->place, from));
  // Whose low half is 0 was not waited for since the allocation.
  if ((uint32_t)until == 0 || now >= until || now != waits->seen) {
    waits->seen = now;
    waits->since = 0;
    return 0;
  }
  const struct hirc_world *world = hirc_world(NULL);
  if (waits->since == 0)
    waits->since = time(NULL);
  if (time(NULL) - waits->since <= world->seconds)
    return 0;
  const char *location = waits->location;
  snprintf(why, HIRC_WORLD_TEXT_BYTES, "rank %d has waited %d seconds for %s of rank %" PRId64
           "%s%.300s", world->rank, world->seconds, kind == BARRIERS ? "the barrier" : "a signal",
           slot->of->team[from], location && location[0] ? " at " : "", location ? location : "");
  return 1;
}

// Called several times a second, by one thread; after a failure by any, to end all waits. What a peer
// still signals may begin one anew, until the next time.
static int look(int has_failed, char why[HIRC_WORLD_TEXT_BYTES]) {
  struct slot *slot = __atomic_load_n(&hirc_state_slots_1.first, __ATOMIC_ACQUIRE);
  for (; slot; slot = __atomic_load_n(&slot->next, __ATOMIC_ACQUIRE))
    for (int64_t from = 0; slot->flags && from < slot->of->size; ++from)
      for (int kind = 0; kind < KINDS; ++kind)
        if (has_failed)
          atomic_store(slot->flags + flag_of(slot, kind, slot->of->place, from), END_OF_WAITS);
        else if (is_stuck(slot, kind, from, why))
          return 1;
  return 0;
}

// --- slots ---------------------------------------------------------------------------------------

// What a process tells its team of a slot.
struct offer {
  uint64_t bytes;
  struct hirc_peer_handle memory, flags; // flags: the first one's count
};

void hirc_communicator_key(const struct hirc_communicator *of, const char *what, int64_t place,
                           char key[HIRC_WORLD_KEY_BYTES]) {
  int length = snprintf(key, HIRC_WORLD_KEY_BYTES, "%s %" PRId64 " of", what, place);
  for (int64_t i = 0; i < of->size && length < HIRC_WORLD_KEY_BYTES; ++i)
    length += snprintf(key + length, (size_t)(HIRC_WORLD_KEY_BYTES - length), " %" PRId64,
                       of->team[i]);
}

static void take_offer(const struct slot *slot, int64_t place, uint64_t bytes, struct offer *offer,
                       const char *location) {
  char key[HIRC_WORLD_KEY_BYTES], why[HIRC_WORLD_TEXT_BYTES];
  hirc_communicator_key(slot->of, "symmetric", place, key);
  hirc_world_take(key, offer, sizeof *offer, location);
  if (offer->bytes == bytes)
    return;
  snprintf(why, sizeof why,
           "rank %d allocates %" PRIu64 " bytes of memory that its team shares, and rank %" PRId64
           " %" PRIu64,
           hirc_world(location)->rank, bytes, slot->of->team[place], offer->bytes);
  hirc_world_fail(why);
  hirc_world_check(location);
}

static void *map_flags(size_t bytes, struct hirc_peer_handle *handle, int is_new,
                       const char *location) {
  void *flags = hirc_peer_map(bytes, handle, is_new, NULL);
  if (flags)
    return flags;
  hirc_error_begin(location);
  hirc_error_add("the team's flags, which its processes share, cannot be mapped: %s",
                 strerror(errno));
  hirc_fail(hirc_end_program);
}

// Tells the team of the slot, and maps what the others have. At its end all have mapped all.
static void exchange(struct slot *slot, struct offer *own, const char *location) {
  const struct hirc_peer_device *device = peers_of_device(location);
  struct hirc_communicator *of = slot->of;
  char key[HIRC_WORLD_KEY_BYTES], is_done = 1;
  size_t flag_bytes = (size_t)(KINDS * of->size * of->size) * sizeof *slot->flags;
  void *flags = NULL;
  if (of->place == 0)
    flags = map_flags(flag_bytes, &own->flags, 1, location);
  if (of->size > 1) {
    hirc_communicator_key(of, "symmetric", of->place, key);
    hirc_world_give(key, own, sizeof *own, location);
  }
  for (int64_t place = 0; place < of->size; ++place) {
    struct offer offer;
    if (place == of->place)
      continue;
    take_offer(slot, place, own->bytes, &offer, location);
    if (place == 0)
      flags = map_flags(flag_bytes, &offer.flags, 0, location);
    void *memory = NULL;
    check(device->open(&memory, slot->room, &offer.memory), "cuIpcOpenMemHandle", location);
    slot->peers[place].memory = memory;
  }
  slot->flags = flags;
  check(device->take_flags(slot->flags, flag_bytes, &slot->known_flags), "cudaHostRegister",
        location);
  if (of->size > 1) {
    hirc_communicator_key(of, "mapped", of->place, key);
    hirc_world_give(key, &is_done, sizeof is_done, location);
  }
  for (int64_t place = 0; place < of->size; ++place)
    if (place != of->place) {
      hirc_communicator_key(of, "mapped", place, key);
      hirc_world_take(key, &is_done, sizeof is_done, location);
    }
  hirc_peer_close(&own->flags);
}

static struct slot *make(struct hirc_communicator *of, size_t bytes, const char *location) {
  size_t size = sizeof(struct slot) + (size_t)of->size * sizeof(struct peer);
  struct slot *slot = calloc(1, size);
  hirc_own_host(slot, (int64_t)size, location);
  struct offer own = {.bytes = bytes};
  slot->of = of;
  slot->room = bytes + 1;
  void *memory = NULL;
  int rc = peers_of_device(location)->share(&memory, slot->room, &own.memory);
  check(rc, memory ? "cuIpcGetMemHandle" : "cudaMalloc", location);
  hirc_own_device(memory, location);
  slot->memory = memory;
  if (of->place >= 0) {
    slot->peers[of->place].memory = slot->memory;
    exchange(slot, &own, location);
  }
  hirc_peer_close(&own.memory);
  check(cudaEventCreateWithFlags(&slot->freed, CUDA_EVENT_DISABLE_TIMING),
        "cudaEventCreateWithFlags", location);
  hirc_disown(memory, HIRC_OBJECT);
  hirc_disown_memory(slot);
  struct slot **last = &hirc_state_slots_1.first;
  while (*last)
    last = &(*last)->next;
  __atomic_store_n(last, slot, __ATOMIC_RELEASE);
  hirc_communication_look_also(look);
  return slot;
}

// The slot that memory lies in.
static struct slot *slot_of(const void *memory, const char *location) {
  for (struct slot *slot = hirc_state_slots_1.first; slot; slot = slot->next)
    if ((size_t)((const char *)memory - slot->memory) < slot->room)
      return slot;
  hirc_refuse("this memory is not shared by a team", 0, 0, location);
}

// What is in the stream from now on comes after what is in those of the team, and after its copies.
static void meet(struct slot *slot, const struct hirc_communication *what, int64_t count,
                 void *stream, const char *location) {
  struct hirc_communicator *of = slot->of;
  hirc_communication_open(of, what, count, stream, location);
  hirc_communication_wait(hirc_communication_close(of, location), stream, location);
  if (of->nccl)
    hirc_communicator_note(of, what, count, 0, location);
  for (int64_t place = 0; place < of->size; ++place)
    if (place != of->place)
      signal_to(slot, BARRIERS, place, stream, location);
  for (int64_t place = 0; place < of->size; ++place)
    if (place != of->place)
      wait_for(slot, BARRIERS, place, stream, location);
}

void *hirc_symmetric_allocate(struct hirc_communicator *of, int64_t bytes, int zeros, void *stream,
                              const char *location) {
  size_t wanted = (size_t)bytes;
  struct slot *slot = hirc_state_slots_1.first;
  hirc_world_check(location);
  hirc_communication_lock(location);
  while (slot && (!slot->is_free || slot->of != of || slot->room <= wanted))
    slot = slot->next;
  if (slot)
    check(cudaStreamWaitEvent(stream, slot->freed, 0), "cudaStreamWaitEvent", location);
  else
    slot = make(of, wanted, location);
  slot->is_free = 0;
  ++slot->generation;
  uint64_t begin = slot->generation << GENERATION_SHIFT;
  for (int64_t place = 0; place < of->size; ++place) {
    slot->peers[place].sent[SIGNALS] = begin;
    __atomic_store_n(&slot->peers[place].waits[SIGNALS].until, begin, __ATOMIC_RELEASE);
  }
  if (memory_is_counted())
    hirc_count_allocation(slot->memory, bytes);
  if (zeros)
    hirc_fill_bytes(slot->memory, 0, bytes, stream, location);
  if (of->place >= 0)
    meet(slot, &allocation, bytes, stream, location);
  hirc_communication_unlock();
  return slot->memory;
}

void hirc_symmetric_free(void *memory, void *stream, const char *location) {
  struct slot *slot = slot_of(memory, location);
  hirc_communication_lock(location);
  if (memory_is_counted())
    hirc_count_deallocation(memory);
  check(cudaEventRecord(slot->freed, stream), "cudaEventRecord", location);
  slot->is_free = 1;
  hirc_communication_unlock();
}

// --- moving --------------------------------------------------------------------------------------

// Whether there is anything to do for a peer. Fails where there is no such place.
static int has_peer(const struct slot *slot, int64_t peer, const char *location) {
  if (slot->of->place < 0)
    return 0;
  hirc_communication_check_place(peer, -1, slot->of->size, location);
  return peer >= 0;
}

static void check_sizes(const char *what, int64_t source, int64_t target, const char *location) {
  if (__builtin_expect(source == target, 1))
    return;
  hirc_error_begin(location);
  hirc_error_add("the source of a %s has %" PRId64 " bytes and its target %" PRId64, what, source,
                 target);
  hirc_fail(hirc_end_after_device);
}

void *hirc_put(const void *source, void *target, int64_t source_bytes, int64_t target_bytes,
               int64_t peer, int signals, void *stream, const char *location) {
  struct slot *slot = slot_of(target, location);
  check_sizes("put", source_bytes, target_bytes, location);
  if (!has_peer(slot, peer, location))
    return NULL;
  void *lane = hirc_communication_open(slot->of, &a_put, source_bytes, stream, location);
  char *there = slot->peers[peer].memory + ((char *)target - slot->memory);
  if (source_bytes > 0)
    check(peers_of_device(location)->copy(there, source, (size_t)source_bytes, lane),
          "cudaMemcpyAsync", location);
  if (signals)
    signal_to(slot, SIGNALS, peer, lane, location);
  return hirc_communication_close(slot->of, location);
}

void *hirc_get(const void *source, void *target, int64_t source_bytes, int64_t target_bytes,
               int64_t peer, void *stream, const char *location) {
  struct slot *slot = slot_of(source, location);
  check_sizes("get", source_bytes, target_bytes, location);
  if (!has_peer(slot, peer, location))
    return NULL;
  void *lane = hirc_communication_open(slot->of, &a_get, source_bytes, stream, location);
  const char *there = slot->peers[peer].memory + ((const char *)source - slot->memory);
  if (source_bytes > 0)
    check(peers_of_device(location)->copy(target, there, (size_t)source_bytes, lane),
          "cudaMemcpyAsync", location);
  return hirc_communication_close(slot->of, location);
}

void hirc_wait_signal(const void *buffer, int64_t peer, void *stream, const char *location) {
  struct slot *slot = slot_of(buffer, location);
  if (!has_peer(slot, peer, location))
    return;
  hirc_communication_lock(location);
  hirc_world_check(location);
  wait_for(slot, SIGNALS, peer, stream, location);
  hirc_communication_unlock();
}

void hirc_barrier(const void *buffer, void *stream, const char *location) {
  struct slot *slot = slot_of(buffer, location);
  if (slot->of->place < 0)
    return;
  hirc_communication_lock(location);
  meet(slot, &a_barrier, 0, stream, location);
  hirc_communication_unlock();
}
