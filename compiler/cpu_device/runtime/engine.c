// Running a grid: workers take its clusters, keep those that wait, and end it at the first error.
#define _GNU_SOURCE
#include "engine.h"
#include "errors.h"
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

enum {
  CHUNKS_OF_WORKER = 16, // a worker's share of a grid, in parts
  MAX_CHUNK = 64,
  IN_FLIGHT = 64,             // clusters that a worker has begun, at first
  STEPS_IN_ROW = 256,         // of one cluster, while it gets on
  SHORT_WAITS = 64,           // rounds without progress before the processor is given up,
  LONG_WAITS = 256,           // and before sleeping
  SLEEP_NANOSECONDS = 50000,
  FRAMES_IN_FLIGHT = 256 << 20, // bytes, of a worker at first
};

// Not in the static block of thread-local storage: it has room for a dozen loaded libraries only.
// A worker touches its own before it runs a kernel, so that a signal handler finds it allocated.
static _Thread_local struct hirc_worker this_worker;
static _Thread_local bool is_prepared;

struct hirc_worker *hirc_worker(void) { return &this_worker; }

// --- one worker's part of a grid ---------------------------------------------------------------

// Clusters a worker has begun and those it has taken but not begun.
struct share {
  uint64_t next, end;           // taken
  struct hirc_cluster *current; // runs
  struct hirc_cluster *first, *last; // wait, oldest first
  unsigned waiting;
  unsigned limit;
};

static bool take(struct share *share, struct hirc_grid_run *run) {
  if (share->next < share->end) {
    return true;
  }
  if (atomic_load_explicit(&run->taken, memory_order_relaxed) >= run->cluster_count) {
    return false;
  }
  share->next = atomic_fetch_add_explicit(&run->taken, run->chunk, memory_order_relaxed);
  share->end = share->next + run->chunk < run->cluster_count ? share->next + run->chunk
                                                             : run->cluster_count;
  return share->next < share->end;
}

static void put_aside(struct share *share, struct hirc_cluster *cluster) {
  cluster->link = NULL;
  if (share->last != NULL) {
    share->last->link = cluster;
  } else {
    share->first = cluster;
  }
  share->last = cluster;
  share->waiting++;
}

static struct hirc_cluster *take_up(struct share *share) {
  struct hirc_cluster *cluster = share->first;
  share->first = cluster->link;
  if (share->first == NULL) {
    share->last = NULL;
  }
  share->waiting--;
  return cluster;
}

// Everything that the worker has begun waits, and nothing can end that.
static _Noreturn void give_up(struct hirc_worker *worker, struct share *share) {
  int status = hirc_device_status();
  if (status != 0) {
    hirc_leave_grid(worker, status);
  }
  hirc_report_quiet(worker, share->first);
}

static bool has_failed(struct hirc_grid_run *run) {
  return atomic_load_explicit(&run->error, memory_order_relaxed) != 0;
}

// Runs a cluster as long as it gets on by itself: DONE, MOVED or IDLE.
static enum hirc_progress advance(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  enum hirc_progress progress = HIRC_MOVED;
  for (unsigned step = 0; step < STEPS_IN_ROW && progress == HIRC_MOVED; step++) {
    progress = hirc_cluster_step(worker, cluster);
    if (progress == HIRC_BLOCKED) {
      hirc_report_stuck(worker, cluster);
    }
    if (has_failed(worker->run)) {
      break;
    }
  }
  return progress;
}

// Nothing that this worker has begun gets on: others need the processor more.
static void back_off(unsigned rounds) {
  if (rounds < SHORT_WAITS) {
    hirc_relax();
    return;
  }
  hirc_pool_reinforce();
  if (rounds < LONG_WAITS) {
    sched_yield();
  } else {
    nanosleep(&(struct timespec){0, SLEEP_NANOSECONDS}, NULL);
  }
}

// Goes round the clusters put aside until one has ended or all have been tried in vain.
static bool resume_waiting(struct hirc_worker *worker, struct share *share) {
  bool moved = false;
  for (unsigned left = share->waiting; left > 0; left--) {
    share->current = take_up(share);
    enum hirc_progress progress = advance(worker, share->current);
    moved |= progress != HIRC_IDLE;
    if (progress == HIRC_DONE) {
      hirc_cluster_give(worker, share->current);
    } else {
      put_aside(share, share->current);
    }
    share->current = NULL;
    if (has_failed(worker->run)) {
      break;
    }
  }
  return moved;
}

// There is no memory for another cluster: those that were begun must do, if there are any and they
// need not wait for it.
static void lack_memory(struct share *share, struct hirc_grid_run *run) {
  share->limit = share->waiting;
  int none = 0;
  if ((share->waiting == 0 || run->grid->cooperative) &&
      atomic_compare_exchange_strong(&run->error, &none, HIRC_ERROR_OUT_OF_RESOURCES)) {
    fprintf(stderr, "error: no memory for a block of kernel %s\n", hirc_title(run->grid->kernel));
  }
}

