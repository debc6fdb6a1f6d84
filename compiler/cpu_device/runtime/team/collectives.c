// NCCL's functions for the CPU device: teams of processes on one machine.
//
// A group of communications is one function in a stream, which moves the messages of all of them at
// once, so that no order among them matters. What the others take part in is compared with what
// this process does: another kind, size, type or root is an error of the team's, as is waiting for
// one who has left it.

#define _GNU_SOURCE
#include "../checks/checks.h"
#include "../stream.h"
#include "shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, CHUNK_BYTES = 1 << 20 };

// One communication, as this process takes part in it.
struct work {
  struct work *next;
  nccl_communicator of;
  const char *input;
  char *output;
  uint64_t count, bytes; // of elements in each message, and of an element
  struct heading heading;
  struct place_in_program place;
  enum { ALL_REDUCE, REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, SEND, RECEIVE } kind;
  int peer;
};

struct group {
  struct work *first, **last;
  int depth;
  cuda_stream stream;
};

static _Thread_local struct group group;
static _Thread_local char last_error[TEXT_BYTES];

// --- doing it ------------------------------------------------------------------------------------

static void add(struct transfer *list, int *count, struct work *work, int peer, int sends,
                char *bytes, uint64_t bytes_count) {
  struct nccl_communicator *of = work->of;
  int from = sends ? of->place : peer, to = sends ? peer : of->place;
  list[(*count)++] = (struct transfer){.channel = channel_of(of, from, to),
                                       .of = of,
                                       .heading = &work->heading,
                                       .place = work->place,
                                       .bytes = bytes,
                                       .count = bytes_count,
                                       .peer = peer,
                                       .sends = sends};
}

// The messages of one communication that only moves elements.
static void add_moves(struct transfer *list, int *count, struct work *work) {
  int size = work->of->size, place = work->of->place;
  uint64_t bytes = work->count * work->bytes;
  switch (work->kind) {
  case SEND:
    add(list, count, work, work->peer, 1, (char *)work->input, bytes);
    break;
  case RECEIVE:
    add(list, count, work, work->peer, 0, work->output, bytes);
    break;
  case ALL_GATHER:
    for (int i = 0; i < size; ++i) {
      add(list, count, work, i, 1, (char *)work->input, bytes);
      add(list, count, work, i, 0, work->output + (uint64_t)i * bytes, bytes);
    }
    break;
  default: // BROADCAST
    if (place == work->heading.root) {
      for (int i = 0; i < size; ++i)
        if (i != place)
          add(list, count, work, i, 1, (char *)work->input, bytes);
      if (work->output != work->input) {
        memcpy(work->output, work->input, bytes);
        hirc_checks_copied(work->output, work->input, bytes);
      }
    } else {
      add(list, count, work, work->heading.root, 0, work->output, bytes);
    }
  }
}

// Moves the messages; what is checked hears of the memory that they were taken from, and came to.
static int move(struct transfer *list, int count) {
  int rc = hirc_team_transfer(list, count);
  for (int i = 0; rc == 0 && i < count; ++i)
    if (list[i].sends)
      hirc_checks_sent(list[i].bytes, list[i].count);
    else
      hirc_checks_filled(list[i].bytes, list[i].count);
  return rc;
}

// Combines in the order of the team, so that all that have the result have the same.
static int reduce(struct work *work) {
  struct nccl_communicator *of = work->of;
  int size = of->size, place = of->place, count, rc = 0;
  int receives = work->kind != REDUCE || place == work->heading.root;
  int averages = work->heading.reduction == NCCL_AVG;
  uint64_t total = work->count * work->bytes, chunk = CHUNK_BYTES < total ? CHUNK_BYTES : total;
  char *others = malloc((uint64_t)size * chunk + 1);
  struct transfer *list = calloc(2 * (size_t)size, sizeof *list);
  for (uint64_t at = 0; others && list && rc == 0; at += chunk) {
    uint64_t bytes = total - at < chunk ? total - at : chunk;
    count = 0;
    for (int i = 0; i < size; ++i) {
      uint64_t part = work->kind == REDUCE_SCATTER ? (uint64_t)i * total : 0;
      if (work->kind != REDUCE || i == work->heading.root)
        add(list, &count, work, i, 1, (char *)work->input + part + at, bytes);
      if (receives)
        add(list, &count, work, i, 0, others + (uint64_t)i * chunk, bytes);
    }
    rc = move(list, count);
    if (rc == 0 && receives) {
      uint64_t elements = bytes / work->bytes;
      int type = work->heading.type;
      for (int i = 1; i < size; ++i)
        hirc_team_combine(others, others + (uint64_t)i * chunk, elements, type,
                          work->heading.reduction);
      if (averages)
        hirc_team_divide(others, elements, type, size);
      memcpy(work->output + at, others, bytes);
      hirc_checks_filled(work->output + at, bytes);
    }
    if (at + bytes == total)
      break;
  }
  free(others);
  free(list);
  return rc;
}

