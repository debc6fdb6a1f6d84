// Messages of the checks, and the status that the program ends with.
//
// Every place is reported once and few places in all: one mistake tends to be made by all threads.
// A program about which something was reported ends with status 1.

#include "report.h"

#include "../device_abi.h"
#include "../unload.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PLACES = 10 };

static _Atomic bool any;

void hirc_report_add(struct hirc_report *report, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof report->text - report->used;
  int length = vsnprintf(report->text + report->used, room, format, arguments);
  va_end(arguments);
  if (length > 0) {
    report->used += (size_t)length < room ? (size_t)length : room - 1;
  }
}

void hirc_report_add_thread(struct hirc_report *report, const struct hirc_block *block,
                            uint32_t thread) {
  hirc_report_add(report, ", block (%u,%u,%u) thread (%u,%u,%u)", block->index.x, block->index.y,
                  block->index.z, thread % block->size.x, thread / block->size.x % block->size.y,
                  thread / (block->size.x * block->size.y));
}

// Runs after what was registered later, the program's own functions among it.
static void end_with_failure(void) {
  if (atomic_load(&any) && !hirc_is_unloaded()) {
    fflush(NULL);
    _exit(EXIT_FAILURE);
  }
}

void hirc_report_install(void) { atexit(end_with_failure); }

// The last registered runs first. Both are libc's, and remain.
void hirc_report_leave(void) {
  extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
  if (atomic_load(&any)) {
    __cxa_atexit((void (*)(void *))(void *)_exit, (void *)EXIT_FAILURE, NULL);
    __cxa_atexit((void (*)(void *))(void *)fflush, NULL, NULL);
  }
}

void hirc_report_write(struct hirc_report *report) {
  static const char beginning[] = "error: ";
  char whole[sizeof beginning + sizeof report->text];
  size_t length = sizeof beginning - 1;
  memcpy(whole, beginning, length);
  memcpy(whole + length, report->text, report->used);
  length += report->used;
  whole[length++] = '\n';
  atomic_store(&any, true);
  ssize_t written = write(STDERR_FILENO, whole, length);
  (void)written;
}

bool hirc_report_any(void) { return atomic_load(&any); }

bool hirc_report_is_new(const void *place, unsigned kind) {
  static _Atomic uintptr_t known[MAX_PLACES];
  uintptr_t key = (uintptr_t)place * 8 + kind + 1;
  for (unsigned i = 0; i < MAX_PLACES; i++) {
    uintptr_t there = 0;
    if (atomic_compare_exchange_strong(&known[i], &there, key)) {
      return true;
    }
    if (there == key) {
      return false;
    }
  }
  return false;
}
