// Checks of single accesses: is there memory, and has it been written?
//
// Generated code calls hirc_check_* before each access that is not plainly to a thread's own stack.
// An access to memory that is not there ends the kernel with error 700, as on a GPU; a read of
// memory that nothing wrote is reported, and the kernel goes on.

#define _GNU_SOURCE
#include "block_state.h"
#include "checked_allocation.h"
#include "global_race.h"
#include "shadow.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local struct hirc_access hirc_checks_current;

static const struct hirc_site_variable no_variables;

// --- where an address lies -----------------------------------------------------------------------

static bool is_in(const void *address, const void *start, size_t bytes) {
  return (size_t)((const char *)address - (const char *)start) < bytes;
}

struct hirc_block *hirc_checks_owner(const struct hirc_block *block, const void *address) {
  if (is_in(address, block->shared, HIRC_ARENA_BYTES)) {
    return (struct hirc_block *)block;
  }
  for (uint32_t rank = 0; block->cluster != NULL && rank < block->blocks_in_cluster; rank++) {
    if (is_in(address, block->cluster[rank]->shared, HIRC_ARENA_BYTES)) {
      return block->cluster[rank];
    }
  }
  return NULL;
}

static bool is_on_stack(const void *address) {
  static _Thread_local char *low, *high;
  if (high == NULL) {
    pthread_attr_t attributes;
    void *start = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &start, &bytes);
      pthread_attr_destroy(&attributes);
    }
    low = start;
    high = low + bytes;
  }
  return (const char *)address >= low && (const char *)address < high;
}

static const struct hirc_site_variable *variable_at(const struct hirc_site_variable *variables,
                                                    const void *address) {
  for (const struct hirc_site_variable *it = variables; it->address != NULL; it++) {
    if (is_in(address, it->address, it->bytes)) {
      return it;
    }
  }
  return NULL;
}

static bool is_argument(const struct hirc_block *block, const void *address) {
  const struct hirc_grid *grid = hirc_worker()->run->grid;
  for (uint32_t i = 0; i < block->kernel->argument_count; i++) {
    if (is_in(address, grid->arguments[i], block->kernel->arguments[i].bytes)) {
      return true;
    }
  }
  return false;
}

// How many bytes from the address on a thread may access besides allocations and shared memory.
static size_t elsewhere(const struct hirc_access *access) {
  const struct hirc_block *block = access->block;
  const struct hirc_site_variable *variable = variable_at(access->variables, access->address);
  if (variable != NULL) {
    return (size_t)(variable->address + variable->bytes - access->address);
  }
  size_t frames = (size_t)block->kernel->frame_bytes * block->padded_threads;
  if (is_in(access->address, block->frames, frames) || is_on_stack(access->address) ||
      is_argument(block, access->address)) {
    return SIZE_MAX;
  }
  struct hirc_allocation found;
  if (!hirc_checked_find(access->address, &found)) {
    return hirc_lent_from(access->address);
  }
  return (size_t)((const char *)found.start + found.bytes - (const char *)access->address);
}

// --- checking ------------------------------------------------------------------------------------

// The shadow of an access's bytes, NULL for memory without one. Does not return if there is no
// memory.
static uint8_t *shadow_of(const struct hirc_access *access, bool writes) {
  uint8_t *shadow;
  size_t left;
  if (hirc_shadow_has(access->address)) {
    shadow = hirc_shadow_of(access->address);
    left = hirc_shadow_first_below(shadow, access->bytes, HIRC_SHADOW_NEW);
  } else {
    struct hirc_block *owner = hirc_checks_owner(access->block, access->address);
    if (owner != NULL) {
      const struct hirc_block_checks *checks = hirc_checks_of(owner);
      size_t offset = (size_t)(access->address - owner->shared);
      shadow = checks->shadow + offset;
      left = offset < checks->bytes
                 ? hirc_shadow_first_below(shadow,
                                           access->bytes < checks->bytes - offset
                                               ? access->bytes
                                               : checks->bytes - offset,
                                           HIRC_SHADOW_NEW)
                 : 0;
    } else {
      shadow = NULL;
      left = elsewhere(access);
    }
  }
  if (left < access->bytes) {
    hirc_report_illegal(access, writes, access->address + left);
  }
  return shadow;
}

static void check_read(const struct hirc_access *access) {
  const uint8_t *shadow = shadow_of(access, false);
  if (shadow != NULL) {
    size_t first = hirc_shadow_first_below(shadow, access->bytes, HIRC_SHADOW_WRITTEN);
    if (first < access->bytes) {
      hirc_report_unwritten(access, access->address + first);
    }
  }
}