static int is_reduction(const struct work *work) { return work->kind <= REDUCE_SCATTER; }

static void run_group(void *data) {
  struct work *first = data;
  size_t room = 0;
  for (struct work *each = first; each; each = each->next)
    room += 2 * (size_t)each->of->size;
  struct transfer *list = calloc(room, sizeof *list);
  int count = 0;
  hirc_checks_open();
  for (struct work *each = first; list && each; each = each->next)
    if (!is_reduction(each))
      add_moves(list, &count, each);
  int rc = list ? move(list, count) : -1;
  for (struct work *each = first, *next; each; each = next) {
    next = each->next;
    if (rc == 0 && is_reduction(each))
      rc = reduce(each);
    free(each);
  }
  hirc_checks_close();
  free(list);
}

// --- NCCL's functions ----------------------------------------------------------------------------

static int group_start(void) {
  if (group.depth++ == 0)
    group.last = &group.first;
  return NCCL_SUCCESS;
}

static int group_end(void) {
  if (--group.depth > 0 || !group.first)
    return NCCL_SUCCESS;
  struct work *first = group.first;
  group.first = NULL;
  struct hirc_stream *stream = hirc_stream_of(group.stream);
  return hirc_enqueue_communication(stream, run_group, first) == 0 ? NCCL_SUCCESS : SYSTEM_ERROR;
}

static int enqueue(struct work work, const char *name, int reduction, int root, int type,
                   void *stream) {
  struct work *made = malloc(sizeof *made);
  if (!made)
    return SYSTEM_ERROR;
  work.bytes = (uint64_t)hirc_team_type_bytes(type);
  work.next = NULL;
  work.place = hirc_team_here();
  work.heading = (struct heading){
      .count = work.count, .type = type, .reduction = reduction, .root = root};
  snprintf(work.heading.name, sizeof work.heading.name, "%s", name);
  *made = work;
  group_start();
  group.stream = stream;
  *group.last = made;
  group.last = &made->next;
  return group_end();
}

static int all_reduce(const void *input, void *output, size_t count, int type, int reduction,
                      nccl_communicator of, void *stream) {
  struct work work = {.of = of, .input = input, .output = output, .count = count};
  work.kind = ALL_REDUCE;
  return enqueue(work, "allreduce", reduction, 0, type, stream);
}

static int reduce_to(const void *input, void *output, size_t count, int type, int reduction,
                     int root, nccl_communicator of, void *stream) {
  struct work work = {.of = of, .input = input, .output = output, .count = count};
  work.kind = REDUCE;
  return enqueue(work, "reduce", reduction, root, type, stream);
}

static int reduce_scatter(const void *input, void *output, size_t count, int type, int reduction,
                          nccl_communicator of, void *stream) {
  struct work work = {.of = of, .input = input, .output = output, .count = count};
  work.kind = REDUCE_SCATTER;
  return enqueue(work, "reduce-scatter", reduction, 0, type, stream);
}

static int all_gather(const void *input, void *output, size_t count, int type,
                      nccl_communicator of, void *stream) {
  struct work work = {.of = of, .input = input, .output = output, .count = count};
  work.kind = ALL_GATHER;
  return enqueue(work, "allgather", 0, 0, type, stream);
}

