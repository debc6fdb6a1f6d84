// Work that nobody has waited for.
//
// In a checked program nothing that is enqueued runs before somebody waits for it, and then only
// what that wait needs. So a result that is used too early is never there by luck: memory of the
// device is out of the host's reach but while something runs, and so is memory of both sides that
// pending work uses. What is still pending when the program ends was never waited for.

#define _GNU_SOURCE
#include "pending.h"
#include "../unload.h"

#include "../copies.h"
#include "../launch.h"
#include "checked_allocation.h"
#include "checks.h"
#include "shadow.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

// --- waiting -------------------------------------------------------------------------------------

// Of one thread of the host, which may wait for several points at once.
static pthread_mutex_t waiting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static unsigned depth;

static void release_block(struct hirc_checked_block *block) {
  if (block->held != HIRC_HELD_NOT) {
    block->held = HIRC_HELD_NOT;
    mprotect(block->start, (block->bytes + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE);
  }
}

void hirc_checks_begin_wait(void) {
  if (hirc_checks_memory()) {
    pthread_mutex_lock(&waiting);
    depth++;
  }
}

// Allows a stream's commands up to the point, and all that they wait for. Only what is allowed is
// executed and its storage used again: the list from `last_allowed` on is as it was enqueued.
static void allow(struct hirc_point point) {
  struct hirc_stream *stream = point.stream;
  if (stream == NULL || atomic_load(&stream->allowed) >= point.position) {
    return;
  }
  struct hirc_command *command = stream->last_allowed;
  for (uint64_t at = atomic_load(&stream->allowed); at < point.position; at++) {
    command = command->next;
    allow(command->after);
  }
  stream->last_allowed = command;
  atomic_store(&stream->allowed, point.position);
}

void hirc_checks_need(struct hirc_stream *stream, uint64_t position) {
  if (hirc_checks_memory()) {
    allow((struct hirc_point){stream, position});
  }
}

static void start(struct hirc_stream *stream) {
  if (atomic_load(&stream->allowed) > atomic_load(&stream->completed)) {
    hirc_stream_start(stream);
  }
}

void hirc_checks_start(void) {
  if (hirc_checks_memory()) {
    hirc_checked_for_each_shared(release_block);
    start(&hirc_legacy_stream);
    for (struct hirc_stream *stream = hirc_first_stream(); stream != NULL;
         stream = stream->next_stream) {
      start(stream);
    }
  }
}

// What runs waits for something that nobody has waited for: on a GPU that would run, too.
static _Atomic bool wants_all;

static bool is_pending(struct hirc_stream *stream) {
  return atomic_load(&stream->allowed) < atomic_load(&stream->enqueued);
}

bool hirc_checks_want_all(void) {
  bool pending = is_pending(&hirc_legacy_stream);
  for (struct hirc_stream *stream = hirc_first_stream(); stream != NULL;
       stream = stream->next_stream) {
    pending |= is_pending(stream);
  }
  atomic_store(&wants_all, pending);
  return pending;
}

void hirc_checks_allow_wanted(void) {
  if (atomic_exchange(&wants_all, false)) {
    allow(hirc_end_of(&hirc_legacy_stream));
    for (struct hirc_stream *stream = hirc_first_stream(); stream != NULL;
         stream = stream->next_stream) {
      allow(hirc_end_of(stream));
    }
    hirc_checks_start();
  }
}

static void hold_all(void);

void hirc_checks_end_wait(void) {
  if (hirc_checks_memory()) {
    if (--depth == 0) {
      hold_all();
    }
    pthread_mutex_unlock(&waiting);
  }
}

// --- memory of the device ------------------------------------------------------------------------

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static unsigned opened;

void hirc_checks_open(void) {
  if (hirc_checks_memory()) {
    pthread_mutex_lock(&opening);
    if (opened++ == 0) {
      hirc_checked_protect(true);
    }
    pthread_mutex_unlock(&opening);
  }
}

void hirc_checks_close(void) {
  if (hirc_checks_memory()) {
    pthread_mutex_lock(&opening);
    if (--opened == 0) {
      hirc_checked_protect(false);
    }
    pthread_mutex_unlock(&opening);
  }
}

// --- memory of both ------------------------------------------------------------------------------

// Calls the function with what the command will access, as far as that shows: the memory that its
// arguments point to.
typedef void use(const void *address, enum hirc_held how, void *data);

static void for_each_use(const struct hirc_command *command, use *function, void *data) {
  if (command->type == HIRC_NODE_KERNEL && command->run != NULL) {
    const struct hirc_grid *grid = hirc_launch_grid(command);
    for (uint32_t i = 0; i < grid->kernel->argument_count; i++) {
      const char *argument = grid->arguments[i];
      for (uint32_t at = 0; at + sizeof(void *) <= grid->kernel->arguments[i].bytes;
           at += sizeof(void *)) {
        const void *pointer;
        memcpy(&pointer, argument + at, sizeof pointer);
        function(pointer, HIRC_HELD, data);
      }
    }
  } else if (command->type == HIRC_NODE_MEMCPY) {
    const struct hirc_copy *copy = (const void *)command->payload;
    function(copy->dst, HIRC_HELD, data);
    function(copy->src, HIRC_HELD_FROM_WRITING, data);
  } else if (command->type == HIRC_NODE_MEMSET) {
    function(*(void *const *)(const void *)command->payload, HIRC_HELD, data);
  }
}

// The live block, one that the host may access too, which the address lies in.
static struct hirc_checked_block *shared_block(const void *address) {
  struct hirc_checked_block *block = (struct hirc_checked_block *)hirc_checked_near(address);
  bool found = block != NULL && block->live &&
               (block->memory & (HIRC_MEMORY_MANAGED | HIRC_MEMORY_HOST)) != 0 &&
               (const char *)address >= block->start &&
               (const char *)address < block->start + block->bytes;
  return found ? block : NULL;
}

// Page-locked memory is the host's: kernels may well use it while the host does.
static void hold(const void *address, enum hirc_held how, void *data) {
  const struct hirc_command *command = data;
  struct hirc_checked_block *block = shared_block(address);
  bool ours = block != NULL && (block->memory == HIRC_MEMORY_MANAGED ||
                                command->type != HIRC_NODE_KERNEL);
  if (ours && block->held < how) {
    block->held = (uint8_t)how;
    mprotect(block->start, (block->bytes + PAGE - 1) / PAGE * PAGE,
             how == HIRC_HELD ? PROT_NONE : PROT_READ);
  }
}

void hirc_checks_enqueued(struct hirc_command *command) { for_each_use(command, hold, command); }

// Calls the function for each pending command until it returns true; gives the stream then.
typedef bool visit(struct hirc_command *command, void *data);

static struct hirc_stream *visit_stream(struct hirc_stream *stream, visit *function, void *data) {
  uint64_t left = atomic_load(&stream->enqueued) - atomic_load(&stream->allowed);
  for (struct hirc_command *command = stream->last_allowed; left != 0; left--) {
    command = command->next;
    if (function(command, data)) {
      return stream;
    }
  }
  return NULL;
}

static struct hirc_stream *visit_pending(visit *function, void *data) {
  struct hirc_stream *found = visit_stream(&hirc_legacy_stream, function, data);
  for (struct hirc_stream *stream = hirc_first_stream(); stream != NULL && found == NULL;
       stream = stream->next_stream) {
    found = visit_stream(stream, function, data);
  }
  return found;
}

static bool hold_used(struct hirc_command *command, void *data) {
  (void)data;
  hirc_checks_enqueued(command);
  return false;
}

static void hold_all(void) { visit_pending(hold_used, NULL); }

// --- in words ------------------------------------------------------------------------------------

static void describe(struct hirc_report *report, const struct hirc_command *command) {
  const char *source = "";
  switch (command->type) {
  case HIRC_NODE_KERNEL:
    source = hirc_launch_grid(command)->kernel->source;
    hirc_report_add(report, "kernel %s", hirc_title(hirc_launch_grid(command)->kernel));
    break;
  case HIRC_NODE_MEMCPY:
    hirc_report_add(report, "a copy");
    break;
  case HIRC_NODE_MEMSET:
    hirc_report_add(report, "a fill");
    break;
  case HIRC_NODE_GRAPH:
    hirc_report_add(report, "a graph");
    break;
  case HIRC_NODE_COMMUNICATION:
    hirc_report_add(report, "a communication");
    break;
  default:
    hirc_report_add(report, "a function of the host");
  }
  if (source != NULL && *source != '\0') {
    hirc_report_add(report, " (%s)", source);
  }
}

static void describe_stream(struct hirc_report *report, const struct hirc_stream *stream) {
  if (stream == &hirc_legacy_stream) {
    hirc_report_add(report, "the default stream");
  } else {
    hirc_report_add(report, "stream %llu", (unsigned long long)stream->id);
  }
}

struct search {
  const struct hirc_checked_block *block;
  struct hirc_command *found;
};

static void compare(const void *address, enum hirc_held how, void *data) {
  struct search *search = data;
  (void)how;
  if (shared_block(address) == search->block) {
    search->block = NULL;
  }
}

static bool uses(struct hirc_command *command, void *data) {
  struct search search = *(struct search *)data;
  for_each_use(command, compare, &search);
  if (search.block == NULL) {
    ((struct search *)data)->found = command;
  }
  return search.block == NULL;
}

void hirc_pending_describe_user(struct hirc_report *report,
                                const struct hirc_checked_block *block) {
  struct search search = {block, NULL};
  const struct hirc_stream *stream = visit_pending(uses, &search);
  if (stream != NULL) {
    hirc_report_add(report, ": ");
    describe(report, search.found);
    hirc_report_add(report, ", enqueued in ");
    describe_stream(report, stream);
    hirc_report_add(report, ", uses it and was never waited for");
  }
}

// --- the end -------------------------------------------------------------------------------------

static bool does_something(struct hirc_command *command, void *data) {
  bool result = command->run != NULL && command->type != HIRC_NODE_EVENT_RECORD &&
                command->type != HIRC_NODE_FREE;
  if (result) {
    *(struct hirc_command **)data = command;
  }
  return result;
}

static void report_pending(const char *location) {
  struct hirc_command *command;
  if (!hirc_checks_memory() || hirc_device_status() != 0) {
    return;
  }
  const struct hirc_stream *stream = visit_pending(does_something, &command);
  if (stream != NULL) {
    struct hirc_report report = {0};
    describe_stream(&report, stream);
    hirc_report_add(&report, " was never waited for: ");
    describe(&report, command);
    hirc_report_add(&report, " is still to run in it when the program ends");
    if (location != NULL && *location != '\0') {
      hirc_report_add(&report, " (%s)", location);
    }
    hirc_report_write(&report);
  }
}

// Called by hirc_program_end (compiler/runtime/program_end.c) before it waits for the device.
void hirc_cpu_device_program_ends(const char *location);
void hirc_cpu_device_program_ends(const char *location) { report_pending(location); }

// For a program that does not end by hirc_program_end.
static void at_exit(void) {
  if (!hirc_report_any() && !hirc_is_unloaded()) {
    report_pending(NULL);
  }
}

void hirc_pending_install(void) { atexit(at_exit); }
