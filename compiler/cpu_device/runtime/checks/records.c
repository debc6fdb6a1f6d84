// Who accessed memory, by number: one record for each place of each command, and lists of records
// for memory that several read. Equal lists get one number. Once the host has waited for
// everything, nothing that was recorded can be in a race any more, and the records' memory is given
// back; their numbers are not used again.

#define _GNU_SOURCE
#include "global_race.h"

#include <pthread.h>
#include <sys/mman.h>

enum { PAGE = 4096, KNOWN = 1 << 14 };
static const size_t most_records = (size_t)1 << 31, most_lists = (size_t)1 << 30;

_Atomic uint32_t hirc_first_record = 1, hirc_first_list = 1;
struct hirc_record *hirc_records;
struct hirc_list *hirc_lists;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_record = 1, next_list = 1;
static uint32_t known[KNOWN]; // lists by a hash

bool hirc_records_reserve(void) {
  hirc_records = hirc_reserve(most_records * sizeof *hirc_records);
  hirc_lists = hirc_reserve(most_lists * sizeof *hirc_lists);
  if (hirc_records != NULL && hirc_lists != NULL) {
    return true;
  }
  hirc_records_release();
  return false;
}

void hirc_records_release(void) {
  hirc_unreserve(hirc_records, most_records * sizeof *hirc_records);
  hirc_unreserve(hirc_lists, most_lists * sizeof *hirc_lists);
}

uint32_t hirc_record_of(struct hirc_running_command *command, const struct hirc_access *access,
                        enum hirc_race_kind kind) {
  pthread_mutex_lock(&lock);
  uint32_t number = command->first_record;
  while (number != 0 && (hirc_records[number].source != access->source ||
                         hirc_records[number].kind != (uint8_t)kind)) {
    number = hirc_records[number].next;
  }
  if (number == 0 && next_record < most_records - 1) {
    number = next_record++;
    hirc_records[number] = (struct hirc_record){
        .serial = command->serial,
        .position = command->position,
        .stream_id = command->stream_id,
        .source = access->source,
        .title = access->block != NULL ? hirc_title(access->block->kernel) : NULL,
        .stream = command->stream,
        .next = command->first_record,
        .bytes = (uint32_t)access->bytes,
        .type = command->type,
        .kind = (uint8_t)kind,
    };
    command->first_record = number;
  }
  pthread_mutex_unlock(&lock);
  return number;
}

uint32_t hirc_list_add(uint32_t record, uint32_t rest) {
  if (rest == 0) {
    return record;
  }
  pthread_mutex_lock(&lock);
  uint64_t hash = ((uint64_t)record << 32 | rest) * UINT64_C(0x9e3779b97f4a7c15);
  uint32_t *slot = &known[hash >> 50 & (KNOWN - 1)];
  const struct hirc_list *there = &hirc_lists[*slot];
  if (*slot < hirc_first_list || there->record != record || there->rest != rest) {
    if (next_list == most_lists) {
      pthread_mutex_unlock(&lock);
      return record;
    }
    hirc_lists[next_list] = (struct hirc_list){record, rest};
    *slot = next_list++;
  }
  uint32_t list = *slot | HIRC_LIST;
  pthread_mutex_unlock(&lock);
  return list;
}

// Gives whole pages of the items from `first` to `end` back.
static void give_back(void *items, size_t size, uint32_t first, uint32_t end) {
  uintptr_t start = ((uintptr_t)items + first * size + PAGE - 1) / PAGE * PAGE;
  uintptr_t last = ((uintptr_t)items + end * size) / PAGE * PAGE;
  if (last > start) {
    madvise((void *)start, last - start, MADV_DONTNEED);
  }
}

void hirc_records_begin_anew(void) {
  enum { MANY = 1 << 12 };
  pthread_mutex_lock(&lock);
  uint32_t record = hirc_first_record, list = hirc_first_list;
  if (next_record - record > MANY || next_list - list > MANY) {
    give_back(hirc_records, sizeof *hirc_records, record, next_record);
    give_back(hirc_lists, sizeof *hirc_lists, list, next_list);
    hirc_first_record = next_record;
    hirc_first_list = next_list;
  }
  pthread_mutex_unlock(&lock);
}
