// Races in global memory: two commands access a byte, one of them writes, and nothing orders them.
//
// Every word has a cell that says who wrote it last and who has read it since; order.c says which
// commands come after which. A word whose bytes were accessed one by one has a cell for each byte.
// What an access makes of a cell depends on nothing but the cell and the access's record, and
// neighbouring words tend to have equal cells, so each thread remembers the last such step of each
// place. Threads of one command are not told apart here.

#define _GNU_SOURCE
#include "global_race.h"

#include "checked_allocation.h"
#include "shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
  WORD = 4,
  PAGE = 4096,
  PLACES = 64,
  MOST_READERS = 64,
  MOST_FREED = 16 << 20, // bytes of freed memory that are looked at
};

// A cell: the number of the record of the last write, then that of the list of its readers.
typedef uint64_t cell;
#define SPLIT UINT64_MAX       // the bytes have cells
#define SPLITTING (UINT64_MAX - 1) // somebody is giving them cells

static _Atomic cell *words, *bytes_of_words;

// A place that a thread has accessed memory from lately, for a command.
struct place {
  uint64_t serial;
  const char *source;
  enum hirc_race_kind kind;
  uint32_t record;
  cell before, after; // what the last access made of a cell
};

static _Thread_local struct place *places;

void *hirc_reserve(size_t bytes) {
  void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return NULL;
  }
  madvise(start, bytes, MADV_DONTDUMP);
  return start;
}

void hirc_unreserve(void *start, size_t bytes) {
  if (start != NULL) {
    munmap(start, bytes);
  }
}

static size_t bytes_for_words(void) { return hirc_shadow.bytes / WORD * sizeof(cell); }
static size_t bytes_for_bytes(void) { return hirc_shadow.bytes * sizeof(cell); }

static void release_cells(void) {
  hirc_unreserve(words, bytes_for_words());
  hirc_unreserve(bytes_of_words, bytes_for_bytes());
}

bool hirc_global_race_reserve(void) {
  words = hirc_reserve(bytes_for_words());
  bytes_of_words = hirc_reserve(bytes_for_bytes());
  if (words != NULL && bytes_of_words != NULL && hirc_records_reserve()) {
    return true;
  }
  release_cells();
  return false;
}

void hirc_global_race_release(void) {
  if (hirc_checks_order()) {
    release_cells();
    hirc_records_release();
  }
}

void hirc_global_race_begin_anew(void) { hirc_records_begin_anew(); }

static cell cell_of(uint32_t write, uint32_t readers) { return (cell)readers << 32 | write; }

// --- one access ----------------------------------------------------------------------------------

// An access and what is known of its place.
struct step {
  struct hirc_running_command *command;
  const struct hirc_access *access;
  struct place *place;
};

static const struct hirc_record *unordered(const struct step *step, uint32_t number) {
  if (number < atomic_load_explicit(&hirc_first_record, memory_order_relaxed)) {
    return NULL;
  }
  const struct hirc_record *record = &hirc_records[number];
  return hirc_order_is_after(step->command, record->stream, record->position) ? NULL : record;
}

static void report(const struct step *step, const struct hirc_record *other, const char *address) {
  hirc_report_global_race(step->command, step->access, step->place->kind, other, address);
}

// The list's first record; takes it off. 0: it is empty.
static uint32_t next_of(uint32_t *list) {
  uint32_t number = *list;
  if ((number & HIRC_LIST) == 0) {
    *list = 0;
    return number;
  }
  uint32_t index = number & ~HIRC_LIST;
  if (index < hirc_first_list) {
    *list = 0;
    return 0;
  }
  *list = hirc_lists[index].rest;
  return hirc_lists[index].record;
}

