// Races in global memory, in words.

#include "../stream.h"
#include "checked_allocation.h"
#include "global_race.h"

static const char *action_of(uint8_t type, enum hirc_race_kind kind) {
  if (type == HIRC_NODE_FREE) {
    return "free";
  }
  return kind == HIRC_RACE_WRITE ? "write" : kind == HIRC_RACE_ATOMIC ? "atomic access" : "read";
}

static void add_bytes(struct hirc_report *report, const char *action, size_t bytes) {
  hirc_report_add(report, "%s of %zu byte%s", action, bytes, bytes == 1 ? "" : "s");
}

// What is no kernel.
static void add_command(struct hirc_report *report, uint8_t type) {
  switch (type) {
  case HIRC_NODE_MEMCPY:
    hirc_report_add(report, " by a copy");
    break;
  case HIRC_NODE_MEMSET:
    hirc_report_add(report, " by a fill");
    break;
  case HIRC_NODE_GRAPH:
    hirc_report_add(report, " by a graph");
    break;
  case HIRC_NODE_COMMUNICATION:
    hirc_report_add(report, " by a communication");
    break;
  default:
    break;
  }
}

static void add_stream(struct hirc_report *report, uint64_t id) {
  if (id == 0) {
    hirc_report_add(report, " in the default stream");
  } else {
    hirc_report_add(report, " in stream %llu", (unsigned long long)id);
  }
}

void hirc_report_global_race(const struct hirc_running_command *command,
                             const struct hirc_access *access, enum hirc_race_kind kind,
                             const struct hirc_record *other, const char *address) {
  uintptr_t here = access->source != NULL ? (uintptr_t)access->source : command->type;
  uintptr_t there = other->source != NULL ? (uintptr_t)other->source : other->type;
  struct hirc_report report = {0};
  if (!hirc_report_is_new((const void *)(here * 31 ^ there), 4)) {
    return;
  }
  hirc_report_add(&report, "race: ");
  add_bytes(&report, action_of(command->type, kind), access->bytes);
  if (access->block != NULL) {
    hirc_report_add_place(&report, access);
  } else {
    add_command(&report, command->type);
  }
  add_stream(&report, command->stream_id);
  hirc_report_add(&report, ", and ");
  add_bytes(&report, action_of(other->type, other->kind), other->bytes);
  if (other->title != NULL) {
    hirc_report_add(&report, " in kernel %s", other->title);
    if (other->source != NULL && *other->source != '\0') {
      hirc_report_add(&report, " at %s", other->source);
    }
  } else {
    add_command(&report, other->type);
  }
  add_stream(&report, other->stream_id);
  hirc_report_add(&report, " with nothing that orders them: ");
  hirc_checked_describe(&report, address);
  hirc_report_write(&report);
}