static int broadcast(const void *input, void *output, size_t count, int type, int root,
                     nccl_communicator of, void *stream) {
  struct work work = {.of = of, .input = input, .output = output, .count = count};
  work.kind = BROADCAST;
  return enqueue(work, "broadcast", 0, root, type, stream);
}

static int send_to(const void *input, size_t count, int type, int to, nccl_communicator of,
                   void *stream) {
  struct work work = {.of = of, .input = input, .count = count, .peer = to};
  work.kind = SEND;
  return enqueue(work, "a message", 0, 0, type, stream);
}

static int receive_from(void *output, size_t count, int type, int from, nccl_communicator of,
                        void *stream) {
  struct work work = {.of = of, .output = output, .count = count, .peer = from};
  work.kind = RECEIVE;
  return enqueue(work, "a message", 0, 0, type, stream);
}

// Memory of the first process's, which the others find among its files: it goes when they do.
static int get_unique_id(struct nccl_unique_id *id) {
  int memory = memfd_create("hirc-team", MFD_CLOEXEC);
  if (memory < 0)
    return SYSTEM_ERROR;
  snprintf(id->bytes, sizeof id->bytes, "/proc/%d/fd/%d", (int)getpid(), memory);
  return NCCL_SUCCESS;
}

static int refuse(const char *what) {
  snprintf(last_error, sizeof last_error, "%s: %s", what, strerror(errno));
  return SYSTEM_ERROR;
}

static int join(nccl_communicator *made, int size, struct nccl_unique_id id, int place,
                struct nccl_config *config) {
  (void)config;
  if (size > LARGEST_TEAM) {
    snprintf(last_error, sizeof last_error, "a team has at most %d processes on the CPU device",
             LARGEST_TEAM);
    return INVALID_ARGUMENT;
  }
  size_t bytes = sizeof(struct shared) + (size_t)(size * size) * sizeof(struct channel);
  int memory = open(id.bytes, O_RDWR | O_CLOEXEC);
  if (memory < 0)
    return refuse("the memory of the team's first process cannot be opened");
  if (ftruncate(memory, (off_t)bytes) != 0) {
    close(memory);
    return refuse("no memory is left for the team");
  }
  void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  close(memory);
  struct nccl_communicator *of = calloc(1, sizeof *of);
  if (mapped == MAP_FAILED || !of) {
    free(of);
    return refuse("no memory is left for the team");
  }
  of->shared = mapped;
  of->size = size;
  of->place = place;
  of->memory = -1;
  if (place == 0)
    sscanf(id.bytes, "/proc/%*d/fd/%d", &of->memory);
  of->shared->members[place].process = hirc_team_process();
  atomic_fetch_add(&of->shared->arrived, 1);
  *made = of;
  return NCCL_IN_PROGRESS;
}

// What a stream has still to do with it ends; nobody knows when that is, so it is not freed.
static int abort_team(nccl_communicator of) {
  atomic_store(&of->is_aborted, 1);
  atomic_store(&of->shared->members[of->place].has_left, 1);
  return NCCL_SUCCESS;
}

static int get_async_error(nccl_communicator of, int *status) {
  *status = atomic_load(&of->failed);
  if (*status == 0 && atomic_load(&of->shared->arrived) < of->size)
    *status = NCCL_IN_PROGRESS;
  else if (of->memory >= 0) {
    close(of->memory); // all have it
    of->memory = -1;
  }
  return NCCL_SUCCESS;
}

static const char *get_error_string(int status) {
  switch (status) {
  case NCCL_SUCCESS:
    return "no error";
  case SYSTEM_ERROR:
    return "an error of the system";
  case NCCL_IN_PROGRESS:
    return "it is in progress";
  default:
    return "the team does not agree";
  }
}

static const char *get_last_error(nccl_communicator of) {
  return of && atomic_load(&of->failed) ? of->text : last_error;
}

const struct nccl *hirc_cpu_device_nccl(void) {
  static const struct nccl functions = {
      get_unique_id, join,           abort_team, get_async_error, get_error_string,
      get_last_error, all_reduce,    reduce_to,  reduce_scatter,  all_gather,
      broadcast,     send_to,        receive_from, group_start,   group_end,
  };
  return &functions;
}
