// Whether the processes of a team begin the same communications.
//
// NCCL compares nothing: another size on one process gives wrong numbers, or a wait for ever. So the
// processes of a command compare what they began, before anything is written or printed. A library's
// call returns while its communications are under way, and to compare would make its processes wait
// for one another on their hosts: there HIRC_COMMUNICATION_CHECK=1 asks for it, and each
// communication is compared before it begins.

#include "communicator.h"
#include "failure.h"
#include "world.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hirc_communication_name(int64_t kind) {
  static const char *const names[] = {"gather",     "allgather",      "scatter",   "reduce",
                                      "allreduce",  "reduce-scatter", "broadcast", "send-recv",
                                      "all-to-all", "permute",        "send-recv",
                                      "an allocation", "put",         "get",
                                      "a barrier"};
  return names[kind];
}

// What all of a team say alike of a communication. An exchange is each one's own matter: its size,
// and with whom.
struct statement {
  int64_t kind, type, reduction, root, count;
};

static struct statement state(const struct hirc_communication *what, int64_t input_count,
                              int64_t root) {
  int is_own = what->kind == HIRC_EXCHANGE;
  return (struct statement){what->kind, what->type, what->reduction, is_own ? 0 : root,
                            is_own ? 0 : input_count * what->units};
}

static int checks_each(void) {
  static _Atomic int known; // 1: no, 2: yes
  int answer = atomic_load(&known);
  if (answer == 0) {
    const char *text = getenv("HIRC_COMMUNICATION_CHECK");
    answer = text && text[0] && strcmp(text, "0") != 0 ? 2 : 1;
    atomic_store(&known, answer);
  }
  return answer == 2;
}

static void team_key(const char *what, const struct hirc_communicator *of, int64_t place,
                     char key[HIRC_WORLD_KEY_BYTES]) {
  int length = snprintf(key, HIRC_WORLD_KEY_BYTES, "%s %" PRId64 " of", what, place);
  for (int64_t i = 0; i < of->size && length < HIRC_WORLD_KEY_BYTES; ++i)
    length += snprintf(key + length, (size_t)(HIRC_WORLD_KEY_BYTES - length), " %" PRId64,
                       of->team[i]);
}

static void compare_with_team(const struct hirc_communicator *of, const struct statement *own,
                              const char *location) {
  char key[HIRC_WORLD_KEY_BYTES], why[HIRC_WORLD_TEXT_BYTES];
  team_key("begin", of, of->place, key);
  hirc_world_give(key, own, sizeof *own, location);
  for (int64_t place = 0; place < of->size; ++place) {
    struct statement other;
    if (place == of->place)
      continue;
    team_key("begin", of, place, key);
    hirc_world_take(key, &other, sizeof other, location);
    if (memcmp(own, &other, sizeof other) == 0)
      continue;
    snprintf(why, sizeof why,
             "the team disagrees: rank %d begins %s of %" PRId64 " elements (type %" PRId64
             ", reduction %" PRId64 ", root %" PRId64 "), rank %" PRId64 " %s of %" PRId64
             " (type %" PRId64 ", reduction %" PRId64 ", root %" PRId64 ")",
             hirc_world(location)->rank, hirc_communication_name(own->kind), own->count, own->type,
             own->reduction, own->root, of->team[place], hirc_communication_name(other.kind),
             other.count, other.type, other.reduction, other.root);
    hirc_world_fail(why);
    hirc_world_check(location);
  }
}

void hirc_communicator_note(struct hirc_communicator *communicator,
                            const struct hirc_communication *what, int64_t input_count,
                            int64_t root, const char *location) {
  const struct statement said = state(what, input_count, root);
  const int64_t words[] = {said.kind, said.type, said.reduction, said.root, said.count};
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    communicator->digest = (communicator->digest ^ (uint64_t)words[i]) * 0x9e3779b97f4a7c15u;
  communicator->begun++;
  if (checks_each())
    compare_with_team(communicator, &said, location);
}

struct agreement {
  uint64_t begun, digest;
};

void hirc_communication_agree(void) {
  char key[HIRC_WORLD_KEY_BYTES], why[HIRC_WORLD_TEXT_BYTES];
  hirc_world_expect(0);
  if (hirc_cpu_device_agrees)
    hirc_cpu_device_agrees();
  for (const struct hirc_communicator *each = hirc_communicator_first(); each; each = each->next)
    if (each->nccl) {
      struct agreement own = {each->begun, each->digest};
      team_key("agree", each, each->place, key);
      hirc_world_give(key, &own, sizeof own, NULL);
    }
  for (const struct hirc_communicator *each = hirc_communicator_first(); each; each = each->next)
    for (int64_t place = 0; each->nccl && place < each->size; ++place) {
      struct agreement other = {0, 0};
      if (place == each->place)
        continue;
      team_key("agree", each, place, key);
      hirc_world_take(key, &other, sizeof other, NULL);
      if (other.begun == each->begun && other.digest == each->digest)
        continue;
      snprintf(why, sizeof why,
               "rank %d began %" PRIu64 " communications and rank %" PRId64 " %" PRIu64
               ", which are not of the same kinds, types and sizes",
               hirc_world(NULL)->rank, each->begun, each->team[place], other.begun);
      hirc_world_fail(why);
      hirc_world_check(NULL);
    }
}
