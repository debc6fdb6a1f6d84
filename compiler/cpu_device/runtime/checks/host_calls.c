// The host's copies and fills: what they read must have been written, and what they write has been.

#include "checked_allocation.h"
#include "checks.h"
#include "global_race.h"
#include "shadow.h"

bool hirc_checks_host_range(const void *address, size_t bytes, const char *what) {
  if (!hirc_checks_memory() || !hirc_shadow_has(address)) {
    return true;
  }
  struct hirc_allocation found;
  bool live = hirc_checked_find(address, &found);
  size_t left = live ? (size_t)(found.start + found.bytes - (const char *)address) : 0;
  if (left >= bytes) {
    return true;
  }
  const struct hirc_checked_block *block = hirc_checked_near(address);
  bool freed = block != NULL && (!block->live || block->retired) &&
               (const char *)address >= block->start &&
               (const char *)address < block->start + block->bytes;
  struct hirc_report report = {0};
  hirc_report_add(&report, "%s: the %s, %zu bytes from 0x%llx on: ",
                  freed ? "use after free" : "out of bounds", what, bytes,
                  (unsigned long long)(uintptr_t)address);
  hirc_checked_describe(&report, (const char *)address + left);
  hirc_report_write(&report);
  return false;
}

static void check_race(const void *address, size_t bytes, enum hirc_race_kind kind) {
  if (hirc_checks_order() && hirc_shadow_has(address)) {
    struct hirc_access access = {.address = address, .bytes = bytes};
    hirc_global_race_access(&access, kind);
  }
}

void hirc_checks_freed(void *start) {
  const struct hirc_checked_block *block = hirc_checked_near(start);
  if (hirc_checks_order() && block != NULL && block->start == start) {
    hirc_global_race_freed(start, block->bytes);
  }
}

static void mark_written(void *to, size_t bytes) {
  if (hirc_checks_memory() && hirc_shadow_has(to)) {
    memset(hirc_shadow_of(to), HIRC_SHADOW_WRITTEN, bytes);
  }
}

void hirc_checks_filled(void *to, size_t bytes) {
  check_race(to, bytes, HIRC_RACE_WRITE);
  mark_written(to, bytes);
}

// Says where what leaves the device was never written; `what` is for messages: "a copy of".
static void check_written(const void *from, size_t bytes, const char *what, const char *where) {
  const uint8_t *source = hirc_shadow_of(from);
  size_t first = hirc_shadow_first_below(source, bytes, HIRC_SHADOW_WRITTEN);
  const struct hirc_checked_block *block = hirc_checked_near(from);
  if (first == bytes || !hirc_report_is_new(block, 3)) {
    return;
  }
  size_t count = 0;
  for (size_t i = first; i < bytes; i++) {
    count += source[i] < HIRC_SHADOW_WRITTEN;
  }
  struct hirc_report report = {0};
  hirc_report_add(&report,
                  "read of memory that nothing wrote: %s of %zu bytes to %s takes %zu such bytes: ",
                  what, bytes, where, count);
  hirc_checked_describe(&report, (const char *)from + first);
  hirc_report_write(&report);
}

void hirc_checks_sent(const void *from, size_t bytes) {
  check_race(from, bytes, HIRC_RACE_READ);
  if (hirc_checks_memory() && bytes != 0 && hirc_shadow_has(from)) {
    check_written(from, bytes, "a message", "another process");
  }
}

void hirc_checks_copied(void *to, const void *from, size_t bytes) {
  check_race(from, bytes, HIRC_RACE_READ);
  check_race(to, bytes, HIRC_RACE_WRITE);
  if (!hirc_checks_memory() || bytes == 0) {
    return;
  }
  if (!hirc_shadow_has(from)) {
    mark_written(to, bytes);
    return;
  }
  const uint8_t *source = hirc_shadow_of(from);
  const struct hirc_checked_block *target = hirc_shadow_has(to) ? hirc_checked_near(to) : NULL;
  const unsigned shared = HIRC_MEMORY_MANAGED | HIRC_MEMORY_HOST;
  bool to_device = target != NULL && (target->memory & shared) == 0;
  if (to_device) {
    memmove(hirc_shadow_of(to), source, bytes);
    return;
  }
  mark_written(to, bytes);
  check_written(from, bytes, "a copy", "the host");
}
