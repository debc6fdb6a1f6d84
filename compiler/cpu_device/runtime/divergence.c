// Threads that wait for one another in vain: what each waits at, in words.
#include "engine.h"
#include "operations/operations.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  TEXT_ROOM = 8192,
  MAX_RANGES = 8, // of threads at one stop
  MAX_STOPS = 16,
  KNOWN_REPORTS = 64,
};

struct text {
  size_t used;
  char characters[TEXT_ROOM];
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = TEXT_ROOM - text->used;
  int length = vsnprintf(text->characters + text->used, room, format, arguments);
  va_end(arguments);
  if (length > 0) {
    text->used += (size_t)length < room ? (size_t)length : room - 1;
  }
}

static void append_source(struct text *text, const char *source) {
  if (source != NULL && *source != '\0') {
    append(text, " (%s)", source);
  }
}

static void append_thread(struct text *text, const struct hirc_block *block, uint32_t thread) {
  append(text, "(%u,%u,%u)", thread % block->size.x, thread / block->size.x % block->size.y,
         thread / (block->size.x * block->size.y));
}

// A thread's state: HIRC_STATE_END, or the stop it waits at.
static uint32_t thread_state(const struct hirc_running_block *block, uint32_t thread) {
  uint32_t lanes = block->block.lanes, warp = thread / lanes, lane = thread % lanes;
  if ((block->warps[warp].ended >> lane & 1) != 0) {
    return HIRC_STATE_END;
  }
  return hirc_lane_state(block, warp, lane);
}

// The operand that tells stops of one state apart: a barrier's number, a mask.
static uint32_t thread_key(const struct hirc_running_block *block, uint32_t thread,
                           uint32_t state) {
  if (state == HIRC_STATE_END) {
    return 0;
  }
  const struct hirc_stop *stop = &block->block.kernel->stops[state];
  bool keyed = hirc_is_barrier(stop) || stop->kind == HIRC_STOP_WARP;
  return keyed && stop->operand_count > 0 ? hirc_operand(block, stop, 0, thread) : 0;
}

static void append_threads(struct text *text, const struct hirc_running_block *block,
                           uint32_t state, uint32_t key) {
  uint32_t threads = block->block.threads, ranges = 0;
  for (uint32_t first = 0; first < threads;) {
    uint32_t last = first;
    while (last < threads && thread_state(block, last) == state &&
           thread_key(block, last, state) == key) {
      last++;
    }
    if (last == first) {
      first++;
      continue;
    }
    if (ranges == MAX_RANGES) {
      append(text, " ...");
      return;
    }
    append(text, ranges == 0 ? (last - first == 1 ? "thread " : "threads ") : ", ");
    append_thread(text, &block->block, first);
    if (last - first > 1) {
      append(text, "-");
      append_thread(text, &block->block, last - 1);
    }
    ranges++;
    first = last;
  }
}

static void append_stop(struct text *text, const struct hirc_running_block *block, uint32_t thread,
                        uint32_t state) {
  if (state == HIRC_STATE_END) {
    append(text, " have ended");
    return;
  }
  const struct hirc_stop *stop = &block->block.kernel->stops[state];
  append(text, " wait at %s", stop->operation ? stop->operation : "no operation");
  if (hirc_is_barrier(stop)) {
    uint32_t count = hirc_operand(block, stop, 1, thread);
    append(text, " %u", hirc_operand(block, stop, 0, thread));
    append_source(text, stop->source);
    append(text, " for %u threads", count == 0 ? block->block.threads : count);
    return;
  }
  if (stop->kind == HIRC_STOP_WARP && stop->operand_count > 0) {
    append(text, " with mask 0x%08x", hirc_operand(block, stop, 0, thread));
  }
  append_source(text, stop->source);
  if (stop->perform == hirc_poll_mbarrier) {
    char missing[128];
    hirc_mbarrier_describe(*(uint64_t *const *)(const void *)hirc_slot(block, stop, 0, thread),
                           missing, sizeof missing);
    append(text, " for %s", missing);
  }
}

