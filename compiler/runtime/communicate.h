// How compiled programs communicate: what a program passes of each hir.communicate. See
// communicate.c.
#ifndef HIRC_COMMUNICATE_H
#define HIRC_COMMUNICATE_H

#include <stdint.h>

enum hirc_communication_kind {
  HIRC_GATHER,
  HIRC_ALLGATHER,
  HIRC_SCATTER,
  HIRC_REDUCE,
  HIRC_ALLREDUCE,
  HIRC_REDUCE_SCATTER,
  HIRC_BROADCAST,
  HIRC_SEND_RECV,
  HIRC_ALL_TO_ALL,
  HIRC_PERMUTE,
  HIRC_EXCHANGE, // a send-recv with peers: each sends to one and receives from another
  // Memory that a team shares: peer_memory.c.
  HIRC_SYMMETRIC, // an allocation
  HIRC_PUT,
  HIRC_GET,
  HIRC_BARRIER,
};

// What is known of a communication when it is compiled. An element of the program is `units`
// elements of NCCL's type `type`, of `unit_bytes` each; `to` is places in the team.
struct hirc_communication {
  int64_t kind, type, units, unit_bytes, reduction;
  int64_t to[];
};

struct hirc_communicator;

// That of `number` teams of `size` devices each, one after another, which this process is of; any of
// them where it is of none. Made at the first call and found in `known` from then on.
struct hirc_communicator *hirc_communicator_of(void **known, const int64_t *teams, int64_t number,
                                               int64_t size, const char *location);

// What a library's caller hands over before the first call; see communicate.c.
int hirc_communicator_use(void *communicator, int rank, int size, const char *address);

int hirc_communicator_give_up(const char *why);
void hirc_communicator_leave(void);
int hirc_communicator_use_device(int device);

// This process's rank, where so many processes have parts of something; -1, and a message, where fewer
// run, or it is none of them.
int64_t hirc_communication_rank(int64_t processes);

// The place of this process in the team; -1 where it is not of it.
int64_t hirc_communicator_rank(const struct hirc_communicator *communicator);

// Begins a communication of buffers of so many elements of the program, after what is in `stream`
// now. `peer` is the place of the root, or that to send to, and `from` that to receive from (-1:
// nobody). Returns the event that stands for it, NULL where this process takes no part.
void *hirc_communicate(struct hirc_communicator *communicator,
                       const struct hirc_communication *what, const void *input, void *output,
                       int64_t input_count, int64_t output_count, int64_t peer, int64_t from,
                       void *stream, const char *location);

// The communications between the two begin together; the event stands for all of them.
void hirc_communication_group_begin(const char *location);
void *hirc_communication_group_end(void *stream, const char *location);

// What is put into `stream` from now on starts after the communication.
void hirc_communication_wait(void *event, void *stream, const char *location);

// peer_memory.c. Memory of so many bytes in each process of a team, all of which call this and find
// their streams in order after it.
void *hirc_symmetric_allocate(struct hirc_communicator *of, int64_t bytes, int zeros, void *stream,
                              const char *location);
void hirc_symmetric_free(void *memory, void *stream, const char *location);

// Whether the processes of a team reach each other's memory. All of the team call it.
int hirc_shares_memory(struct hirc_communicator *of, const char *location);

// Begin to copy to and from a peer's part of such memory (-1: nobody's), and return the event of the
// end as hirc_communicate does. With `signals` the peer's next hirc_wait_signal is for it.
void *hirc_put(const void *source, void *target, int64_t source_bytes, int64_t target_bytes,
               int64_t peer, int signals, void *stream, const char *location);
void *hirc_get(const void *source, void *target, int64_t source_bytes, int64_t target_bytes,
               int64_t peer, void *stream, const char *location);

// What is put into `stream` from now on starts after a peer's next signal, or after what is in the
// streams of the team now.
void hirc_wait_signal(const void *buffer, int64_t peer, void *stream, const char *location);
void hirc_barrier(const void *buffer, void *stream, const char *location);

#endif
