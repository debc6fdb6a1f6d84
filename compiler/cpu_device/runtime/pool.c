// The pool: threads that take tasks from a queue, or join work that its owner shares.
//
// A thread that runs out of work looks for more for a while before it sleeps, so that launches in
// quick succession need no system call. The lock is held for a few instructions at a time.
//
// A thread may be held up by what another task does: blocks that wait for another kernel, a
// function of the host. If tasks wait then, a further thread takes its place. Once one of them is
// through there are more active threads than wanted, and it goes into the reserve.
//
// The threads end when the library is unloaded: that waits for what they do, and not for what is
// queued.
#include "pool.h"
#include "threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum {
  SPIN_NANOSECONDS = 30000,
  SPINS_BETWEEN_CLOCKS = 32,
  MAX_THREADS = 4096, // with those that take a place
};

static struct {
  pthread_mutex_t lock;
  pthread_cond_t work;     // for those that sleep
  pthread_cond_t departed; // for owners of shared work
  struct hirc_task *first, *last;
  struct hirc_shared_work *shared;
  _Atomic unsigned offered; // tasks and helpers that nobody has taken up
  pthread_cond_t called;    // for the reserve
  unsigned sleeping, looking;
  unsigned active;     // threads that are not in the reserve
  unsigned reserve;
  unsigned calls;      // for threads of the reserve that have not answered
  unsigned held_up;    // in functions of the host
  unsigned departing;  // wait for their helpers
  uint64_t taken;      // tasks and shared work
  pthread_t threads[MAX_THREADS];
  unsigned started;
  _Atomic bool closes; // the library is being unloaded
  _Atomic unsigned size; // 0: not started
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .called = PTHREAD_COND_INITIALIZER,
          .departed = PTHREAD_COND_INITIALIZER};

uint64_t hirc_nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// --- what there is to do; under the lock -------------------------------------------------------

static struct hirc_task *take_task(void) {
  struct hirc_task *task = pool.first;
  if (task != NULL) {
    pool.first = task->next;
    if (pool.first == NULL) {
      pool.last = NULL;
    }
    atomic_fetch_sub_explicit(&pool.offered, 1, memory_order_relaxed);
  }
  return task;
}

static struct hirc_shared_work *join_shared(void) {
  for (struct hirc_shared_work *work = pool.shared; work != NULL; work = work->next) {
    if (work->wanted > 0) {
      work->wanted--;
      work->running++;
      atomic_fetch_sub_explicit(&pool.offered, 1, memory_order_relaxed);
      return work;
    }
  }
  return NULL;
}

static void leave_shared(struct hirc_shared_work *work) {
  if (--work->running == 0 && work->is_waited_for) {
    // Its owner goes on, even if the system runs it later.
    work->is_waited_for = false;
    pool.departing--;
    pthread_cond_broadcast(&pool.departed);
  }
}

// Wakes threads for `count` new offers, less those that look for work anyway.
static void wake(unsigned count) {
  unsigned offered = atomic_load_explicit(&pool.offered, memory_order_relaxed);
  if (pool.sleeping == 0 || offered <= pool.looking) {
    return;
  }
  unsigned needed = offered - pool.looking < count ? offered - pool.looking : count;
  if (needed >= pool.sleeping) {
    pthread_cond_broadcast(&pool.work);
    return;
  }
  for (; needed > 0; needed--) {
    pthread_cond_signal(&pool.work);
  }
}

// --- a thread of the pool ----------------------------------------------------------------------

// Looks for work without the lock, which is held before and after.
static void look(void) {
  pool.looking++;
  pthread_mutex_unlock(&pool.lock);
  uint64_t end = hirc_nanoseconds() + SPIN_NANOSECONDS;
  do {
    for (unsigned i = 0; i < SPINS_BETWEEN_CLOCKS; i++) {
      if (atomic_load_explicit(&pool.offered, memory_order_relaxed) != 0) {
        break;
      }
      hirc_relax();
    }
  } while (atomic_load_explicit(&pool.offered, memory_order_relaxed) == 0 &&
           hirc_nanoseconds() < end);
  pthread_mutex_lock(&pool.lock);
  pool.looking--;
}

