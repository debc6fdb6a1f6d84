// Races of commands in global memory: see global_race.c.
#ifndef HIRC_CHECKS_GLOBAL_RACE_H
#define HIRC_CHECKS_GLOBAL_RACE_H

#include "block_state.h"
#include "order.h"

// What a command did at a place: kept for those that access the same memory later.
struct hirc_record {
  uint64_t serial; // of the command
  uint64_t position;
  uint64_t stream_id;
  const char *source;
  const char *title; // of the kernel; NULL: another command
  uint32_t stream;
  uint32_t next; // of the same command
  uint32_t bytes;
  uint8_t type; // enum hirc_node_type
  uint8_t kind; // enum hirc_race_kind
};

// --- records.c: numbers for records, and for lists of them --------------------------------------

// A list is a record's number, or has this bit set and stands for a record before another list.
#define HIRC_LIST UINT32_C(0x80000000)
struct hirc_list {
  uint32_t record;
  uint32_t rest;
};

// Those below these numbers come before whatever is still to happen.
extern _Atomic uint32_t hirc_first_record, hirc_first_list;
extern struct hirc_record *hirc_records;
extern struct hirc_list *hirc_lists;

// Addresses whose pages take memory once they are used; NULL if there are not enough.
void *hirc_reserve(size_t bytes);
void hirc_unreserve(void *start, size_t bytes);

bool hirc_records_reserve(void);
void hirc_records_release(void);
// The record of the access's place in the command; 0 if there can be no more.
uint32_t hirc_record_of(struct hirc_running_command *command, const struct hirc_access *access,
                        enum hirc_race_kind kind);
uint32_t hirc_list_add(uint32_t record, uint32_t rest);
// Nothing runs, and whatever will comes after all that there is.
void hirc_records_begin_anew(void);

// --- global_race.c -------------------------------------------------------------------------------

// Reserves what is kept for the memory of hirc_shadow; false if there are not enough addresses.
bool hirc_global_race_reserve(void);
void hirc_global_race_release(void);
void hirc_global_race_begin_anew(void);

// An access to memory of hirc_shadow: by a kernel, or without a block by the running command.
void hirc_global_race_access(const struct hirc_access *access, enum hirc_race_kind kind);
// The running command frees the memory.
void hirc_global_race_freed(char *start, size_t bytes);
// The memory is new.
void hirc_global_race_reset(char *start, size_t bytes);

// --- global_race_reports.c -----------------------------------------------------------------------

void hirc_report_global_race(const struct hirc_running_command *command,
                             const struct hirc_access *access, enum hirc_race_kind kind,
                             const struct hirc_record *other, const char *address);

#endif