static void check_write(const struct hirc_access *access) {
  uint8_t *shadow = shadow_of(access, true);
  if (shadow != NULL) {
    memset(shadow, HIRC_SHADOW_WRITTEN, access->bytes);
  }
}

static void check_race(const struct hirc_access *access, enum hirc_race_kind kind) {
  bool is_global = hirc_shadow_has(access->address);
  if (is_global && hirc_checks_order()) {
    hirc_global_race_access(access, kind);
  }
  // What is strong orders the threads of a block wherever it is.
  if (!is_global || (kind != HIRC_RACE_READ && kind != HIRC_RACE_WRITE)) {
    hirc_race_access(access, kind);
  }
}

static void check(const struct hirc_access *access, enum hirc_race_kind kind) {
  if (access->bytes == 0) {
    return;
  }
  if (hirc_checks_memory()) {
    if (kind != HIRC_RACE_WRITE) {
      check_read(access);
    }
    if (kind == HIRC_RACE_WRITE || kind == HIRC_RACE_ATOMIC) {
      check_write(access);
    }
  }
  if (hirc_checks_race()) {
    check_race(access, kind);
  }
}

static struct hirc_access at_site(struct hirc_block *block, uint32_t thread, const void *address,
                                  uint64_t bytes, const struct hirc_site *site) {
  return (struct hirc_access){block,           thread,  site->space, site->source,
                              site->variables, address, bytes};
}

// Whether there is nothing to say about an access to a word: it has been written before. Most
// accesses are that.
static inline bool is_written_word(const struct hirc_block *block, const void *address,
                                   uint64_t bytes) {
  const uint32_t written = HIRC_SHADOW_WRITTEN * UINT32_C(0x01010101);
  const uint8_t *shadow;
  uint32_t states;
  if (bytes != sizeof states || hirc_checks != HIRC_CHECK_MEMORY) {
    return false;
  }
  if (hirc_shadow_has(address)) {
    shadow = hirc_shadow_of(address);
  } else {
    const struct hirc_block_checks *checks = hirc_checks_of(block);
    size_t offset = (size_t)((const char *)address - block->shared);
    if (offset + sizeof states > checks->bytes || offset >= checks->bytes) {
      return false;
    }
    shadow = checks->shadow + offset;
  }
  memcpy(&states, shadow, sizeof states);
  return states == written;
}

// --- what generated code calls -------------------------------------------------------------------

void hirc_check_read(struct hirc_block *block, uint32_t thread, const void *address, uint64_t bytes,
                     const struct hirc_site *site) {
  if (hirc_checks != 0 && !is_written_word(block, address, bytes)) {
    struct hirc_access access = at_site(block, thread, address, bytes, site);
    check(&access, HIRC_RACE_READ);
  }
}

void hirc_check_write(struct hirc_block *block, uint32_t thread, const void *address,
                      uint64_t bytes, const struct hirc_site *site) {
  if (hirc_checks != 0 && !is_written_word(block, address, bytes)) {
    struct hirc_access access = at_site(block, thread, address, bytes, site);
    check(&access, HIRC_RACE_WRITE);
  }
}

void hirc_check_strong_read(struct hirc_block *block, uint32_t thread, const void *address,
                            uint64_t bytes, const struct hirc_site *site) {
  if (hirc_checks != 0 && !is_written_word(block, address, bytes)) {
    struct hirc_access access = at_site(block, thread, address, bytes, site);
    check(&access, HIRC_RACE_STRONG_READ);
  }
}

// An atomic update but for what was there before.
void hirc_check_strong_write(struct hirc_block *block, uint32_t thread, const void *address,
                             uint64_t bytes, const struct hirc_site *site) {
  if (hirc_checks != 0 && !is_written_word(block, address, bytes)) {
    struct hirc_access access = at_site(block, thread, address, bytes, site);
    if (hirc_checks_memory() && bytes != 0) {
      check_write(&access);
    }
    check(&access, HIRC_RACE_ATOMIC);
  }
}

void hirc_check_atomic(struct hirc_block *block, uint32_t thread, const void *address,
                       uint64_t bytes, const struct hirc_site *site) {
  if (hirc_checks != 0 && !is_written_word(block, address, bytes)) {
    struct hirc_access access = at_site(block, thread, address, bytes, site);
    check(&access, HIRC_RACE_ATOMIC);
  }
}

