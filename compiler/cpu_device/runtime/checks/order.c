// Which commands come after which.
//
// A command comes after those before it in its stream, after what the stream was made to wait for,
// and after what the host had waited for when it was enqueued. Each stream knows how far the others
// had got (vector clocks), and every time it learns more it notes from which of its commands on.
// Only what the program asked for counts, never that something happened to be done already.
//
// Whatever can order commands is taken to do so: what one thread of the host has waited for is
// known to all of them, and so is what came before a function of the host in a stream.

#include "order.h"

#include "../stream.h"
#include "global_race.h"

#include <stdlib.h>
#include <string.h>

// From this position on the stream's commands know so much.
struct note {
  uint64_t from;
  struct hirc_knowledge *knowledge;
};

struct hirc_stream_order {
  struct hirc_stream *stream;
  uint32_t number;
  uint64_t host_version; // of the host's knowledge that the stream has
  struct note *notes;
  size_t count, room;
  struct hirc_knowledge *learnt; // by commands while they ran, NULL: nothing
};

_Thread_local struct hirc_running_command *hirc_running_command;
_Atomic unsigned hirc_commands_running;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hirc_stream_order **streams;
static uint32_t stream_count, stream_room;
static struct hirc_knowledge *host;
static uint64_t host_version = 1, last_serial;
static bool any_learnt;

static void *checked(void *memory) {
  if (memory == NULL) {
    abort();
  }
  return memory;
}

// --- knowledge -----------------------------------------------------------------------------------

static struct hirc_knowledge *copy_of(const struct hirc_knowledge *from) {
  struct hirc_knowledge *copy =
      checked(calloc(1, sizeof *copy + stream_count * sizeof *copy->positions));
  copy->count = stream_count;
  if (from != NULL) {
    memcpy(copy->positions, from->positions, from->count * sizeof *from->positions);
  }
  return copy;
}

// `into` has room for all streams.
static void join(struct hirc_knowledge *into, const struct hirc_knowledge *more) {
  for (uint32_t i = 0; more != NULL && i < more->count; i++) {
    if (into->positions[i] < more->positions[i]) {
      into->positions[i] = more->positions[i];
    }
  }
}

static uint64_t position_in(const struct hirc_knowledge *knowledge, uint32_t stream) {
  return knowledge != NULL && stream < knowledge->count ? knowledge->positions[stream] : 0;
}

static struct hirc_stream_order *order_of(struct hirc_stream *stream) {
  if (stream->order == NULL) {
    if (stream_count == stream_room) {
      stream_room = stream_room != 0 ? 2 * stream_room : 16;
      streams = checked(realloc(streams, stream_room * sizeof(struct hirc_stream_order *)));
    }
    struct hirc_stream_order *order = checked(calloc(1, sizeof *order));
    order->stream = stream;
    order->number = stream_count;
    streams[stream_count++] = order;
    stream->order = order;
  }
  return stream->order;
}

