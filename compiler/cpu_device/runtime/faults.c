// What ends a kernel in the middle: faults of the processor, traps, assertions.
//
// A fault inside a region or a performer leaves the grid by a jump; any other goes to the handler
// that was there before, so that a crash of the program's own code stays one.
#define _GNU_SOURCE
#include "engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum {
  FAULT_SIGNALS = sizeof fault_signals / sizeof *fault_signals,
  SIGNAL_STACK_BYTES = 64 << 10,
  NEAR_STACK_END = 1 << 20,
  // Libraries in a chain of handlers; a longer one leads back to where it came from.
  MAX_CHAIN = 4096,
};
static struct sigaction previous[FAULT_SIGNALS];
static bool is_installed;

// --- leaving -----------------------------------------------------------------------------------

// The grid ends with this error; true if it is its first.
static bool claim_error(struct hirc_worker *worker, int error) {
  int none = 0;
  return atomic_compare_exchange_strong(&worker->run->error, &none, error);
}

_Noreturn void hirc_leave_grid(struct hirc_worker *worker, int error) {
  claim_error(worker, error);
  worker->inside = 0;
  siglongjmp(*worker->escape, 1);
}

// --- messages ----------------------------------------------------------------------------------

static struct hirc_extent thread_index(const struct hirc_block *block, uint32_t thread) {
  return (struct hirc_extent){thread % block->size.x, thread / block->size.x % block->size.y,
                              thread / (block->size.x * block->size.y)};
}

// "in kernel K (source): block (0,0,0): thread(s) ..." of what is running.
static void describe(char *text, size_t room, const struct hirc_worker *worker) {
  const struct hirc_block *block = &worker->block->block;
  const struct hirc_kernel *kernel = block->kernel;
  const char *source = kernel->source != NULL ? kernel->source : "";
  int used = snprintf(text, room, "in kernel %s%s%s%s: block (%u,%u,%u)", hirc_title(kernel),
                      *source ? " (" : "", source, *source ? ")" : "", block->index.x,
                      block->index.y, block->index.z);
  struct hirc_extent first = thread_index(block, worker->first);
  struct hirc_extent last = thread_index(block, worker->last - 1);
  if (used < 0 || (size_t)used >= room) {
    return;
  }
  text += used;
  room -= (size_t)used;
  if (worker->last - worker->first == 1) {
    snprintf(text, room, ", thread (%u,%u,%u)", first.x, first.y, first.z);
  } else {
    snprintf(text, room, ", one of threads (%u,%u,%u)-(%u,%u,%u)", first.x, first.y, first.z,
             last.x, last.y, last.z);
  }
}