// Which threads wait at which stops of the block.
static void append_block(struct text *text, const struct hirc_running_block *block) {
  uint32_t states[MAX_STOPS], keys[MAX_STOPS], known = 0;
  for (uint32_t thread = 0; thread < block->block.threads; thread++) {
    uint32_t state = thread_state(block, thread), key = thread_key(block, thread, state), i = 0;
    while (i < known && (states[i] != state || keys[i] != key)) {
      i++;
    }
    if (i < known) {
      continue;
    }
    if (known == MAX_STOPS) {
      append(text, " ...");
      return;
    }
    states[known] = state;
    keys[known++] = key;
    append(text, i == 0 ? " " : "; ");
    append_threads(text, block, state, key);
    append_stop(text, block, thread, state);
  }
}

static void append_beginning(struct text *text, const char *what,
                             const struct hirc_running_block *block) {
  const struct hirc_kernel *kernel = block->block.kernel;
  append(text, "error: %s in kernel %s", what, hirc_title(kernel));
  append_source(text, kernel->source);
  append(text, ": block (%u,%u,%u):", block->block.index.x, block->block.index.y,
         block->block.index.z);
}

// --- each fault is told once -------------------------------------------------------------------

// Kernel and the states of the block's threads, as one number.
static uint64_t fingerprint(const struct hirc_running_block *block) {
  uint64_t hash = (uintptr_t)block->block.kernel;
  for (uint32_t thread = 0; thread < block->block.threads; thread++) {
    hash = (hash ^ thread_state(block, thread)) * UINT64_C(0x100000001b3);
  }
  return hash | 1;
}

static bool is_new(uint64_t hash) {
  static _Atomic uint64_t known[KNOWN_REPORTS];
  for (unsigned i = 0; i < KNOWN_REPORTS; i++) {
    uint64_t none = 0;
    if (atomic_compare_exchange_strong(&known[i], &none, hash)) {
      return true;
    }
    if (none == hash) {
      return false;
    }
  }
  return false;
}

static _Noreturn void report(struct hirc_worker *worker, const struct hirc_running_block *block,
                             struct text *text) {
  int none = 0;
  bool first = atomic_compare_exchange_strong(&worker->run->error, &none,
                                              HIRC_ERROR_LAUNCH_FAILURE);
  // Who waits for a thread that has failed its assertion waits in vain, and that has been said.
  bool asserted = atomic_load(&worker->run->asserted);
  if (first && !asserted && is_new(fingerprint(block))) {
    append(text, "\n");
    ssize_t written = write(STDERR_FILENO, text->characters, text->used);
    (void)written;
  }
  hirc_leave_grid(worker, HIRC_ERROR_LAUNCH_FAILURE);
}

// A block of the cluster with threads that wait at something of their block or warp; else at the
// cluster's barrier.
static const struct hirc_running_block *stuck_block(const struct hirc_cluster *cluster) {
  const struct hirc_running_block *result = cluster->blocks[0];
  for (uint32_t rank = cluster->count; rank-- > 0;) {
    const struct hirc_running_block *block = cluster->blocks[rank];
    for (uint32_t thread = 0; thread < block->block.threads; thread++) {
      uint32_t state = thread_state(block, thread);
      if (state != HIRC_STATE_END &&
          block->block.kernel->stops[state].kind != HIRC_STOP_CLUSTER_WAIT) {
        result = block;
        break;
      }
    }
  }
  return result;
}

static const char *name_of_trouble(const struct hirc_running_block *block) {
  bool barrier = false;
  for (uint32_t thread = 0; thread < block->block.threads; thread++) {
    uint32_t state = thread_state(block, thread);
    barrier |= state != HIRC_STATE_END && hirc_is_barrier(&block->block.kernel->stops[state]);
  }
  return barrier ? "divergent barrier" : "threads wait forever";
}

_Noreturn void hirc_report_stuck(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  const struct hirc_running_block *block = stuck_block(cluster);
  struct text text = {0};
  append_beginning(&text, name_of_trouble(block), block);
  append_block(&text, block);
  report(worker, block, &text);
}

_Noreturn void hirc_report_quiet(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  const struct hirc_running_block *block = stuck_block(cluster);
  struct text text = {0};
  append_beginning(&text, "threads wait forever", block);
  append_block(&text, block);
  report(worker, block, &text);
}

_Noreturn void hirc_report_different_barriers(struct hirc_worker *worker,
                                              struct hirc_running_block *block, uint32_t barrier) {
  struct text text = {0};
  append_beginning(&text, "divergent barrier", block);
  append_block(&text, block);
  append(&text, ": barrier %u of all threads must be the same for all", barrier);
  report(worker, block, &text);
}