// A copy takes along which of its bytes were never written: it may be of a struct with padding.
void hirc_check_copy(struct hirc_block *block, uint32_t thread, const void *to, const void *from,
                     uint64_t bytes, const struct hirc_site *site) {
  struct hirc_access read = at_site(block, thread, from, bytes, site), write = read;
  write.address = to;
  if (hirc_checks == 0 || bytes == 0) {
    return;
  }
  if (hirc_checks_memory()) {
    const uint8_t *source = shadow_of(&read, false);
    uint8_t *target = shadow_of(&write, true);
    if (target != NULL && source != NULL) {
      memmove(target, source, bytes);
    } else if (target != NULL) {
      memset(target, HIRC_SHADOW_WRITTEN, bytes);
    }
  }
  if (hirc_checks_race()) {
    check_race(&read, HIRC_RACE_READ);
    check_race(&write, HIRC_RACE_WRITE);
  }
}

// The next call is an operation of the runtime, in this thread's name.
void hirc_check_operation(struct hirc_block *block, uint32_t thread, const struct hirc_site *site) {
  if (hirc_checks != 0) {
    hirc_checks_current = at_site(block, thread, NULL, 0, site);
  }
}

// --- what operations call ------------------------------------------------------------------------

static enum hirc_race_kind race_kind(enum hirc_check_kind kind) {
  return kind == HIRC_CHECKED_WRITE ? HIRC_RACE_WRITE : HIRC_RACE_READ;
}

void hirc_checks_access(const void *address, size_t bytes, enum hirc_check_kind kind) {
  if (hirc_checks != 0 && hirc_checks_current.block != NULL) {
    struct hirc_access access = hirc_checks_current;
    access.address = address;
    access.bytes = bytes;
    check(&access, race_kind(kind));
  }
}

void hirc_checks_lane_access(const struct hirc_stop_call *call, uint32_t lane, const void *address,
                             size_t bytes, enum hirc_check_kind kind) {
  if (hirc_checks != 0) {
    struct hirc_access access = {call->block,   call->first_thread + lane, 0, call->stop->source,
                                 &no_variables, address,                   bytes};
    check(&access, race_kind(kind));
  }
}

// --- the device's own heap -----------------------------------------------------------------------

void *hirc_checks_device_malloc(size_t bytes) {
  return hirc_checked_create(HIRC_MEMORY_HEAP, bytes, 0);
}

size_t hirc_checks_device_free(struct hirc_block *block, uint32_t thread, void *pointer) {
  struct hirc_allocation found;
  bool live = hirc_checked_find(pointer, &found);
  if (live && hirc_checked_free(pointer, HIRC_MEMORY_HEAP)) {
    return found.bytes;
  }
  struct hirc_access access = {.block = block, .thread = thread, .variables = &no_variables};
  access.address = pointer;
  hirc_report_bad_free(&access);
}

// --- blocks --------------------------------------------------------------------------------------

// Gaps between variables are no memory.
static void begin_shadow(uint8_t *shadow, const struct hirc_block *block) {
  const struct hirc_shared_variable *variable = block->kernel->shared_variables;
  size_t static_bytes = block->kernel->static_shared_bytes;
  memset(shadow, variable != NULL ? HIRC_SHADOW_NONE : HIRC_SHADOW_NEW, static_bytes);
  for (; variable != NULL && variable->name != NULL; variable++) {
    memset(shadow + variable->offset, HIRC_SHADOW_NEW, variable->bytes);
  }
  memset(shadow + static_bytes, HIRC_SHADOW_NEW, block->dynamic_shared_bytes);
}

void hirc_checks_block_begin(struct hirc_block *block) {
  if (hirc_checks == 0) {
    return;
  }
  struct hirc_running_block *running = (struct hirc_running_block *)block;
  if (running->checks == NULL) {
    running->checks = calloc(1, sizeof *running->checks);
    if (running->checks == NULL) {
      abort();
    }
  }
  struct hirc_block_checks *checks = running->checks;
  checks->bytes = hirc_checks_shared_bytes(block);
  checks->command = hirc_worker()->run->grid->command;
  if (checks->room < checks->bytes) {
    free(checks->shadow);
    checks->shadow = malloc(checks->bytes);
    if (checks->shadow == NULL) {
      abort();
    }
    checks->room = checks->bytes;
  }
  if (checks->bytes != 0) {
    begin_shadow(checks->shadow, block);
  }
  if (hirc_checks_race()) {
    hirc_race_block_begin(block, checks);
  }
}
