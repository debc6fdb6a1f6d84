// What orders the commands of different streams: see order.c.
#ifndef HIRC_CHECKS_ORDER_H
#define HIRC_CHECKS_ORDER_H

#include "checks.h"

#include <stdatomic.h>

// How far each stream had got, by the number that it has here.
struct hirc_knowledge {
  struct hirc_knowledge *older; // of a command that has learnt more since
  uint32_t count;
  uint64_t positions[];
};

// A command while it runs.
struct hirc_running_command {
  uint64_t serial; // of no other command; not 0
  uint64_t position;
  uint64_t stream_id; // 0: the default stream
  uint32_t stream;    // its number here
  uint8_t type;       // enum hirc_node_type
  _Atomic(const struct hirc_knowledge *) knowledge;
  struct hirc_knowledge *own; // the last is `knowledge`
  uint32_t first_record;      // see records.c
};

// How many run.
extern _Atomic unsigned hirc_commands_running;

// The command that this thread of the host runs, NULL if there is none.
extern _Thread_local struct hirc_running_command *hirc_running_command;

// Whether the command comes after what that stream did up to the position.
static inline bool hirc_order_is_after(const struct hirc_running_command *command, uint32_t stream,
                                       uint64_t position) {
  const struct hirc_knowledge *known =
      atomic_load_explicit(&command->knowledge, memory_order_acquire);
  return stream == command->stream ||
         (known != NULL && stream < known->count && known->positions[stream] >= position);
}

// Whether the command comes after all that has been enqueued in other streams.
bool hirc_order_is_after_all(const struct hirc_running_command *command);

// The command has seen what another one, at this position of a stream, wrote atomically: it may
// have waited for that.
void hirc_order_learn(struct hirc_running_command *command, uint32_t stream, uint64_t position);

#endif
