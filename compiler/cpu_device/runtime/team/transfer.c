// Messages between processes of a team: bytes through channels of shared memory.

#include "shared.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
  TURNS_BEFORE_SLEEP = 200,
  SLEEP_NANOSECONDS = 50 * 1000,
  TURNS_BEFORE_SEARCH = 2000, // some 100 milliseconds
  TURNS_AFTER_LEAVING = 40000, // some seconds
};

static uint64_t put(struct channel *channel, const char *bytes, uint64_t count) {
  uint64_t written = atomic_load_explicit(&channel->written, memory_order_relaxed);
  uint64_t room =
      CHANNEL_BYTES - (written - atomic_load_explicit(&channel->read, memory_order_acquire));
  uint64_t moved = count < room ? count : room;
  for (uint64_t at = 0; at < moved;) {
    uint64_t place = (written + at) % CHANNEL_BYTES, piece = CHANNEL_BYTES - place;
    piece = piece < moved - at ? piece : moved - at;
    memcpy(channel->bytes + place, bytes + at, piece);
    at += piece;
  }
  atomic_store_explicit(&channel->written, written + moved, memory_order_release);
  return moved;
}

static uint64_t get(struct channel *channel, char *bytes, uint64_t count) {
  uint64_t read = atomic_load_explicit(&channel->read, memory_order_relaxed);
  uint64_t there = atomic_load_explicit(&channel->written, memory_order_acquire) - read;
  uint64_t moved = count < there ? count : there;
  for (uint64_t at = 0; at < moved;) {
    uint64_t place = (read + at) % CHANNEL_BYTES, piece = CHANNEL_BYTES - place;
    piece = piece < moved - at ? piece : moved - at;
    memcpy(bytes + at, channel->bytes + place, piece);
    at += piece;
  }
  atomic_store_explicit(&channel->read, read + moved, memory_order_release);
  return moved;
}

void hirc_team_fail(struct nccl_communicator *of, const char *format, ...) {
  int none = 0;
  __builtin_va_list arguments;
  __builtin_va_start(arguments, format);
  char text[TEXT_BYTES];
  vsnprintf(text, sizeof text, format, arguments);
  __builtin_va_end(arguments);
  if (atomic_load(&of->failed))
    return;
  memcpy(of->text, text, sizeof text);
  atomic_compare_exchange_strong(&of->failed, &none, 5); // ncclInvalidUsage
}

static uint64_t total(const struct transfer *transfer) {
  return sizeof *transfer->heading + transfer->count;
}

static int agrees(struct transfer *transfer) {
  const struct heading *mine = transfer->heading, *theirs = &transfer->other;
  if (memcmp(mine, theirs, sizeof *mine) == 0)
    return 1;
  hirc_team_fail(transfer->of,
                 "the team disagrees: place %d is in %.16s of %llu elements (type %d, reduction %d, "
                 "root %d), place %d in %.16s of %llu (type %d, reduction %d, root %d)",
                 transfer->of->place, mine->name, (unsigned long long)mine->count, mine->type,
                 mine->reduction, mine->root, transfer->peer, theirs->name,
                 (unsigned long long)theirs->count, theirs->type, theirs->reduction, theirs->root);
  return 0;
}

// Moves what can be moved now. Returns how much, or -1 where the two do not agree.
static int64_t move(struct transfer *transfer) {
  uint64_t moved = 0, head = sizeof *transfer->heading;
  uint64_t (*pass)(struct channel *, char *, uint64_t) =
      transfer->sends ? (uint64_t (*)(struct channel *, char *, uint64_t))put : get;
  char *first = transfer->sends ? (char *)transfer->heading : (char *)&transfer->other;
  if (transfer->done < head) {
    moved = pass(transfer->channel, first + transfer->done, head - transfer->done);
    transfer->done += moved;
    if (transfer->done == head && !transfer->sends && !agrees(transfer))
      return -1;
  }
  if (transfer->done >= head) {
    uint64_t at = transfer->done - head;
    uint64_t more = pass(transfer->channel, transfer->bytes + at, transfer->count - at);
    transfer->done += more;
    moved += more;
  }
  return (int64_t)moved;
}