static void begin_next(struct hirc_worker *worker, struct share *share) {
  struct hirc_grid_run *run = worker->run;
  if (share->current == NULL) {
    share->current = hirc_cluster_take(worker, run);
  }
  if (share->current == NULL) {
    lack_memory(share, run);
    return;
  }
  hirc_cluster_place(share->current, run, share->next++);
  worker->events++;
  if (advance(worker, share->current) != HIRC_DONE) {
    put_aside(share, share->current);
    share->current = NULL;
  }
}

// How many clusters a worker begins before one of them has ended.
static unsigned in_flight(const struct hirc_grid_run *run) {
  const struct hirc_grid *grid = run->grid;
  if (grid->cooperative) {
    return UINT32_MAX;
  }
  uint64_t threads = (uint64_t)grid->block.x * grid->block.y * grid->block.z;
  uint64_t frames = 1 + threads * run->blocks_in_cluster * grid->kernel->frame_bytes;
  uint64_t limit = FRAMES_IN_FLIGHT / frames;
  return limit < 1 ? 1 : limit > IN_FLIGHT ? IN_FLIGHT : (unsigned)limit;
}

static void run_share(struct hirc_worker *worker, struct share *share) {
  struct hirc_grid_run *run = worker->run;
  unsigned rounds = 0; // without progress
  while (!has_failed(run)) {
    if (share->waiting < share->limit && take(share, run)) {
      hirc_quiet_end(worker);
      begin_next(worker, share);
      rounds = 0;
      continue;
    }
    if (share->current != NULL) {
      hirc_cluster_give(worker, share->current);
      share->current = NULL;
    }
    if (share->waiting == 0) {
      return;
    }
    uint64_t started = hirc_nanoseconds();
    bool moved = resume_waiting(worker, share);
    if (share->waiting != 0 && !has_failed(run) && hirc_quiet_round(worker, started)) {
      give_up(worker, share);
    }
    if (share->waiting != 0 && hirc_pool_closes()) {
      return;
    }
    if (moved) {
      rounds = 0;
    } else {
      // They may wait for blocks that have not begun.
      if (rounds > SHORT_WAITS && share->limit <= share->waiting && take(share, run)) {
        share->limit++;
      }
      back_off(rounds++);
    }
  }
}

static void recycle_share(struct hirc_worker *worker, struct share *share) {
  if (share->current != NULL) {
    hirc_cluster_give(worker, share->current);
  }
  while (share->first != NULL) {
    hirc_cluster_give(worker, take_up(share));
  }
}

// Runs clusters of the grid on this thread until none is left.
static void take_part(struct hirc_grid_run *run) {
  struct hirc_worker *worker = &this_worker;
  if (!is_prepared) {
    is_prepared = true;
    hirc_faults_prepare_thread(worker);
    hirc_quiet_register(worker);
  }
  sigjmp_buf escape;
  struct share share = {.limit = in_flight(run)};
  struct share *volatile kept = &share;
  worker->run = run;
  worker->escape = &escape;
  if (sigsetjmp(escape, 0) == 0) {
    run_share(worker, &share);
  }
  recycle_share(worker, kept);
  hirc_quiet_end(worker);
  worker->inside = 0;
  worker->run = NULL;
  worker->escape = NULL;
}

void hirc_worker_ends(void) {
  hirc_clusters_release(&this_worker);
  hirc_faults_release_thread(&this_worker);
  hirc_mbarrier_release_thread();
}

// --- grids -------------------------------------------------------------------------------------

struct shared_run {
  struct hirc_shared_work work; // first
  struct hirc_grid_run *run;
};

static void help(struct hirc_shared_work *work) { take_part(((struct shared_run *)work)->run); }

static uint32_t chunk_size(const struct hirc_grid_run *run, unsigned workers) {
  uint64_t chunk = run->cluster_count / ((uint64_t)workers * CHUNKS_OF_WORKER);
  return run->grid->cooperative || chunk < 1 ? 1 : chunk > MAX_CHUNK ? MAX_CHUNK : (uint32_t)chunk;
}

int hirc_run_grid(const struct hirc_grid *grid) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, hirc_faults_install);
  struct hirc_grid_run run = {.grid = grid,
                              .clusters = {grid->grid.x / grid->cluster.x,
                                           grid->grid.y / grid->cluster.y,
                                           grid->grid.z / grid->cluster.z},
                              .blocks_in_cluster =
                                  grid->cluster.x * grid->cluster.y * grid->cluster.z};
  run.cluster_count = (uint64_t)run.clusters.x * run.clusters.y * run.clusters.z;
  hirc_checks_open();
  unsigned workers = run.cluster_count > 1 ? hirc_pool_size() : 1;
  run.chunk = chunk_size(&run, workers);
  uint64_t useful = (run.cluster_count + run.chunk - 1) / run.chunk;
  if (useful < workers) {
    workers = (unsigned)useful;
  }
  if (workers <= 1) {
    take_part(&run);
  } else {
    struct shared_run shared = {.work = {.run = help}, .run = &run};
    hirc_pool_share(&shared.work, workers - 1);
    take_part(&run);
    hirc_pool_unshare(&shared.work);
  }
  hirc_checks_close();
  return atomic_load(&run.asserted) ? HIRC_ERROR_ASSERT : atomic_load(&run.error);
}
