// Races in shared memory: two threads access a byte, one of them writes, and nothing orders them.
//
// Each thread has a clock and knows, by what has ordered it after others, how far their clocks had
// got (vector clocks: Flanagan and Freund, "FastTrack: Efficient and Precise Dynamic Race
// Detection", 2009). A barrier of the whole block orders everything, so that it begins a new epoch,
// in which all clocks start anew and nobody knows anything: most kernels need no more than that.
// What threads know is shared by those who learnt it together, and is never changed.
//
// Races of commands of different streams are found by global_race.c.
//
// Whatever can order threads is taken to do so, all collective operations of a warp and all
// operations on one atomic variable: a correct program is never reported.

#include "block_state.h"

#include <stdlib.h>
#include <string.h>

enum {
  OBJECTS = 256, // atomic variables and mbarriers share these by a hash
  READERS = 2,   // of a byte that are remembered
};

// The last access of a kind.
struct mark {
  uint32_t epoch; // 0: none
  uint32_t clock;
  uint32_t thread;
  uint32_t bytes;
  const char *source;
};

struct cell {
  struct mark write, atomic;
  struct mark reads[READERS];
};

// How far each thread's clock had got.
struct knowledge {
  uint32_t references;
  uint32_t clocks[];
};

struct thread {
  uint32_t epoch; // the rest is of this epoch
  uint32_t clock;
  bool accessed; // since the clock was advanced
  struct knowledge *known; // NULL: nothing
};

struct object {
  uint32_t epoch;
  uint32_t *clocks;
};

struct hirc_race {
  uint32_t epoch;
  uint32_t count; // of threads
  size_t room;    // of cells
  struct cell *cells;
  struct thread threads[HIRC_MAX_THREADS];
  struct object objects[OBJECTS];
  struct object barriers[HIRC_BARRIERS];
};

static void *allocate(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) {
    abort();
  }
  return memory;
}

// --- what threads know ---------------------------------------------------------------------------

static void forget(struct knowledge *known) {
  if (known != NULL && --known->references == 0) {
    free(known);
  }
}

static struct knowledge *new_knowledge(const struct hirc_race *race) {
  return allocate(sizeof(struct knowledge) + race->count * sizeof(uint32_t));
}

static struct thread *thread_of(struct hirc_race *race, uint32_t number) {
  struct thread *thread = &race->threads[number];
  if (thread->epoch != race->epoch) {
    forget(thread->known);
    *thread = (struct thread){.epoch = race->epoch, .clock = 1};
  }
  return thread;
}

static void join(uint32_t *clocks, const uint32_t *others, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    clocks[i] = clocks[i] > others[i] ? clocks[i] : others[i];
  }
}

static void learn(struct thread *thread, struct knowledge *knowledge) {
  forget(thread->known);
  thread->known = knowledge;
  knowledge->references++;
}

// The clock up to which others may know what the thread did; what it does next is later.
static uint32_t publish(struct thread *thread) {
  uint32_t clock = thread->clock - !thread->accessed;
  thread->clock = clock + 1;
  thread->accessed = false;
  return clock;
}

static void release(struct hirc_race *race, uint32_t number, struct object *object) {
  struct thread *thread = thread_of(race, number);
  if (object->clocks == NULL) {
    object->clocks = allocate(HIRC_MAX_THREADS * sizeof *object->clocks);
  }
  if (object->epoch != race->epoch) {
    object->epoch = race->epoch;
    memset(object->clocks, 0, race->count * sizeof *object->clocks);
  }
  if (thread->known != NULL) {
    join(object->clocks, thread->known->clocks, race->count);
  }
  object->clocks[number] = publish(thread);
}

static void acquire(struct hirc_race *race, uint32_t number, const struct object *object) {
  struct thread *thread = thread_of(race, number);
  if (object->epoch != race->epoch) {
    return; // a barrier since then has told everybody
  }
  struct knowledge *knowledge = new_knowledge(race);
  memcpy(knowledge->clocks, object->clocks, race->count * sizeof *knowledge->clocks);
  if (thread->known != NULL) {
    join(knowledge->clocks, thread->known->clocks, race->count);
  }
  learn(thread, knowledge);
}