// `turns` is how often the other was found to have left: why it did is told by the processes'
// other ways, which may take a moment, and then this one is aborted.
static int is_hopeless(const struct transfer *transfer, int *turns) {
  struct nccl_communicator *of = transfer->of;
  if (atomic_load(&of->is_aborted) || atomic_load(&of->failed))
    return 1;
  if (!atomic_load(&of->shared->members[transfer->peer].has_left))
    return 0;
  // What it sent before it left is still to be read.
  if (!transfer->sends && atomic_load(&transfer->channel->written) !=
                              atomic_load(&transfer->channel->read))
    return 0;
  if (++*turns < TURNS_AFTER_LEAVING)
    return 0;
  hirc_team_fail(of, "place %d has left its team, and place %d still waits for it in %.16s",
                 transfer->peer, of->place, transfer->heading->name);
  return 1;
}

// What a process in vain waits for says so, where all of them are known to wait.
struct search {
  int is_said, left_turns;
  struct circle circle;
};

static void say(const struct transfer *transfers, int count, const struct transfer *stuck) {
  struct process awaited[LARGEST_TEAM];
  int found = 0;
  for (int i = 0; i < count && found < LARGEST_TEAM; ++i)
    if (transfers[i].done != total(&transfers[i]))
      awaited[found++] = transfers[i].of->shared->members[transfers[i].peer].process;
  const char *location = stuck->place.location;
  char text[TEXT_BYTES];
  snprintf(text, sizeof text, "%.16s%s%s", stuck->heading->name,
           location && location[0] ? " at " : "", location ? location : "");
  hirc_team_waits(stuck->place.rank, text, awaited, found);
}

// Looks for processes that wait for one another. Returns whether this one is among them, or waits
// for one that has come to its end.
static int search(struct search *search, const struct transfer *transfers, int count) {
  const struct transfer *stuck = NULL;
  for (int i = 0; i < count; ++i) {
    const struct transfer *each = &transfers[i];
    if (each->done == total(each))
      continue;
    stuck = stuck ? stuck : each;
    if (hirc_team_has_ended(each->of->shared->members[each->peer].process) &&
        (each->sends ||
         atomic_load(&each->channel->written) == atomic_load(&each->channel->read))) {
      const char *location = each->place.location;
      hirc_team_fail(each->of,
                     "rank %d still waits in %.16s%s%s for place %d of its team, which has come to "
                     "its program's end",
                     each->place.rank, each->heading->name, location && location[0] ? " at " : "",
                     location ? location : "", each->peer);
      return 1;
    }
  }
  if (!search->is_said)
    say(transfers, count, stuck);
  search->is_said = 1;
  char text[TEXT_BYTES];
  if (!hirc_team_is_circle(&search->circle, text, sizeof text))
    return 0;
  hirc_team_fail(stuck->of, "the processes wait for one another: %s", text);
  return 1;
}

// Messages of one channel follow one another, at either end of it.
static int is_next(const struct transfer *transfers, int number) {
  for (int i = 0; i < number; ++i)
    if (transfers[i].channel == transfers[number].channel &&
        transfers[i].sends == transfers[number].sends && transfers[i].done != total(&transfers[i]))
      return 0;
  return 1;
}

static int transfer_all(struct search *found, struct transfer *transfers, int count) {
  for (int turn = 0, left = count; left > 0; ++turn) {
    uint64_t moved = 0;
    left = 0;
    for (int i = 0; i < count; ++i) {
      if (transfers[i].done == total(&transfers[i]))
        continue;
      int64_t now = is_next(transfers, i) ? move(&transfers[i]) : 0;
      if (now < 0 || (now == 0 && is_hopeless(&transfers[i], &found->left_turns)))
        return -1;
      moved += (uint64_t)now;
      left += transfers[i].done != total(&transfers[i]);
    }
    if (moved > 0) {
      turn = 0;
      if (found->is_said)
        hirc_team_goes_on();
      found->is_said = found->circle.count = 0;
    } else if (left > 0 && turn < TURNS_BEFORE_SLEEP) {
      sched_yield();
    } else if (left > 0) {
      struct timespec pause = {0, SLEEP_NANOSECONDS};
      nanosleep(&pause, NULL);
      if (found->is_said)
        hirc_team_looked();
      if (turn % TURNS_BEFORE_SEARCH == 0 && search(found, transfers, count))
        return -1;
    }
  }
  return 0;
}

int hirc_team_transfer(struct transfer *transfers, int count) {
  // What follows a failure in the stream sends nothing: the others would take it for what failed.
  for (int i = 0; i < count; ++i)
    if (atomic_load(&transfers[i].of->failed) || atomic_load(&transfers[i].of->is_aborted))
      return -1;
  struct search found = {0};
  int rc = transfer_all(&found, transfers, count);
  if (found.is_said)
    hirc_team_goes_on();
  return rc;
}