// The readers with this one: those that come before it need not be known any more.
static uint32_t with_reader(const struct step *step, uint32_t readers) {
  uint32_t kept[MOST_READERS], count = 0, left = readers, number;
  while ((number = next_of(&left)) != 0) {
    if (number >= hirc_first_record && hirc_records[number].serial == step->command->serial) {
      return readers;
    }
    if (count < MOST_READERS && unordered(step, number) != NULL) {
      kept[count++] = number;
    }
  }
  uint32_t list = 0;
  while (count != 0) {
    list = hirc_list_add(kept[--count], list);
  }
  return hirc_list_add(step->place->record, list);
}

static void check_readers(const struct step *step, uint32_t readers, const char *address) {
  uint32_t number;
  while ((number = next_of(&readers)) != 0) {
    const struct hirc_record *reader = unordered(step, number);
    if (reader != NULL) {
      report(step, reader, address);
    }
  }
}

static bool is_of_kernel(const struct hirc_record *record) { return record->title != NULL; }

// What the access makes of a cell, after telling what is wrong with it.
static cell pass(const struct step *step, cell before, const char *address) {
  uint32_t write = (uint32_t)before, readers = (uint32_t)(before >> 32);
  enum hirc_race_kind kind = step->place->kind;
  bool strong = kind == HIRC_RACE_ATOMIC || kind == HIRC_RACE_STRONG_READ;
  const struct hirc_record *writer = unordered(step, write);
  if (writer != NULL) {
    // Atomic operations are how commands that run at the same time may talk to each other, and a
    // copy is how the host tells a kernel something that asks again and again.
    bool talks = strong && (writer->kind == HIRC_RACE_ATOMIC ||
                            (kind == HIRC_RACE_STRONG_READ && !is_of_kernel(writer)));
    if (talks) {
      hirc_order_learn(step->command, writer->stream, writer->position);
    } else {
      report(step, writer, address);
    }
  }
  if (kind == HIRC_RACE_READ) {
    return cell_of(write, with_reader(step, readers));
  }
  if (kind == HIRC_RACE_STRONG_READ) {
    return before;
  }
  check_readers(step, readers, address);
  return cell_of(step->place->record, 0);
}

static cell after(const struct step *step, cell before, const char *address) {
  struct place *place = step->place;
  if (before != place->before) {
    place->after = pass(step, before, address);
    place->before = before;
  }
  return place->after;
}

// --- cells ---------------------------------------------------------------------------------------

static cell load(const _Atomic cell *where) {
  return atomic_load_explicit(where, memory_order_acquire);
}

static bool exchange(_Atomic cell *where, cell *before, cell now) {
  return atomic_compare_exchange_weak_explicit(where, before, now, memory_order_acq_rel,
                                               memory_order_acquire);
}

// Where one command runs, others need not be kept out: its own threads take the cell to where any
// of them would have.
static inline bool replace(_Atomic cell *where, cell *before, cell now) {
  if (atomic_load_explicit(&hirc_commands_running, memory_order_relaxed) == 1) {
    atomic_store_explicit(where, now, memory_order_release);
    return true;
  }
  return exchange(where, before, now);
}

static void access_byte(const struct step *step, size_t offset) {
  _Atomic cell *where = &bytes_of_words[offset];
  cell before = load(where), now;
  do {
    now = after(step, before, hirc_shadow.start + offset);
  } while (now != before && !replace(where, &before, now));
}

static void access_bytes(const struct step *step, size_t offset, size_t count) {
  for (size_t i = 0; i < count; i++) {
    access_byte(step, offset + i);
  }
}

static inline void access_word(const struct step *step, size_t offset) {
  _Atomic cell *where = &words[offset / WORD];
  cell before = load(where);
  for (;;) {
    if (before == step->place->after) {
      return; // an access once more
    }
    if (before == SPLIT) {
      access_bytes(step, offset, WORD);
      return;
    }
    if (before == SPLITTING) {
      before = load(where);
      continue;
    }
    cell now = after(step, before, hirc_shadow.start + offset);
    if (now == before || replace(where, &before, now)) {
      return;
    }
  }
}