// Threads that have met: each knows what all knew and did. `lanes` are those of each warp.
static void meet(struct hirc_race *race, const struct hirc_block *block,
                 const hirc_lane_set *lanes, uint32_t first_warp, uint32_t warps,
                 const struct object *arrived) {
  bool news = arrived != NULL && arrived->epoch == race->epoch;
  const struct knowledge *common = NULL, *last = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < warps; i++) {
    for (hirc_lane_set left = lanes[i]; left != 0; left &= left - 1) {
      uint32_t number = (first_warp + i) * block->lanes + hirc_lowest_lane(left);
      const struct thread *thread = thread_of(race, number);
      common = count++ == 0 ? thread->known : common;
      news |= thread->accessed || thread->known != common;
    }
  }
  if (!news || (count < 2 && arrived == NULL)) {
    return;
  }
  struct knowledge *knowledge = new_knowledge(race);
  if (arrived != NULL && arrived->epoch == race->epoch) {
    memcpy(knowledge->clocks, arrived->clocks, race->count * sizeof *knowledge->clocks);
  }
  for (uint32_t i = 0; i < warps; i++) {
    for (hirc_lane_set left = lanes[i]; left != 0; left &= left - 1) {
      uint32_t number = (first_warp + i) * block->lanes + hirc_lowest_lane(left);
      struct thread *thread = &race->threads[number];
      if (thread->known != NULL && thread->known != last) {
        join(knowledge->clocks, thread->known->clocks, race->count);
        last = thread->known;
      }
      knowledge->clocks[number] = publish(thread);
    }
  }
  for (uint32_t i = 0; i < warps; i++) {
    for (hirc_lane_set left = lanes[i]; left != 0; left &= left - 1) {
      uint32_t number = (first_warp + i) * block->lanes + hirc_lowest_lane(left);
      learn(&race->threads[number], knowledge);
    }
  }
}

// --- accesses ------------------------------------------------------------------------------------

static bool is_ordered(const struct hirc_race *race, const struct mark *mark, uint32_t number,
                       const struct thread *thread) {
  return mark->epoch != race->epoch || mark->thread == number ||
         (thread->known != NULL && thread->known->clocks[mark->thread] >= mark->clock);
}

static void report(const struct hirc_access *access, const char *action, const struct mark *other,
                   const char *its_action, const char *address) {
  uintptr_t pair = (uintptr_t)access->source * 31 ^ (uintptr_t)other->source;
  struct hirc_report report = {0};
  if (!hirc_report_is_new((const void *)pair, 2)) {
    return;
  }
  const struct hirc_block *block = access->block;
  hirc_report_add(&report, "race: %s of %zu byte%s", action, access->bytes,
                  access->bytes == 1 ? "" : "s");
  hirc_report_add_place(&report, access);
  hirc_report_add(&report, ", and %s of %u byte%s", its_action, other->bytes,
                  other->bytes == 1 ? "" : "s");
  if (other->source != NULL && *other->source != '\0') {
    hirc_report_add(&report, " at %s", other->source);
  }
  hirc_report_add(&report,
                  " by thread (%u,%u,%u) with nothing that orders them: address 0x%llx ",
                  other->thread % block->size.x, other->thread / block->size.x % block->size.y,
                  other->thread / (block->size.x * block->size.y),
                  (unsigned long long)(uintptr_t)address);
  hirc_report_add_shared(&report, block, address);
  hirc_report_write(&report);
}

static void remember_read(const struct hirc_race *race, struct cell *cell, const struct mark *mark,
                          const struct thread *thread) {
  for (unsigned i = 0; i < READERS; i++) {
    if (is_ordered(race, &cell->reads[i], mark->thread, thread)) {
      cell->reads[i] = *mark;
      return;
    }
  }
  cell->reads[READERS - 1] = *mark;
}

static void access_byte(const struct hirc_race *race, struct cell *cell,
                        const struct hirc_access *access, const struct thread *thread,
                        enum hirc_race_kind kind, const char *address) {
  uint32_t number = access->thread;
  const char *action = kind == HIRC_RACE_WRITE    ? "write"
                       : kind == HIRC_RACE_ATOMIC ? "atomic access"
                                                  : "read";
  bool plain = kind == HIRC_RACE_READ || kind == HIRC_RACE_WRITE;
  if (!is_ordered(race, &cell->write, number, thread)) {
    report(access, action, &cell->write, "write", address);
  }
  if (plain && !is_ordered(race, &cell->atomic, number, thread)) {
    report(access, action, &cell->atomic, "atomic access", address);
  }
  for (unsigned i = 0; i < READERS && (kind == HIRC_RACE_WRITE || kind == HIRC_RACE_ATOMIC); i++) {
    if (!is_ordered(race, &cell->reads[i], number, thread)) {
      report(access, action, &cell->reads[i], "read", address);
    }
  }
  struct mark mark = {race->epoch, thread->clock, number, (uint32_t)access->bytes, access->source};
  if (kind == HIRC_RACE_READ) {
    remember_read(race, cell, &mark, thread);
  } else if (kind == HIRC_RACE_WRITE) {
    cell->write = mark;
  } else if (kind == HIRC_RACE_ATOMIC) {
    cell->atomic = mark;
  }
}

