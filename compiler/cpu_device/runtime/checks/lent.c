// Memory of a library's caller: what a program is called with, it may access, exactly that, until all
// that was enqueued is done and another call comes. What the program allocates for outputs is the
// caller's too, so that the host reaches memory of the device from the first call on.

#include "../stream.h"
#include "checked_allocation.h"
#include "checks.h"
#include "shadow.h"

#include <pthread.h>
#include <stdlib.h>

enum { NEAR = 4096 };

struct lent {
  const char *start;
  size_t bytes;
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct lent *all;
static size_t count, room;

static bool is_idle(const struct hirc_stream *stream) {
  return atomic_load(&stream->completed) == atomic_load(&stream->enqueued);
}

// A call begins. Under the lock.
static void forget_done(void) {
  bool idle = is_idle(&hirc_legacy_stream);
  for (struct hirc_stream *stream = hirc_first_stream(); stream != NULL && idle;
       stream = stream->next_stream) {
    idle = is_idle(stream);
  }
  count = idle ? 0 : count;
}

static void open_for_good(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, hirc_checks_open);
}

static void add(const void *start, size_t bytes) {
  if (count == room) {
    struct lent *grown = realloc(all, (room = 2 * room + 16) * sizeof *all);
    if (grown == NULL) {
      abort();
    }
    all = grown;
  }
  all[count++] = (struct lent){start, bytes};
}

void hirc_cpu_device_lend(const void *start, size_t bytes);

// Without memory, a call begins.
void hirc_cpu_device_lend(const void *start, size_t bytes) {
  if (!hirc_checks_memory()) {
    return;
  }
  open_for_good();
  if (start != NULL && hirc_shadow_has(start)) {
    // An output of an earlier call: the caller may have written to it.
    struct hirc_allocation found;
    if (hirc_checked_find(start, &found) &&
        bytes <= (size_t)(found.start + found.bytes - (const char *)start)) {
      hirc_shadow_set((char *)(uintptr_t)start, bytes, HIRC_SHADOW_WRITTEN);
    }
    return;
  }
  pthread_rwlock_wrlock(&lock);
  if (start == NULL) {
    forget_done();
  } else {
    add(start, bytes);
  }
  pthread_rwlock_unlock(&lock);
}

size_t hirc_lent_from(const void *address) {
  size_t most = 0;
  pthread_rwlock_rdlock(&lock);
  for (size_t i = 0; i < count; i++) {
    size_t offset = (size_t)((const char *)address - all[i].start);
    if (offset < all[i].bytes && all[i].bytes - offset > most) {
      most = all[i].bytes - offset;
    }
  }
  pthread_rwlock_unlock(&lock);
  return most;
}

bool hirc_lent_describe(struct hirc_report *report, const void *address) {
  const struct lent *nearest = NULL;
  size_t least = NEAR;
  pthread_rwlock_rdlock(&lock);
  for (size_t i = 0; i < count; i++) {
    const char *at = address, *end = all[i].start + all[i].bytes;
    size_t distance = at < all[i].start ? (size_t)(all[i].start - at)
                      : at >= end       ? (size_t)(at - end)
                                        : 0;
    if (distance < least) {
      least = distance;
      nearest = &all[i];
    }
  }
  if (nearest != NULL) {
    bool before = (const char *)address < nearest->start;
    hirc_report_add(report, "is %zu bytes %s a tensor of %zu bytes that the library was called with",
                    least, before ? "before" : "after", nearest->bytes);
  }
  pthread_rwlock_unlock(&lock);
  return nearest != NULL;
}
