// What the processes of a team share on the CPU device: memory with a channel from each to each.
#ifndef HIRC_TEAM_SHARED_H
#define HIRC_TEAM_SHARED_H

#include "../../../runtime/nccl_abi.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CHANNEL_BYTES = 1 << 16, LARGEST_TEAM = 64, LARGEST_CIRCLE = 64, TEXT_BYTES = 480 };

// Bytes on their way: written by one process, read by another.
struct channel {
  _Alignas(64) _Atomic uint64_t written;
  _Alignas(64) _Atomic uint64_t read;
  char bytes[CHANNEL_BYTES];
};

// A process, and the number of its file with what it says of itself (waits.c).
struct process {
  int id, memory;
};

struct member {
  _Atomic int has_left;
  struct process process; // written before the member arrives
};

struct shared {
  _Atomic int arrived;
  struct member members[LARGEST_TEAM];
  struct channel channels[]; // [from * size + to]
};

struct nccl_communicator {
  struct shared *shared;
  int size, place;
  int memory; // of the first of a team, until all have opened it; else -1
  _Atomic int is_aborted;
  _Atomic int failed; // an error of NCCL's; `text` says more
  char text[TEXT_BYTES];
};

static inline struct channel *channel_of(const struct nccl_communicator *of, int from, int to) {
  return &of->shared->channels[from * of->size + to];
}

// What all who take part in a communication must say alike.
struct heading {
  char name[16];
  uint64_t count;
  int32_t type, reduction, root, reserved;
};

// Where a program is in a communication: its rank, and the place in its text.
struct place_in_program {
  int rank;
  const char *location;
};

// A message from this process to another, or from another, on its way.
struct transfer {
  struct channel *channel;
  struct nccl_communicator *of;
  const struct heading *heading;
  struct place_in_program place;
  char *bytes;
  uint64_t count; // of bytes
  uint64_t done;  // of heading and bytes
  int peer, sends;
  struct heading other; // what the sender said
};

// Moves them all. Returns 0, or -1 where a communicator failed or was aborted.
int hirc_team_transfer(struct transfer *transfers, int count);

// Says why the team cannot go on, unless that is known already.
__attribute__((format(printf, 2, 3))) void hirc_team_fail(struct nccl_communicator *of,
                                                          const char *format, ...);

// waits.c. Processes that wait for one another, the first of them this one.
struct circle {
  int count;
  struct link {
    struct record *record;
    uint64_t epoch, looked;
  } links[LARGEST_CIRCLE];
};

// This process as the others find it; what the thread's program said last of where it is.
struct process hirc_team_process(void);
struct place_in_program hirc_team_here(void);

// Whether a process has come to a program's end, to which this one has not.
int hirc_team_has_ended(struct process process);

// Says that this process waits, that it has looked again in vain, and that it goes on.
void hirc_team_waits(int rank, const char *text, const struct process *awaited, int count);
void hirc_team_looked(void);
void hirc_team_goes_on(void);

// Whether it waits for itself in the end, and has since the last call with this circle. Says who
// waits for whom.
int hirc_team_is_circle(struct circle *circle, char *text, size_t room);

// Combines `count` elements, in place, with as many others.
void hirc_team_combine(void *into, const void *other, uint64_t count, int type, int reduction);
void hirc_team_divide(void *values, uint64_t count, int type, int by);
int hirc_team_type_bytes(int type);

#endif