// Does one thing, if there is one. The lock is held before and after.
static bool work_once(void) {
  struct hirc_task *task = take_task();
  if (task != NULL) {
    pool.taken++;
    pthread_mutex_unlock(&pool.lock);
    task->run(task);
    pthread_mutex_lock(&pool.lock);
    return true;
  }
  struct hirc_shared_work *work = join_shared();
  if (work != NULL) {
    pool.taken++;
    pthread_mutex_unlock(&pool.lock);
    work->run(work);
    pthread_mutex_lock(&pool.lock);
    leave_shared(work);
    return true;
  }
  return false;
}

// More threads are active than wanted: this one waits until it is called.
static void join_reserve(void) {
  pool.active--;
  pool.reserve++;
  while (pool.calls == 0) {
    if (hirc_pool_closes()) {
      return;
    }
    pthread_cond_wait(&pool.called, &pool.lock);
  }
  pool.calls--;
  pool.looking--; // as whoever called it counted it
}

static void *worker_main(void *unused) {
  (void)unused;
  pthread_mutex_lock(&pool.lock);
  pool.looking--;
  while (!hirc_pool_closes()) {
    if (work_once()) {
      if (pool.active > atomic_load(&pool.size) + pool.held_up) {
        join_reserve();
      }
      continue;
    }
    look();
    while (atomic_load_explicit(&pool.offered, memory_order_relaxed) == 0 &&
           !hirc_pool_closes()) {
      pool.sleeping++;
      pthread_cond_wait(&pool.work, &pool.lock);
      pool.sleeping--;
    }
  }
  pthread_mutex_unlock(&pool.lock);
  hirc_worker_ends();
  return NULL;
}

// --- starting ----------------------------------------------------------------------------------

// A child of fork() has none of the threads.
static void forget_threads(void) {
  pthread_mutex_init(&pool.lock, NULL);
  pthread_cond_init(&pool.work, NULL);
  pthread_cond_init(&pool.departed, NULL);
  pthread_cond_init(&pool.called, NULL);
  pool.first = pool.last = NULL;
  pool.shared = NULL;
  pool.sleeping = pool.looking = pool.active = pool.reserve = pool.calls = pool.held_up = 0;
  pool.departing = pool.started = 0;
  hirc_quiet_forget();
  atomic_store(&pool.offered, 0);
  atomic_store(&pool.size, 0);
}

// Under the lock. The thread counts as one that looks for work already.
static bool start_thread(void) {
  bool started = hirc_thread_start(worker_main, &pool.threads[pool.started]);
  pool.started += started;
  pool.active += started;
  pool.looking += started;
  return started;
}

// Under the lock.
static void start(void) {
  static bool watches_fork;
  if (!watches_fork) {
    watches_fork = true;
    pthread_atfork(NULL, NULL, forget_threads);
  }
  unsigned wanted = hirc_threads_wanted();
  while (pool.active < wanted && start_thread()) {
  }
  if (pool.active == 0) {
    fputs("error: the system starts no thread for the CPU device\n", stderr);
  }
  atomic_store(&pool.size, pool.active);
}

// Under the lock: a further thread if a task waits and no active one is free for it.
static void reinforce(void) {
  if (pool.first == NULL || pool.sleeping + pool.looking != 0) {
    return;
  }
  if (pool.reserve > 0) {
    pool.reserve--;
    pool.active++;
    pool.calls++;
    pool.looking++;
    pthread_cond_signal(&pool.called);
  } else if (pool.active < MAX_THREADS) {
    start_thread();
  }
}

static void lock_started(void) {
  pthread_mutex_lock(&pool.lock);
  if (atomic_load_explicit(&pool.size, memory_order_relaxed) == 0) {
    start();
  }
}

unsigned hirc_pool_size(void) {
  unsigned size = atomic_load_explicit(&pool.size, memory_order_relaxed);
  if (size == 0) {
    lock_started();
    size = atomic_load(&pool.size);
    pthread_mutex_unlock(&pool.lock);
  }
  return size;
}