// Some bytes of a word.
static void access_part(const struct step *step, size_t offset, size_t count) {
  _Atomic cell *where = &words[offset / WORD];
  cell before = load(where);
  while (before != SPLIT) {
    if (before != SPLITTING && after(step, before, hirc_shadow.start + offset) == before) {
      return;
    }
    if (before == SPLITTING || !exchange(where, &before, SPLITTING)) {
      before = load(where);
      continue;
    }
    for (size_t i = 0; i < WORD; i++) {
      atomic_store_explicit(&bytes_of_words[offset / WORD * WORD + i], before,
                            memory_order_relaxed);
    }
    atomic_store_explicit(where, SPLIT, memory_order_release);
    before = SPLIT;
  }
  access_bytes(step, offset, count);
}

// --- what is called ------------------------------------------------------------------------------

static struct place *place_of(struct hirc_running_command *command,
                              const struct hirc_access *access, enum hirc_race_kind kind) {
  if (places == NULL) {
    places = calloc(PLACES, sizeof *places);
    if (places == NULL) {
      abort();
    }
  }
  struct place *place = &places[((uintptr_t)access->source / 4 + kind) % PLACES];
  if (place->serial != command->serial || place->source != access->source ||
      place->kind != kind) {
    uint32_t record = hirc_record_of(command, access, kind);
    *place = (struct place){command->serial, access->source, kind, record, 0, 0};
    place->after = pass(&(struct step){command, access, place}, 0, access->address);
  }
  return place;
}

static void access_memory(struct hirc_running_command *command, const struct hirc_access *access,
                          enum hirc_race_kind kind) {
  struct step step = {command, access, place_of(command, access, kind)};
  if (step.place->record == 0) {
    return;
  }
  size_t offset = (size_t)(access->address - hirc_shadow.start), end = offset + access->bytes;
  while (offset < end) {
    size_t count = WORD - offset % WORD;
    if (count == WORD && end - offset >= WORD) {
      access_word(&step, offset);
    } else {
      count = count < end - offset ? count : end - offset;
      access_part(&step, offset, count);
    }
    offset += count;
  }
}

void hirc_global_race_access(const struct hirc_access *access, enum hirc_race_kind kind) {
  struct hirc_running_command *command =
      access->block != NULL ? hirc_checks_of(access->block)->command : hirc_running_command;
  if (command != NULL && access->bytes != 0) {
    access_memory(command, access, kind);
  }
}

void hirc_global_race_freed(char *start, size_t bytes) {
  struct hirc_running_command *command = hirc_running_command;
  if (command != NULL && !hirc_order_is_after_all(command)) {
    struct hirc_access access = {.address = start,
                                 .bytes = bytes < MOST_FREED ? bytes : MOST_FREED};
    access_memory(command, &access, HIRC_RACE_WRITE);
  }
}

// Blocks begin at a word.
void hirc_global_race_reset(char *start, size_t bytes) {
  size_t offset = (size_t)(start - hirc_shadow.start);
  char *first = (char *)&words[offset / WORD];
  char *end = (char *)&words[(offset + bytes + WORD - 1) / WORD];
  char *page = (char *)(((uintptr_t)first + PAGE - 1) / PAGE * PAGE);
  char *last = (char *)((uintptr_t)end / PAGE * PAGE);
  if (last <= page) {
    memset(first, 0, (size_t)(end - first));
    return;
  }
  memset(first, 0, (size_t)(page - first));
  madvise(page, (size_t)(last - page), MADV_DONTNEED);
  memset(last, 0, (size_t)(end - last));
  char *bytes_page = (char *)(((uintptr_t)&bytes_of_words[offset] + PAGE - 1) / PAGE * PAGE);
  char *bytes_last = (char *)((uintptr_t)&bytes_of_words[offset + bytes] / PAGE * PAGE);
  if (bytes_last > bytes_page) {
    madvise(bytes_page, (size_t)(bytes_last - bytes_page), MADV_DONTNEED);
  }
}
