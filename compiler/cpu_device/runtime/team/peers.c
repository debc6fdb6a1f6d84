// Memory that processes of a team share on the CPU device: mapped by all of them.
//
// To the device it is page-locked memory of the host. Checks know its bounds and what this process
// does there; of what others put there they know nothing.

#define _GNU_SOURCE
#include "../../../runtime/peer_map.h"
#include "../allocation.h"
#include "../checks/checks.h"
#include "../stream.h"
#include "shared.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  TURNS_BEFORE_SLEEP = 200,
  SLEEP_NANOSECONDS = 50 * 1000,
  TURNS_BEFORE_LOOK = 2000, // some 100 milliseconds
};

static int share(void **memory, size_t bytes, struct hirc_peer_handle *handle) {
  // Where it is checked, it lies among what the program allocates.
  void *at = NULL;
  if (hirc_checks_allocations() && !(at = hirc_allocation_create(HIRC_MEMORY_HOST, bytes, 0)))
    return CUDA_ERROR_MEMORY_ALLOCATION;
  *memory = hirc_peer_map(bytes, handle, 1, at);
  bool is_there = *memory && (at || hirc_allocation_register(*memory, bytes, 0));
  return is_there ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

static int open_memory(void **memory, size_t bytes, const struct hirc_peer_handle *handle) {
  struct hirc_peer_handle theirs = *handle;
  *memory = hirc_peer_map(bytes, &theirs, 0, NULL);
  return *memory ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

static int take_flags(_Atomic uint64_t *flags, size_t bytes, _Atomic uint64_t **known) {
  (void)bytes;
  *known = flags;
  return 0;
}

static int enqueue(void *stream, cuda_host_function *function, const void *data, size_t bytes) {
  struct hirc_stream *of = hirc_stream_of(stream);
  void *kept = malloc(bytes);
  if (!of || !kept) {
    free(kept);
    return of ? CUDA_ERROR_MEMORY_ALLOCATION : CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  }
  memcpy(kept, data, bytes);
  int rc = hirc_enqueue_communication(of, function, kept);
  if (rc != 0)
    free(kept);
  return rc;
}

struct copied {
  char *to;
  const char *from;
  size_t bytes;
};

static void do_copy(void *data) {
  const struct copied *copied = data;
  hirc_checks_open();
  memmove(copied->to, copied->from, copied->bytes);
  hirc_checks_sent(copied->from, copied->bytes);
  hirc_checks_filled(copied->to, copied->bytes);
  hirc_checks_close();
  free(data);
}

static int copy(void *to, const void *from, size_t bytes, void *stream) {
  struct copied copied = {to, from, bytes};
  return enqueue(stream, do_copy, &copied, sizeof copied);
}

struct signalled {
  _Atomic uint64_t *flag;
  uint64_t value;
};

static void do_signal(void *data) {
  const struct signalled *signalled = data;
  atomic_store(signalled->flag, signalled->value);
  free(data);
}

static int signal_peer(_Atomic uint64_t *flag, uint64_t value, void *stream) {
  struct signalled signalled = {flag, value};
  return enqueue(stream, do_signal, &signalled, sizeof signalled);
}

// Whether the wait is in vain: the processes' other ways tell of it, or this does.
static int is_hopeless(const struct hirc_peer_wait *wait, int turn) {
  struct nccl_communicator *of = wait->of;
  if (!of || turn < TURNS_BEFORE_SLEEP)
    return 0;
  if (atomic_load(&of->is_aborted) || atomic_load(&of->failed))
    return 1;
  if (turn % TURNS_BEFORE_LOOK != 0 ||
      !hirc_team_has_ended(of->shared->members[wait->place].process) ||
      atomic_load(wait->flag) >= wait->value)
    return 0;
  const char *location = wait->location;
  hirc_team_fail(of, "rank %d still waits%s%.300s for a signal of place %d of its team, which has "
                     "come to its program's end",
                 wait->rank, location && location[0] ? " at " : "", location ? location : "",
                 wait->place);
  return 1;
}

static void do_wait(void *data) {
  const struct hirc_peer_wait *wait = data;
  for (int turn = 0; atomic_load(wait->flag) < wait->value && !is_hopeless(wait, turn); ++turn)
    if (turn < TURNS_BEFORE_SLEEP) {
      sched_yield();
    } else {
      struct timespec pause = {0, SLEEP_NANOSECONDS};
      nanosleep(&pause, NULL);
    }
  free(data);
}

static int wait_for(const struct hirc_peer_wait *wait, void *stream) {
  return enqueue(stream, do_wait, wait, sizeof *wait);
}

const struct hirc_peer_device *hirc_cpu_device_peers(void) {
  static const struct hirc_peer_device functions = {
      .share = share,
      .open = open_memory,
      .take_flags = take_flags,
      .copy = copy,
      .signal = signal_peer,
      .wait = wait_for,
  };
  return &functions;
}
