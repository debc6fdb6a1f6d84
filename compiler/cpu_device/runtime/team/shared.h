// What the processes of a team share on the CPU device: memory with a channel from each to each.
#ifndef HIRC_TEAM_SHARED_H
#define HIRC_TEAM_SHARED_H

#include "../../../runtime/nccl_abi.h"

#include <stdatomic.h>
#include <stdint.h>

enum { CHANNEL_BYTES = 1 << 16, LARGEST_TEAM = 64, TEXT_BYTES = 256 };

// Bytes on their way: written by one process, read by another.
struct channel {
  _Alignas(64) _Atomic uint64_t written;
  _Alignas(64) _Atomic uint64_t read;
  char bytes[CHANNEL_BYTES];
};

struct member {
  _Atomic int has_left;
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

// A message from this process to another, or from another, on its way.
struct transfer {
  struct channel *channel;
  struct nccl_communicator *of;
  const struct heading *heading;
  char *bytes;
  uint64_t count; // of bytes
  uint64_t done;  // of heading and bytes
  int peer, sends;
  struct heading other; // what the sender said
};

// Moves them all. Returns 0, or -1 where a communicator failed or was aborted.
int hirc_team_transfer(struct transfer *transfers, int count);

// Combines `count` elements, in place, with as many others.
void hirc_team_combine(void *into, const void *other, uint64_t count, int type, int reduction);
void hirc_team_divide(void *values, uint64_t count, int type, int by);
int hirc_team_type_bytes(int type);

#endif