// --- for those who ask whether anything goes on -----------------------------------------------

uint64_t hirc_pool_taken(void) {
  pthread_mutex_lock(&pool.lock);
  uint64_t taken = pool.taken;
  pthread_mutex_unlock(&pool.lock);
  return taken;
}

unsigned hirc_pool_busy(void) {
  pthread_mutex_lock(&pool.lock);
  bool offered = atomic_load_explicit(&pool.offered, memory_order_relaxed) != 0;
  unsigned busy = pool.active - pool.sleeping - pool.looking - pool.departing;
  pthread_mutex_unlock(&pool.lock);
  return offered ? 0 : busy;
}

unsigned hirc_pool_threads(void) {
  pthread_mutex_lock(&pool.lock);
  unsigned threads = pool.active + pool.reserve;
  pthread_mutex_unlock(&pool.lock);
  return threads;
}

// --- giving work -------------------------------------------------------------------------------

void hirc_pool_submit(struct hirc_task *task) {
  task->next = NULL;
  lock_started();
  if (pool.last != NULL) {
    pool.last->next = task;
  } else {
    pool.first = task;
  }
  pool.last = task;
  atomic_fetch_add_explicit(&pool.offered, 1, memory_order_relaxed);
  wake(1);
  if (pool.held_up != 0) {
    reinforce();
  }
  pthread_mutex_unlock(&pool.lock);
}

void hirc_pool_reinforce(void) {
  if (atomic_load_explicit(&pool.offered, memory_order_relaxed) != 0) {
    pthread_mutex_lock(&pool.lock);
    reinforce();
    pthread_mutex_unlock(&pool.lock);
  }
}

void hirc_pool_begin_outside(void) {
  pthread_mutex_lock(&pool.lock);
  pool.held_up++;
  reinforce();
  pthread_mutex_unlock(&pool.lock);
}

void hirc_pool_end_outside(void) {
  pthread_mutex_lock(&pool.lock);
  pool.held_up--;
  pthread_mutex_unlock(&pool.lock);
}

void hirc_pool_share(struct hirc_shared_work *work, unsigned helpers) {
  work->wanted = helpers;
  work->running = 0;
  work->is_waited_for = false;
  lock_started();
  work->next = pool.shared;
  pool.shared = work;
  atomic_fetch_add_explicit(&pool.offered, helpers, memory_order_relaxed);
  wake(helpers);
  pthread_mutex_unlock(&pool.lock);
}

void hirc_pool_unshare(struct hirc_shared_work *work) {
  pthread_mutex_lock(&pool.lock);
  struct hirc_shared_work **link = &pool.shared;
  while (*link != work) {
    link = &(*link)->next;
  }
  *link = work->next;
  atomic_fetch_sub_explicit(&pool.offered, work->wanted, memory_order_relaxed);
  work->is_waited_for = work->running > 0;
  pool.departing += work->is_waited_for;
  while (work->running > 0) {
    pthread_cond_wait(&pool.departed, &pool.lock);
  }
  pthread_mutex_unlock(&pool.lock);
}

// --- ending ------------------------------------------------------------------------------------

bool hirc_pool_closes(void) {
  return atomic_load_explicit(&pool.closes, memory_order_relaxed);
}

// The thread of that number; false if no more were started.
static bool find_thread(unsigned number, pthread_t *thread) {
  pthread_mutex_lock(&pool.lock);
  bool found = number < pool.started;
  if (found) {
    *thread = pool.threads[number];
  }
  pthread_mutex_unlock(&pool.lock);
  return found;
}

void hirc_pool_end(void) {
  pthread_mutex_lock(&pool.lock);
  atomic_store(&pool.closes, true);
  pthread_cond_broadcast(&pool.work);
  pthread_cond_broadcast(&pool.called);
  pthread_mutex_unlock(&pool.lock);
  pthread_t thread;
  for (unsigned number = 0; find_thread(number, &thread); number++) {
    pthread_join(thread, NULL);
  }
}
