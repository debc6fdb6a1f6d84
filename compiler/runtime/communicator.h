// A communicator, as those see it who begin communications (communicate.c) and who compare them
// (agreement.c).
#ifndef HIRC_COMMUNICATOR_H
#define HIRC_COMMUNICATOR_H

#include "communicate.h"
#include "nccl_abi.h"

struct hirc_communicator {
  struct hirc_communicator *next;
  nccl_communicator nccl; // NULL in a team of one, and where this process is not of the team
  int device, place;      // `place` in the team; -1: this process is not of it
  int is_aborted;
  uint64_t begun, digest; // how many communications, and of which kinds, types and sizes
  int64_t size;
  int64_t team[];
};

// The first of those that there are.
const struct hirc_communicator *hirc_communicator_first(void);

// What a kind is called in messages.
const char *hirc_communication_name(int64_t kind);

// Counts a communication that begins. Where the environment asks for it, compares it with the rest
// of the team's, and fails where they differ.
void hirc_communicator_note(struct hirc_communicator *communicator,
                            const struct hirc_communication *what, int64_t input_count,
                            int64_t root, const char *location);

#endif
