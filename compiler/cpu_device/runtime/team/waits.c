// Who waits for whom, over all teams of a machine's processes.
//
// A process that stands still writes into memory of its own for whom it waits, and in what; the
// others find that memory among its files. A process that waits for one that waits, and so on, and
// in the end for itself, finds the circle. It is one for good where none of its processes has gone
// on, and each has looked again at its messages, since the circle was seen first: what one of them
// waits for only the next one could send, which first needs what it waits for itself.
//
// A process that has come to a program's end compares what was communicated with the others'. Who
// waits for it in a communication then waits in vain, unless it has come as far itself.

#define _GNU_SOURCE
#include "shared.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KNOWN_PROCESSES = 1024 };

// What a process says of itself.
struct record {
  _Atomic uint64_t epoch;      // changes when it begins to wait and when it goes on
  _Atomic uint64_t looked;     // how often it looked at its messages in vain
  _Atomic uint64_t agreements; // how often it came to a program's end
  _Atomic int is_waiting;
  int rank, count;
  char text[TEXT_BYTES];
  struct process awaited[LARGEST_TEAM];
};

static struct process self;
static struct record *own;
static _Thread_local struct place_in_program here;

static struct {
  struct process process;
  struct record *record;
} known[KNOWN_PROCESSES];
static int known_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void hirc_cpu_device_communicates(int rank, const char *location) {
  here = (struct place_in_program){rank, location};
}

struct place_in_program hirc_team_here(void) { return here; }

static void *map(int memory) {
  void *mapped = mmap(NULL, sizeof(struct record), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  return mapped == MAP_FAILED ? NULL : mapped;
}

struct process hirc_team_process(void) {
  pthread_mutex_lock(&lock);
  if (self.id != (int)getpid()) {
    int memory = memfd_create("hirc-waits", MFD_CLOEXEC);
    if (memory >= 0 && ftruncate(memory, sizeof(struct record)) == 0 && (own = map(memory)))
      self = (struct process){(int)getpid(), memory};
  }
  pthread_mutex_unlock(&lock);
  return self;
}

// The record of a process; NULL where it cannot be seen.
static struct record *record_of(struct process process) {
  struct record *found = NULL;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < known_count && !found; ++i)
    if (known[i].process.id == process.id && known[i].process.memory == process.memory)
      found = known[i].record;
  if (!found && process.id && known_count < KNOWN_PROCESSES) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process.id, process.memory);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory >= 0) {
      found = map(memory);
      close(memory);
    }
    if (found) {
      known[known_count].process = process;
      known[known_count++].record = found;
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void hirc_cpu_device_agrees(void) {
  if (own)
    atomic_fetch_add(&own->agreements, 1);
}

int hirc_team_has_ended(struct process process) {
  const struct record *other = record_of(process);
  return own && other && atomic_load(&other->agreements) > atomic_load(&own->agreements);
}

void hirc_team_waits(int rank, const char *text, const struct process *awaited, int count) {
  if (!own)
    return;
  own->rank = rank;
  own->count = count < LARGEST_TEAM ? count : LARGEST_TEAM;
  memcpy(own->awaited, awaited, (size_t)own->count * sizeof *awaited);
  snprintf(own->text, sizeof own->text, "%s", text);
  atomic_fetch_add(&own->epoch, 1);
  atomic_store(&own->is_waiting, 1);
}

void hirc_team_looked(void) {
  if (own)
    atomic_fetch_add(&own->looked, 1);
}

void hirc_team_goes_on(void) {
  if (!own)
    return;
  atomic_store(&own->is_waiting, 0);
  atomic_fetch_add(&own->epoch, 1);
}

// Finds a way from the last of the circle back to this process. Returns whether there is one.
static int find_way(struct circle *circle, const struct record *from) {
  int count = from->count;
  for (int i = 0; i < count && i < LARGEST_TEAM; ++i) {
    struct record *next = record_of(from->awaited[i]);
    if (!next)
      continue;
    if (next == own || (from->awaited[i].id == self.id && from->awaited[i].memory == self.memory))
      return 1;
    int is_there = circle->count == LARGEST_CIRCLE || !atomic_load(&next->is_waiting);
    for (int j = 0; j < circle->count; ++j)
      is_there |= circle->links[j].record == next;
    if (is_there)
      continue;
    circle->links[circle->count++] =
        (struct link){next, atomic_load(&next->epoch), atomic_load(&next->looked)};
    if (find_way(circle, next))
      return 1;
    --circle->count;
  }
  return 0;
}

// Whether the circle is still the same, and all of it have looked again.
static int still_stands(const struct circle *circle) {
  for (int i = 0; i < circle->count; ++i) {
    const struct record *record = circle->links[i].record;
    if (!atomic_load(&record->is_waiting) ||
        atomic_load(&record->epoch) != circle->links[i].epoch ||
        atomic_load(&record->looked) < circle->links[i].looked + 2)
      return 0;
  }
  return circle->count > 0;
}

static void describe(const struct circle *circle, char *text, size_t room) {
  size_t at = 0;
  for (int i = 0; i < circle->count && at < room; ++i) {
    const struct record *record = circle->links[i].record;
    const struct record *next = circle->links[(i + 1) % circle->count].record;
    at += (size_t)snprintf(text + at, room - at, "%srank %d waits in %s for rank %d",
                           i ? "; " : "", record->rank, record->text, next->rank);
  }
}

int hirc_team_is_circle(struct circle *circle, char *text, size_t room) {
  if (!own)
    return 0;
  if (still_stands(circle)) {
    describe(circle, text, room);
    return 1;
  }
  circle->count = 1;
  circle->links[0] = (struct link){own, atomic_load(&own->epoch), atomic_load(&own->looked)};
  if (!find_way(circle, own))
    circle->count = 0;
  return 0;
}