static struct object *object_of(struct hirc_race *race, const void *address) {
  uint64_t hash = (uintptr_t)address / 4 * UINT64_C(0x9e3779b97f4a7c15);
  return &race->objects[hash >> 56 & (OBJECTS - 1)];
}

void hirc_race_access(const struct hirc_access *access, enum hirc_race_kind kind) {
  const struct hirc_block_checks *checks = hirc_checks_of(access->block);
  struct hirc_race *race = checks->race;
  size_t offset = (size_t)(access->address - access->block->shared);
  bool ordering = kind == HIRC_RACE_ATOMIC || kind == HIRC_RACE_STRONG_READ;
  if (offset >= checks->bytes) {
    hirc_remote_accessed(access);
    if (!ordering) {
      return;
    }
  }
  struct thread *thread = thread_of(race, access->thread);
  if (ordering) {
    acquire(race, access->thread, object_of(race, access->address));
    hirc_remote_seen(access->block, access->address);
  }
  if (offset < checks->bytes) {
    size_t bytes = access->bytes < checks->bytes - offset ? access->bytes : checks->bytes - offset;
    for (size_t i = 0; i < bytes; i++) {
      access_byte(race, &race->cells[offset + i], access, thread, kind, access->address + i);
    }
    thread->accessed = true;
  }
  if (kind == HIRC_RACE_ATOMIC) {
    release(race, access->thread, object_of(race, access->address));
  }
}

// --- what orders threads -------------------------------------------------------------------------

static struct hirc_race *race_of(const struct hirc_block *block) {
  return hirc_checks_race() ? hirc_checks_of(block)->race : NULL;
}

void hirc_checks_warp_met(struct hirc_block *block, uint32_t first_thread, hirc_lane_set lanes) {
  struct hirc_race *race = race_of(block);
  if (race != NULL) {
    meet(race, block, &lanes, first_thread / block->lanes, 1, NULL);
  }
}

void hirc_checks_block_met(struct hirc_block *block) {
  struct hirc_race *race = race_of(block);
  if (race != NULL) {
    race->epoch++;
  }
}

void hirc_checks_barrier_arrived(struct hirc_block *block, uint32_t thread, uint32_t barrier) {
  struct hirc_race *race = race_of(block);
  if (race != NULL) {
    release(race, thread, &race->barriers[barrier]);
  }
}

void hirc_checks_barrier_passed(struct hirc_block *block, const hirc_lane_set *lanes_of_warps,
                                uint32_t warps, uint32_t barrier) {
  struct hirc_race *race = race_of(block);
  if (race != NULL) {
    meet(race, block, lanes_of_warps, 0, warps, &race->barriers[barrier]);
  }
}

void hirc_checks_release(const void *object) {
  if (hirc_checks_race() && hirc_checks_current.block != NULL) {
    struct hirc_race *race = race_of(hirc_checks_current.block);
    release(race, hirc_checks_current.thread, object_of(race, object));
    struct hirc_access access = hirc_checks_current;
    access.address = object;
    hirc_remote_accessed(&access);
  }
}

void hirc_checks_acquire(struct hirc_block *block, uint32_t thread, const void *object) {
  struct hirc_race *race = race_of(block);
  if (race != NULL) {
    acquire(race, thread, object_of(race, object));
    hirc_remote_seen(block, object);
  }
}

void hirc_race_block_begin(struct hirc_block *block, struct hirc_block_checks *checks) {
  struct hirc_race *race = checks->race;
  if (race == NULL) {
    checks->race = race = allocate(sizeof *race);
  }
  if (race->room < checks->bytes) {
    free(race->cells);
    race->cells = allocate(checks->bytes * sizeof *race->cells);
    race->room = checks->bytes;
  }
  // Another number of threads: what they knew has the wrong size.
  race->epoch++;
  for (uint32_t i = 0; i < race->count; i++) {
    thread_of(race, i);
  }
  race->count = block->threads;
  checks->remote_count = 0;
}