static void write_message(const char *text) {
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

static int report_fault(struct hirc_worker *worker, int number, const siginfo_t *info) {
  char where[512], what[128], message[768];
  int error = HIRC_ERROR_LAUNCH_FAILURE;
  uintptr_t address = (uintptr_t)info->si_addr, low = (uintptr_t)worker->stack_low;
  bool memory = number == SIGSEGV || number == SIGBUS;
  if (memory && address + NEAR_STACK_END >= low && address < low + NEAR_STACK_END / 16) {
    snprintf(what, sizeof what, "stack overflow");
  } else if (memory) {
    error = HIRC_ERROR_ILLEGAL_ADDRESS;
    // The processor does not tell an address that no address can be.
    if (info->si_code == SI_KERNEL) {
      snprintf(what, sizeof what, "access to an illegal address");
    } else {
      snprintf(what, sizeof what, "access to illegal address 0x%llx", (unsigned long long)address);
    }
  } else if (number == SIGFPE) {
    // x86 has one fault for both.
    snprintf(what, sizeof what, "integer division by zero, or of the least by -1");
  } else {
    snprintf(what, sizeof what, "trap");
  }
  if (claim_error(worker, error)) {
    describe(where, sizeof where, worker);
    snprintf(message, sizeof message, "error: %s %s\n", what, where);
    write_message(message);
  }
  return error;
}

// --- signals -----------------------------------------------------------------------------------

static void pass_on(int number, siginfo_t *info, void *context) {
  for (unsigned i = 0; i < FAULT_SIGNALS; i++) {
    if (fault_signals[i] != number) {
      continue;
    }
    if ((previous[i].sa_flags & SA_SIGINFO) != 0) {
      previous[i].sa_sigaction(number, info, context);
    } else if (previous[i].sa_handler != SIG_DFL && previous[i].sa_handler != SIG_IGN) {
      previous[i].sa_handler(number);
    } else {
      // Returning repeats the fault, now without a handler.
      sigaction(number, &previous[i], NULL);
      if (info->si_code <= 0 || number == SIGTRAP) {
        raise(number);
      }
    }
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  struct hirc_worker *worker = hirc_worker();
  // A signal that someone sent is no fault.
  if (worker->escape == NULL || !worker->inside || info->si_code <= 0) {
    pass_on(number, info, context);
    return;
  }
  worker->inside = 0; // a fault in here is the engine's
  hirc_leave_grid(worker, report_fault(worker, number, info));
}

void hirc_faults_install(void) {
  struct sigaction action = {.sa_sigaction = on_fault,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (unsigned i = 0; i < FAULT_SIGNALS; i++) {
    sigaction(fault_signals[i], &action, &previous[i]);
  }
  is_installed = true;
}

// The handlers that were there before this library's. Another library that hirc built asks for them: what
// is exported is this library's own for itself, whatever else is loaded.
__attribute__((visibility("protected"))) struct sigaction *hirc_fault_handlers_before(void);
struct sigaction *hirc_fault_handlers_before(void) { return previous; }

static bool is_ours(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == on_fault;
}

// What another library keeps as the handler before its own; NULL where hirc built none.
static struct sigaction *handler_before(const struct sigaction *action, unsigned number) {
  Dl_info found;
  if ((action->sa_flags & SA_SIGINFO) == 0 || !dladdr((void *)action->sa_sigaction, &found)) {
    return NULL;
  }
  void *library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) {
    return NULL;
  }
  struct sigaction *(*before)(void) =
      (struct sigaction * (*)(void)) dlsym(library, "hirc_fault_handlers_before");
  dlclose(library);
  return before == NULL ? NULL : &before()[number];
}

// Takes the handlers out of the chain. A chain that another program's handler is in stays; where that
// keeps the handler of a library that is gone, the next one at its place makes a circle of it.
void hirc_faults_remove(void) {
  for (unsigned i = 0; i < FAULT_SIGNALS && is_installed; i++) {
    struct sigaction now;
    if (sigaction(fault_signals[i], NULL, &now) != 0) {
      continue;
    }
    if (is_ours(&now)) {
      sigaction(fault_signals[i], &previous[i], NULL);
      continue;
    }
    struct sigaction *kept = handler_before(&now, i);
    for (unsigned passed = 0; kept != NULL && !is_ours(kept); passed++) {
      kept = passed < MAX_CHAIN ? handler_before(kept, i) : NULL;
    }
    if (kept != NULL) {
      *kept = previous[i];
    }
  }
}

// Gives the thread a stack for signals, for when its own is full.
void hirc_faults_prepare_thread(struct hirc_worker *worker) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void *low;
    size_t bytes;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    worker->stack_low = low;
  }
  stack_t now;
  if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  void *memory = mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = SIGNAL_STACK_BYTES}, NULL);
    worker->signal_stack = memory;
  }
}

void hirc_faults_release_thread(struct hirc_worker *worker) {
  if (worker->signal_stack != NULL) {
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    munmap(worker->signal_stack, SIGNAL_STACK_BYTES);
    worker->signal_stack = NULL;
  }
}

// --- what device code calls --------------------------------------------------------------------

static void report(const struct hirc_block *block, uint32_t thread, const char *what) {
  struct hirc_worker *worker = hirc_worker();
  char where[512], message[2048];
  worker->block = (struct hirc_running_block *)block;
  worker->first = thread;
  worker->last = thread + 1;
  describe(where, sizeof where, worker);
  snprintf(message, sizeof message, "error: %s %s\n", what, where);
  write_message(message);
}

_Noreturn void hirc_device_abort(struct hirc_block *block, uint32_t thread, int cuda_error) {
  struct hirc_worker *worker = hirc_worker();
  if (claim_error(worker, cuda_error) && cuda_error == HIRC_ERROR_LAUNCH_FAILURE) {
    report(block, thread, "trap");
  }
  hirc_leave_grid(worker, cuda_error);
}

_Noreturn void hirc_device_fail(struct hirc_block *block, uint32_t thread, int cuda_error,
                                const char *what) {
  struct hirc_worker *worker = hirc_worker();
  if (claim_error(worker, cuda_error)) {
    report(block, thread, what);
  }
  hirc_leave_grid(worker, cuda_error);
}

void hirc_device_assert(struct hirc_block *block, uint32_t thread, const char *message,
                        const char *file, uint32_t line, const char *function) {
  struct hirc_extent at = thread_index(block, thread);
  char text[2048];
  snprintf(text, sizeof text,
           "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
           function, block->index.x, block->index.y, block->index.z, at.x, at.y, at.z, message);
  write_message(text);
  atomic_store(&hirc_worker()->run->asserted, true);
}

_Noreturn void hirc_device_assert_all(struct hirc_block *block, uint32_t thread,
                                      const char *message, const char *file, uint32_t line,
                                      const char *function) {
  hirc_device_assert(block, thread, message, file, line, function);
  hirc_leave_grid(hirc_worker(), HIRC_ERROR_ASSERT);
}
