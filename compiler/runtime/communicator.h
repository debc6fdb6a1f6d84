// A communicator, as those see it who begin communications (communicate.c) and who compare them
// (agreement.c).
#ifndef HIRC_COMMUNICATOR_H
#define HIRC_COMMUNICATOR_H

#include "communicate.h"
#include "nccl_abi.h"
#include "world.h"

struct hirc_communicator {
  struct hirc_communicator *next;
  nccl_communicator nccl; // NULL in a team of one, and where this process is not of the team
  int device, place;      // `place` in the team; -1: this process is not of it
  int is_aborted;
  int reach; // see peer_reach.c
  uint64_t begun, digest; // how many communications, and of which kinds, types and sizes
  int64_t size;
  int64_t team[];
};

// The first of those that there are.
const struct hirc_communicator *hirc_communicator_first(void);

// The lock of communications, which a thread may take again.
void hirc_communication_lock(const char *location);
void hirc_communication_unlock(void);

// Takes the lock, and the stream of the communicator's device in which communications go, after what
// is in `stream` now. Between the two the caller puts one into it; gives the event that stands for it.
void *hirc_communication_open(const struct hirc_communicator *of,
                              const struct hirc_communication *what, int64_t count, void *stream,
                              const char *location);
void *hirc_communication_close(const struct hirc_communicator *of, const char *location);

// Fails where there is no such place in a team of that size.
void hirc_communication_check_place(int64_t place, int64_t least, int64_t size,
                                    const char *location);

// Called whenever communications are looked after, without the lock: whether something stands still;
// or, after a failure, to end what waits.
typedef int hirc_communication_look(int has_failed, char why[HIRC_WORLD_TEXT_BYTES]);
void hirc_communication_look_also(hirc_communication_look *look);

// By what the team knows a message of one of its processes.
void hirc_communicator_key(const struct hirc_communicator *of, const char *what, int64_t place,
                           char key[HIRC_WORLD_KEY_BYTES]);

// What a kind is called in messages.
const char *hirc_communication_name(int64_t kind);

// Counts a communication that begins. Where the environment asks for it, compares it with the rest
// of the team's, and fails where they differ.
void hirc_communicator_note(struct hirc_communicator *communicator,
                            const struct hirc_communication *what, int64_t input_count,
                            int64_t root, const char *location);

#endif
