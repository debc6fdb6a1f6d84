// What the checks know of a block in flight, and of the thread whose turn it is.
#ifndef HIRC_CHECKS_BLOCK_STATE_H
#define HIRC_CHECKS_BLOCK_STATE_H

#include "../engine.h"
#include "checks.h"
#include "report.h"

// A variable of device code.
struct hirc_site_variable {
  const char *address; // NULL: the end of the table
  uint64_t bytes;
  const char *name;
};

// A place in device code, as instrument.py describes it.
struct hirc_site {
  const char *source; // "file:line:column"
  const char *function;
  const struct hirc_site_variable *variables;
  uint32_t space; // the address space of the access, 0 where it is not known
  uint32_t padding;
};

enum { HIRC_SPACE_SHARED = 3 };

struct hirc_race;
struct hirc_remote_access;
struct hirc_running_command;

// Of one block: kept with it, and used again by the blocks that follow in its place.
struct hirc_block_checks {
  uint8_t *shadow; // of its shared memory
  size_t room;
  size_t bytes; // static and dynamic
  struct hirc_race *race;
  struct hirc_running_command *command; // that the block is part of; NULL: of none
  struct hirc_remote_access *remote;    // by other blocks of the cluster, to its shared memory
  uint32_t remote_count, remote_room;
};

static inline struct hirc_block_checks *hirc_checks_of(const struct hirc_block *block) {
  return ((const struct hirc_running_block *)block)->checks;
}

// One access of one thread.
struct hirc_access {
  struct hirc_block *block;
  uint32_t thread;
  uint32_t space;
  const char *source;
  const struct hirc_site_variable *variables;
  const char *address;
  size_t bytes;
};

// The thread in whose name operations access memory: that of the last hirc_check_operation on this
// thread of the host. Its block is NULL before the first.
extern _Thread_local struct hirc_access hirc_checks_current;

// " in kernel K at file:line:column, block (..) thread (..)"
void hirc_report_add_place(struct hirc_report *report, const struct hirc_access *access);

// "is at byte 4 of the block's shared variable slots of 128 bytes"
void hirc_report_add_shared(struct hirc_report *report, const struct hirc_block *block,
                            const char *address);

// access_reports.c. `bad` is the first byte that is not there, `first` the first not written.
_Noreturn void hirc_report_illegal(const struct hirc_access *access, bool writes, const char *bad);
void hirc_report_unwritten(const struct hirc_access *access, const char *first);
_Noreturn void hirc_report_bad_free(const struct hirc_access *access);

// The block of the cluster whose shared memory the address lies in, NULL if there is none.
struct hirc_block *hirc_checks_owner(const struct hirc_block *block, const void *address);

static inline size_t hirc_checks_shared_bytes(const struct hirc_block *block) {
  return (size_t)block->kernel->static_shared_bytes + block->dynamic_shared_bytes;
}

enum hirc_race_kind { HIRC_RACE_READ, HIRC_RACE_WRITE, HIRC_RACE_STRONG_READ, HIRC_RACE_ATOMIC };

// race.c: an access to the block's own shared memory.
void hirc_race_block_begin(struct hirc_block *block, struct hirc_block_checks *checks);
void hirc_race_access(const struct hirc_access *access, enum hirc_race_kind kind);

// cluster_ends.c: an access that may be to another block's shared memory; a thread of the block has
// seen what was released to an object.
void hirc_remote_accessed(const struct hirc_access *access);
void hirc_remote_seen(const struct hirc_block *block, const void *object);

#endif