static const struct note *note_at(const struct hirc_stream_order *order, uint64_t position) {
  size_t first = 0, end = order->count;
  while (first < end) {
    size_t middle = (first + end) / 2;
    if (order->notes[middle].from <= position) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first != 0 ? &order->notes[first - 1] : NULL;
}

static const struct hirc_knowledge *knowledge_at(const struct hirc_stream_order *order,
                                                 uint64_t position) {
  const struct note *note = note_at(order, position);
  return note != NULL ? note->knowledge : NULL;
}

// Adds what the stream's command at that position knew, and that it is over.
static void join_point(struct hirc_knowledge *into, const struct hirc_stream_order *order,
                       uint64_t position) {
  join(into, knowledge_at(order, position));
  join(into, order->learnt);
  if (into->positions[order->number] < position) {
    into->positions[order->number] = position;
  }
}

// Adds what those streams learnt while they ran that are known at all.
static void join_learnt(struct hirc_knowledge *into, uint32_t own) {
  for (uint32_t i = 0; any_learnt && i < stream_count; i++) {
    if (streams[i]->learnt != NULL && (i == own || into->positions[i] != 0)) {
      join(into, streams[i]->learnt);
    }
  }
}

// --- enqueueing ----------------------------------------------------------------------------------

// Forgets notes of which every position is known to the host: what they say is known to it too.
static void prune(struct hirc_stream_order *order) {
  uint64_t known = position_in(host, order->number);
  size_t old = 0;
  while (old + 1 < order->count && order->notes[old + 1].from <= known + 1) {
    free(order->notes[old++].knowledge);
  }
  if (old != 0) {
    order->count -= old;
    memmove(order->notes, order->notes + old, order->count * sizeof *order->notes);
  }
}

static void add_note(struct hirc_stream_order *order, struct note note) {
  prune(order);
  if (order->count == order->room) {
    order->room = order->room != 0 ? 2 * order->room : 8;
    order->notes = checked(realloc(order->notes, order->room * sizeof *order->notes));
  }
  order->notes[order->count++] = note;
}

void hirc_order_enqueueing(struct hirc_stream *stream, struct hirc_stream *after,
                           uint64_t position) {
  pthread_mutex_lock(&lock);
  struct hirc_stream_order *order = order_of(stream);
  struct hirc_stream_order *other = after != NULL ? order_of(after) : NULL;
  const struct hirc_knowledge *now = knowledge_at(order, UINT64_MAX);
  bool waits = other != NULL && other != order && position_in(now, other->number) < position;
  if (waits || order->host_version != host_version || any_learnt) {
    struct hirc_knowledge *more = copy_of(now);
    join(more, host);
    if (waits) {
      join_point(more, other, position);
    }
    join_learnt(more, order->number);
    order->host_version = host_version;
    add_note(order, (struct note){atomic_load(&stream->enqueued) + 1, more});
  }
  pthread_mutex_unlock(&lock);
}

bool hirc_order_awaits(struct hirc_stream *stream, struct hirc_stream *other, uint64_t position) {
  pthread_mutex_lock(&lock);
  const struct hirc_knowledge *now = knowledge_at(order_of(stream), UINT64_MAX);
  bool known = position_in(now, order_of(other)->number) >= position;
  pthread_mutex_unlock(&lock);
  return known;
}

// --- waiting -------------------------------------------------------------------------------------

static bool host_knows_all(void) {
  for (uint32_t i = 0; i < stream_count; i++) {
    if (position_in(host, i) < atomic_load(&streams[i]->stream->enqueued)) {
      return false;
    }
  }
  return true;
}

void hirc_order_waited(struct hirc_stream *stream, uint64_t position) {
  if (stream == NULL) {
    return;
  }
  pthread_mutex_lock(&lock);
  struct hirc_stream_order *order = order_of(stream);
  if (position_in(host, order->number) < position) {
    struct hirc_knowledge *more = copy_of(host);
    join_point(more, order, position);
    free(host);
    host = more;
    host_version++;
  }
  if (hirc_commands_running == 0 && host_knows_all()) {
    hirc_global_race_begin_anew();
  }
  pthread_mutex_unlock(&lock);
}

bool hirc_order_is_settled(struct hirc_stream *stream) {
  pthread_mutex_lock(&lock);
  bool settled = position_in(host, order_of(stream)->number) >= atomic_load(&stream->enqueued);
  pthread_mutex_unlock(&lock);
  return settled;
}

// --- running -------------------------------------------------------------------------------------

void hirc_order_run(struct hirc_stream *stream, struct hirc_command *command, uint64_t position) {
  if (command->run == NULL) {
    return;
  }
  if (command->type == HIRC_NODE_HOST) {
    // The function may tell the host's threads that all before it is done.
    hirc_order_waited(stream, position - 1);
    hirc_command_run(command);
    return;
  }
  struct hirc_running_command this = {.position = position, .type = command->type};
  this.stream_id = stream == &hirc_legacy_stream ? 0 : stream->id;
  pthread_mutex_lock(&lock);
  struct hirc_stream_order *order = order_of(stream);
  this.stream = order->number;
  this.serial = ++last_serial;
  const struct hirc_knowledge *knowledge = knowledge_at(order, position);
  if (any_learnt) {
    this.own = copy_of(knowledge);
    join_learnt(this.own, order->number);
    knowledge = this.own;
  }
  atomic_init(&this.knowledge, knowledge);
  hirc_commands_running++;
  pthread_mutex_unlock(&lock);

  hirc_running_command = &this;
  hirc_command_run(command);
  hirc_running_command = NULL;

  pthread_mutex_lock(&lock);
  hirc_commands_running--;
  pthread_mutex_unlock(&lock);
  while (this.own != NULL) {
    struct hirc_knowledge *older = this.own->older;
    free(this.own);
    this.own = older;
  }
}

bool hirc_order_is_after_all(const struct hirc_running_command *command) {
  bool result = true;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < stream_count; i++) {
    uint64_t end = atomic_load(&streams[i]->stream->enqueued);
    result = result && (end == 0 || hirc_order_is_after(command, i, end));
  }
  pthread_mutex_unlock(&lock);
  return result;
}

void hirc_order_learn(struct hirc_running_command *command, uint32_t stream, uint64_t position) {
  pthread_mutex_lock(&lock);
  if (!hirc_order_is_after(command, stream, position)) {
    struct hirc_knowledge *more = copy_of(atomic_load(&command->knowledge));
    join(more, knowledge_at(streams[stream], UINT64_MAX));
    join_point(more, streams[stream], position);
    more->older = command->own;
    command->own = more;
    atomic_store_explicit(&command->knowledge, more, memory_order_release);
    struct hirc_stream_order *order = streams[command->stream];
    struct hirc_knowledge *learnt = copy_of(order->learnt);
    join(learnt, more);
    free(order->learnt);
    order->learnt = learnt;
    any_learnt = true;
  }
  pthread_mutex_unlock(&lock);
}

// --- after fork() --------------------------------------------------------------------------------

void hirc_order_forget_running(void) {
  pthread_mutex_init(&lock, NULL);
  hirc_commands_running = 0;
}
