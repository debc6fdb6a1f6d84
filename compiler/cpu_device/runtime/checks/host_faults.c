// Host code that touches memory of the device, or memory that pending work uses: the processor's
// fault becomes a message, and the program ends.

#define _GNU_SOURCE
#include "host_faults.h"

#include "checked_allocation.h"
#include "pending.h"
#include "shadow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

static struct sigaction previous;

static const char *action_of(const ucontext_t *context) {
#if defined(__x86_64__)
  return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "writes" : "reads";
#else
  (void)context;
  return "accesses";
#endif
}

static void add_what(struct hirc_report *report, const struct hirc_checked_block *block,
                     const char *address) {
  if (block == NULL || address < block->start || address >= block->start + block->bytes) {
    hirc_report_add(report, "memory outside all allocations");
  } else if (!block->live) {
    hirc_report_add(report, "memory after it was freed");
  } else if ((block->memory & (HIRC_MEMORY_MANAGED | HIRC_MEMORY_HOST)) != 0) {
    hirc_report_add(report, "memory that is in use by the device");
  } else {
    hirc_report_add(report, "memory of the device");
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const char *address = info->si_addr;
  if (info->si_code <= 0 || !hirc_shadow_has(address)) {
    // Returning repeats the fault, with the handler that was there before.
    sigaction(number, &previous, NULL);
    if (info->si_code <= 0) {
      raise(number);
    }
    return;
  }
  const struct hirc_checked_block *block = hirc_checked_near(address);
  struct hirc_report report = {0};
  hirc_report_add(&report, "host code %s ", action_of(context));
  add_what(&report, block, address);
  hirc_report_add(&report, ": ");
  hirc_checked_describe(&report, address);
  if (block != NULL && block->held != HIRC_HELD_NOT) {
    hirc_pending_describe_user(&report, block);
  }
  hirc_report_write(&report);
  // What was printed so far still appears, unless the fault is in the middle of printing.
  if (ftrylockfile(stdout) == 0) {
    fflush_unlocked(stdout);
  }
  _exit(EXIT_FAILURE);
}

void hirc_host_faults_install(void) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previous);
}

void hirc_host_faults_remove(void) {
  struct sigaction now;
  if (sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) != 0 &&
      now.sa_sigaction == on_fault) {
    sigaction(SIGSEGV, &previous, NULL);
  }
}
