// Whether anything can go on at all.
//
// A thread that polls or yields waits for what somebody else does. A worker goes round those that
// it has begun; a round is *calm* if it had no event: no thread ended, passed a barrier or saw of
// memory what it had not seen before. Where every thread of the pool that does anything has had
// nothing but calm rounds for a while, nothing is on offer, and the program itself waits for the
// device, there is nobody left who could write. What was written before may have come after a round
// had looked; so each worker has to begin and end a calm round from then on. What they wait for
// cannot come any more after that, however slowly the system runs any thread. Threads of the program
// that the runtime knows nothing of might still write to memory that a kernel reads: then the while
// is longer.
#define _GNU_SOURCE
#include "engine.h"
#include "pool.h"
#include "stream.h"

#include <dirent.h>
#include <pthread.h>

static const uint64_t calm_nanoseconds = 700 * UINT64_C(1000000);
static const uint64_t calm_among_others = 10 * UINT64_C(1000000000);

static struct hirc_worker *_Atomic workers;
static pthread_mutex_t hosts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hirc_waiting_host *hosts;
static _Atomic uint64_t progress; // rounds that were not calm
static _Atomic uint64_t told;     // the progress at which a worker gave up; 0: none

void hirc_quiet_register(struct hirc_worker *worker) {
  worker->next_worker = atomic_load(&workers);
  while (!atomic_compare_exchange_weak(&workers, &worker->next_worker, worker)) {
  }
}

void hirc_quiet_forget(void) {
  atomic_store(&workers, NULL);
  pthread_mutex_init(&hosts_lock, NULL);
  hosts = NULL;
}

void hirc_host_waits(struct hirc_waiting_host *host) {
  pthread_mutex_lock(&hosts_lock);
  host->next = hosts;
  hosts = host;
  pthread_mutex_unlock(&hosts_lock);
}

void hirc_host_goes_on(struct hirc_waiting_host *host) {
  pthread_mutex_lock(&hosts_lock);
  struct hirc_waiting_host **link = &hosts;
  while (*link != NULL && *link != host) {
    link = &(*link)->next;
  }
  if (*link != NULL) {
    *link = host->next;
  }
  pthread_mutex_unlock(&hosts_lock);
}

// The threads of the program that wait for the device. 0 where one is about to go on: what it waited
// for is done, and the system has not run it since.
static unsigned hosts_waiting(void) {
  unsigned count = 0;
  pthread_mutex_lock(&hosts_lock);
  for (struct hirc_waiting_host *host = hosts; host != NULL; host = host->next) {
    if (hirc_reached(host->point)) {
      count = 0;
      break;
    }
    count++;
  }
  pthread_mutex_unlock(&hosts_lock);
  return count;
}

static uint64_t progress_of_all(void) { return atomic_load(&progress) + hirc_pool_taken(); }

static unsigned calm_since(uint64_t time) {
  unsigned count = 0;
  for (struct hirc_worker *worker = atomic_load(&workers); worker != NULL;
       worker = worker->next_worker) {
    count += atomic_load(&worker->calm_at) >= time;
  }
  return count;
}

// Threads of this process besides the pool's and those that wait for the device.
static bool has_other_threads(unsigned waiting) {
  unsigned threads = 0;
  DIR *folder = opendir("/proc/self/task");
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    threads += entry->d_name[0] != '.';
  }
  if (folder != NULL) {
    closedir(folder);
  }
  return threads == 0 || threads > hirc_pool_threads() + waiting;
}

// Whether nobody can write to memory any more, but for threads that have long been given up.
static bool nobody_writes(const struct hirc_worker *worker, uint64_t now, unsigned waiting) {
  // Everybody's last round began when nothing had happened for most of that time.
  return calm_since(worker->since + calm_nanoseconds / 2) == hirc_pool_busy() &&
         (now - worker->since >= calm_among_others || !has_other_threads(waiting));
}

bool hirc_quiet_round(struct hirc_worker *worker, uint64_t started) {
  uint64_t now = hirc_nanoseconds();
  bool calm = worker->events == worker->events_before;
  worker->events_before = worker->events;
  if (!calm) {
    hirc_quiet_end(worker);
    atomic_fetch_add_explicit(&progress, 1, memory_order_relaxed);
    worker->since = now;
    worker->alone_since = 0;
    return false;
  }
  atomic_store_explicit(&worker->calm_at, started, memory_order_relaxed);
  if (now - worker->since < calm_nanoseconds) {
    return false;
  }
  uint64_t all = progress_of_all();
  unsigned waiting = hosts_waiting();
  if (all != worker->progress || waiting == 0) {
    worker->progress = all;
    worker->since = now;
    worker->alone_since = 0;
    return false;
  }
  if (hirc_device_status() != 0) {
    return true;
  }
  if (!nobody_writes(worker, now, waiting)) {
    worker->alone_since = 0;
    return false;
  }
  if (worker->alone_since == 0) {
    worker->alone_since = hirc_nanoseconds();
    return false;
  }
  if (calm_since(worker->alone_since) != hirc_pool_busy()) {
    return false;
  }
  if (hirc_checks_memory() && hirc_checks_want_all()) {
    worker->since = now;
    worker->alone_since = 0;
    return false;
  }
  uint64_t before = atomic_load(&told);
  return before != all + 1 && atomic_compare_exchange_strong(&told, &before, all + 1);
}
