// Which checks this process makes: those that a kernel of it was built with, narrowed by
// HIRC_CHECK.

#include "../device_abi.h"
#include "checked_allocation.h"
#include "checks.h"
#include "global_race.h"
#include "host_faults.h"
#include "pending.h"
#include "shadow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned hirc_checks;

// Bytes of memory. For each the check of memory takes one more address, that of races ten more.
static const size_t least = (size_t)8 << 30;
static const size_t most_with_races = (size_t)2 << 40, most_without = (size_t)8 << 40;
// Of the addresses that are left, one part in so many is for one library; others come after it.
enum { PARTS = 8 };

extern struct hirc_kernel *const __start_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern struct hirc_kernel *const __stop_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));

static unsigned built_in(void) {
  size_t count = ((uintptr_t)__stop_hirc_cpu_kernels - (uintptr_t)__start_hirc_cpu_kernels) /
                 sizeof(void *);
  unsigned flags = 0;
  for (size_t i = 0; i < count; i++) {
    if (__start_hirc_cpu_kernels[i] != NULL) {
      flags |= __start_hirc_cpu_kernels[i]->flags;
    }
  }
  return ((flags & HIRC_KERNEL_CHECKS_MEMORY) != 0 ? HIRC_CHECK_MEMORY : 0) |
         ((flags & HIRC_KERNEL_CHECKS_RACES) != 0 ? HIRC_CHECK_RACE : 0);
}

// What a list like "memory,race" asks for.
static unsigned parse(const char *list) {
  unsigned wanted = 0;
  while (*list != '\0') {
    size_t length = strcspn(list, ",");
    if (length == 6 && memcmp(list, "memory", length) == 0) {
      wanted |= HIRC_CHECK_MEMORY;
    } else if (length == 4 && memcmp(list, "race", length) == 0) {
      wanted |= HIRC_CHECK_RACE;
    } else if (length != 0 && !(length == 4 && memcmp(list, "none", length) == 0)) {
      fprintf(stderr, "warning: HIRC_CHECK: '%.*s' is none of memory, race, none\n", (int)length,
              list);
    }
    list += length + (list[length] == ',');
  }
  return wanted;
}

static bool is_left(size_t bytes) {
  void *start = hirc_reserve(bytes);
  hirc_unreserve(start, bytes);
  return start != NULL;
}

// Reserves addresses for the program's memory and what is kept of it: at most so many.
static bool reserve(size_t most, bool races) {
  size_t each = races ? 12 : 2;
  for (size_t bytes = most; bytes >= least; bytes /= 2) {
    if (bytes != least && !is_left(bytes * each * PARTS)) {
      continue;
    }
    if (!hirc_shadow_reserve(bytes)) {
      continue;
    }
    if (!races || hirc_global_race_reserve()) {
      return true;
    }
    hirc_shadow_release();
  }
  return false;
}

// Before other constructors, which may use the device.
__attribute__((constructor(101))) static void choose(void) {
  unsigned built = built_in();
  const char *list = getenv("HIRC_CHECK");
  unsigned wanted = list != NULL ? parse(list) : built;
  if ((wanted & ~built) != 0) {
    fprintf(stderr, "warning: HIRC_CHECK=%s: this program was not built for that: rebuild it with "
                    "--check=%s\n",
            list, list);
  }
  hirc_checks = wanted & built;
  if (hirc_checks_race() && reserve(most_with_races, true)) {
    hirc_checks |= HIRC_CHECK_ORDER;
  } else if (hirc_checks_race()) {
    fprintf(stderr, "warning: no address space for the check of races in global memory: it is not "
                    "made\n");
  }
  if (hirc_checks_memory() && !hirc_checks_order() && !reserve(most_without, false)) {
    fprintf(stderr, "warning: no address space for the checks of memory: they are not made\n");
    hirc_checks &= ~(unsigned)HIRC_CHECK_MEMORY;
  }
  if (hirc_checks_order() && !hirc_checks_memory()) {
    hirc_checked_protect(true);
  }
  if (hirc_checks != 0) {
    hirc_report_install();
    hirc_pending_install();
    hirc_host_faults_install();
  }
}

void hirc_checks_end(void) {
  if (hirc_checks == 0) {
    return;
  }
  hirc_report_leave();
  hirc_host_faults_remove();
  hirc_global_race_release();
  hirc_shadow_release();
}
