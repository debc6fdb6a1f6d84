// Communication between the devices of a team.
//
// The processes of a program are numbered by their ranks, and a process's device is what a program
// calls device number `rank`. A communicator is made when it is first needed, by all processes of
// its team, and kept. All communications of a device go through one stream of the library, in the order of
// the program, which waits for what the program's stream holds at that moment, so that kernels after
// it run beside it until the program waits.
//
// No wait for other processes is for ever. A thread (world.c) looks whether one failed or stands
// still, and aborts all then: kernels that wait for a process that is gone come to an end, and the
// next look of the program's finds the reason. Communicators are made in a thread of their own, which
// is left behind where the others do not come. NCCL has non-blocking communicators, whose calls return
// at once; but a small message takes ten times as long by one.

#define _GNU_SOURCE
#include "communicate.h"
#include "calls.h"
#include "communicator.h"
#include "cpu_device.h"
#include "current_device.h"
#include "failure.h"
#include "nccl_library.h"
#include "program.h"
#include "world.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  EVENTS = 16,
  POLL_MICROSECONDS = 50,
  HIGHEST_PRIORITY = -100, // the device takes the highest that it has
};

// The stream of a device's communications, and what stands for them. An event that is recorded
// again stands for later communications of the same stream too: waiting for it is right still.
struct lane {
  cuda_stream stream;
  cuda_event events[EVENTS];
  unsigned recorded;
  time_t since;         // when the newest was first seen to be under way
  const struct hirc_communication *what; // the newest
  int64_t count;                         // and its input's elements
  const char *location;
};

// State: see streams.c. The lock is of all of it, and of NCCL's calls; a call that fails within it
// comes back to it as it settles.
struct communications {
  pthread_mutex_t lock;
  struct hirc_communicator *first;
  nccl_communicator given; // the caller's, of all devices
  struct lane lanes[MAX_DEVICES];
  int in_group;
  hirc_communication_look *also;
};
__attribute__((weak, visibility("hidden"))) struct communications hirc_state_communications_1 = {
    .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static struct communications *all(void) { return &hirc_state_communications_1; }

const struct hirc_communicator *hirc_communicator_first(void) { return all()->first; }

static void unlock(void *mutex, void *stream) {
  (void)stream;
  pthread_mutex_unlock(mutex);
}

void hirc_communication_lock(const char *location) {
  pthread_mutex_lock(&all()->lock);
  hirc_own(&all()->lock, unlock, HIRC_OBJECT, location);
}

void hirc_communication_unlock(void) {
  hirc_disown(&all()->lock, HIRC_OBJECT);
  pthread_mutex_unlock(&all()->lock);
}

// --- what goes wrong -----------------------------------------------------------------------------

__attribute__((cold, noinline)) static _Noreturn void nccl_failed(const struct nccl *nccl,
                                                                  nccl_communicator communicator,
                                                                  int status, const char *call,
                                                                  const char *location) {
  const char *more = nccl->GetLastError(communicator);
  const struct hirc_world *world = hirc_world(location);
  char why[HIRC_WORLD_TEXT_BYTES];
  if (status == NCCL_IN_PROGRESS)
    snprintf(why, sizeof why, "rank %d: %s did not end within %d seconds: a process is missing",
             world->rank, call, world->seconds);
  else
    snprintf(why, sizeof why, "rank %d: %s failed: %s%s%s", world->rank, call,
             nccl->GetErrorString(status), more && more[0] ? ": " : "", more ? more : "");
  hirc_communication_unlock();
  hirc_world_fail(why);
  hirc_world_check(location);
  __builtin_unreachable();
}

// Lets a call that NCCL goes on with by itself come to its end.
static void nccl_check(const struct nccl *nccl, nccl_communicator communicator, int status,
                       const char *call, const char *location) {
  time_t until = time(NULL) + hirc_world(location)->seconds;
  while (status == NCCL_IN_PROGRESS && communicator) {
    if (nccl->CommGetAsyncError(communicator, &status) != NCCL_SUCCESS)
      break;
    if (status != NCCL_IN_PROGRESS)
      break;
    if (hirc_world_failure() || time(NULL) > until)
      break;
    pthread_mutex_unlock(&all()->lock);
    usleep(POLL_MICROSECONDS);
    pthread_mutex_lock(&all()->lock);
  }
  if (__builtin_expect(status != NCCL_SUCCESS, 0)) {
    if (hirc_world_failure()) {
      hirc_communication_unlock();
      hirc_world_check(location);
    }
    nccl_failed(nccl, communicator, status, call, location);
  }
}

// Aborts what this process has under way. The lock is held.
static void abort_all(const struct nccl *nccl) {
  for (struct hirc_communicator *each = all()->first; each; each = each->next)
    if (each->nccl && !each->is_aborted) {
      each->is_aborted = 1;
      nccl->CommAbort(each->nccl);
    }
}

// What NCCL found by itself meanwhile; the lock is held.
static int find_error(const struct nccl *nccl, char why[HIRC_WORLD_TEXT_BYTES]) {
  for (struct hirc_communicator *each = all()->first; each; each = each->next) {
    int status = NCCL_SUCCESS;
    if (!each->nccl || each->is_aborted ||
        nccl->CommGetAsyncError(each->nccl, &status) != NCCL_SUCCESS ||
        status == NCCL_SUCCESS || status == NCCL_IN_PROGRESS)
      continue;
    const char *more = nccl->GetLastError(each->nccl);
    snprintf(why, HIRC_WORLD_TEXT_BYTES, "rank %d: %s", hirc_world(NULL)->rank,
             more && more[0] ? more : nccl->GetErrorString(status));
    return 1;
  }
  return 0;
}

static void describe(const struct lane *lane, char text[HIRC_WORLD_TEXT_BYTES]) {
  if (lane->what)
    snprintf(text, HIRC_WORLD_TEXT_BYTES, "%s of %" PRId64 " elements%s%s",
             hirc_communication_name(lane->what->kind), lane->count,
             lane->location && lane->location[0] ? " at " : "",
             lane->location ? lane->location : "");
  else
    snprintf(text, HIRC_WORLD_TEXT_BYTES, "a communication");
}

int hirc_communication_last(char text[HIRC_WORLD_TEXT_BYTES]) {
  int device = 0;
  if (cudaGetDevice(&device) != 0 || device < 0 || device >= MAX_DEVICES ||
      all()->lanes[device].recorded == 0)
    return 0;
  describe(&all()->lanes[device], text);
  return 1;
}

// What stands still for too long; the lock is held.
static int find_stuck(char why[HIRC_WORLD_TEXT_BYTES]) {
  int seconds = hirc_world(NULL)->seconds;
  for (int i = 0; i < MAX_DEVICES; ++i) {
    struct lane *lane = &all()->lanes[i];
    if (lane->recorded == 0)
      continue;
    int done = cudaEventQuery(lane->events[(lane->recorded - 1) % EVENTS]);
    cudaGetLastError();
    if (done == 0)
      lane->since = 0;
    else if (lane->since == 0)
      lane->since = time(NULL);
    else if (time(NULL) - lane->since > seconds) {
      char last[HIRC_WORLD_TEXT_BYTES];
      describe(lane, last);
      snprintf(why, HIRC_WORLD_TEXT_BYTES, "rank %d has waited %d seconds for %.400s",
               hirc_world(NULL)->rank, seconds, last);
      return 1;
    }
  }
  return 0;
}

// Now and then, in a thread of its own. A call of NCCL's may hold the lock until it is aborted.
static void look(void) {
  char why[HIRC_WORLD_TEXT_BYTES];
  const struct nccl *nccl = hirc_nccl(NULL);
  int is_locked = pthread_mutex_trylock(&all()->lock) == 0;
  int failed = hirc_world_failure() != NULL;
  hirc_communication_look *also = __atomic_load_n(&all()->also, __ATOMIC_ACQUIRE);
  if (failed)
    abort_all(nccl);
  if (failed && also)
    also(1, why);
  int found = is_locked && !failed && (find_error(nccl, why) || find_stuck(why));
  // The lock may be with a call that waits for room in a stream which stands still.
  found = found || (!failed && also && also(0, why));
  if (is_locked)
    pthread_mutex_unlock(&all()->lock);
  if (found)
    hirc_world_fail(why);
}

// A call failed: the others would wait for what it does not do any more.
static void settle(void) {
  if (!hirc_world_failure()) {
    char why[HIRC_WORLD_TEXT_BYTES];
    snprintf(why, sizeof why, "the program failed on rank %d: %.400s", hirc_world(NULL)->rank,
             hirc_error_text());
    hirc_world_fail(why);
  }
  int device = 0;
  if (cudaGetDevice(&device) == 0 && device >= 0 && device < MAX_DEVICES)
    hirc_stream_settle(all()->lanes[device].stream);
}

// After a wait of the host's: what was waited for may have been aborted.
void hirc_communication_check(const char *location) {
  char why[HIRC_WORLD_TEXT_BYTES];
  if (!all()->first || hirc_world(location)->size == 1)
    return;
  pthread_mutex_lock(&all()->lock);
  int found = !hirc_world_failure() && find_error(hirc_nccl(location), why);
  pthread_mutex_unlock(&all()->lock);
  if (found)
    hirc_world_fail(why);
  hirc_world_check(location);
}

void hirc_communication_look_also(hirc_communication_look *also) {
  __atomic_store_n(&all()->also, also, __ATOMIC_RELEASE);
}

int hirc_communication_begin(void) {
  const struct hirc_world *world = hirc_world(NULL);
  if (world->size == 1)
    return -1;
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount", NULL);
  // A launcher may show each process a device of its own. Processes share the CPU device.
  if (world->local_rank >= devices && devices > 1) {
    hirc_error_begin(NULL);
    hirc_error_add("process %d of this machine has no device: there are %d", world->local_rank,
                   devices);
    hirc_fail(hirc_end_program);
  }
  if (devices > 1)
    check(cudaSetDevice(world->local_rank), "cudaSetDevice", NULL);
  hirc_world_expect(1);
  return world->rank;
}

// --- communicators -------------------------------------------------------------------------------

static int is_team(const struct hirc_communicator *communicator, int device, const int64_t *team,
                   int64_t size) {
  return communicator->device == device && communicator->size == size &&
         memcmp(communicator->team, team, (size_t)size * sizeof *team) == 0;
}

// Says that there is no process for a device of that number.
static void missing_device(char text[HIRC_WORLD_TEXT_BYTES], int64_t most,
                           const struct hirc_world *world) {
  snprintf(text, HIRC_WORLD_TEXT_BYTES,
           "this program communicates with device %" PRId64 ", and it was started as %d process%s\n"
           "note: it needs one process for each device: hirc-run --devices=%" PRId64
           ", torchrun --nproc-per-node=%" PRId64 ", or mpirun -n %" PRId64,
           most, world->size, world->size == 1 ? "" : "es", most + 1, most + 1, most + 1);
}

// Fails where there is no process for a device of that number.
__attribute__((cold, noinline)) static void check_device(int64_t most, const char *location) {
  const struct hirc_world *world = hirc_world(location);
  char text[HIRC_WORLD_TEXT_BYTES];
  if (most < world->size)
    return;
  missing_device(text, most, world);
  hirc_error_begin(location);
  hirc_error_add("%s", text);
  hirc_fail(hirc_end_program);
}

__attribute__((cold, noinline)) static void check_team(const int64_t *team, int64_t size,
                                                       const char *location) {
  int64_t most = 0;
  for (int64_t i = 0; i < size; ++i)
    most = team[i] > most ? team[i] : most;
  check_device(most, location);
}

// Making NCCL's communicator, which waits for the rest of the team.
struct joining {
  const struct nccl *nccl;
  struct nccl_unique_id id;
  nccl_communicator made;
  int device, size, place, status;
  _Atomic int is_done;
};

static void *join(void *data) {
  struct joining *joining = data;
  struct nccl_config config = {sizeof config, NCCL_CONFIG_MAGIC, NCCL_CONFIG_VERSION, 1, 0};
  if (cudaSetDevice(joining->device) == 0)
    joining->status = joining->nccl->CommInitRankConfig(&joining->made, joining->size, joining->id,
                                                        joining->place, &config);
  atomic_store(&joining->is_done, 1);
  return NULL;
}

static void wait_for_team(struct joining *joining, const char *location) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, join, joining) != 0)
    hirc_refuse("no thread is left", 0, 0, location);
  pthread_detach(thread);
  // From now on it is the thread's: what is given up goes on in it.
  hirc_disown_memory(joining);
  time_t until = time(NULL) + hirc_world(location)->seconds;
  while (!atomic_load(&joining->is_done)) {
    usleep(POLL_MICROSECONDS);
    hirc_world_check(location);
    if (time(NULL) > until) {
      hirc_world_fail("a team was not complete in time");
      hirc_world_check(location);
    }
  }
}

static void watch(void) {
  hirc_world_watch(look);
  __atomic_store_n(&hirc_state_settle_1[HIRC_SETTLE_COMMUNICATIONS], &settle, __ATOMIC_RELEASE);
}

// The first of the team gives the others what they find each other by.
static void join_team(struct hirc_communicator *communicator, const char *location) {
  struct joining *joining = calloc(1, sizeof *joining);
  hirc_own_host(joining, sizeof *joining, location);
  const struct nccl *nccl = joining->nccl = hirc_nccl(location);
  char key[HIRC_WORLD_KEY_BYTES];
  int length = snprintf(key, sizeof key, "team");
  for (int64_t i = 0; i < communicator->size && length < (int)sizeof key; ++i)
    length += snprintf(key + length, sizeof key - (size_t)length, " %" PRId64,
                       communicator->team[i]);
  if (communicator->place == 0) {
    nccl_check(nccl, NULL, nccl->GetUniqueId(&joining->id), "ncclGetUniqueId", location);
    hirc_world_give(key, &joining->id, sizeof joining->id, location);
  }
  hirc_world_take(key, &joining->id, sizeof joining->id, location);
  watch();
  joining->device = communicator->device;
  joining->size = (int)communicator->size;
  joining->place = communicator->place;
  wait_for_team(joining, location);
  communicator->nccl = joining->made;
  nccl_check(nccl, communicator->nccl, joining->status, "ncclCommInitRankConfig", location);
  free(joining);
}

// Whether it is the devices 0, 1, ... of all processes.
static int is_everybody(const int64_t *team, int64_t size, const char *location) {
  for (int64_t i = 0; i < size; ++i)
    if (team[i] != i)
      return 0;
  return size == hirc_world(location)->size;
}

static struct hirc_communicator *make(int device, const int64_t *team, int64_t size,
                                      const char *location) {
  size_t bytes = sizeof(struct hirc_communicator) + (size_t)size * sizeof *team;
  struct hirc_communicator *made = calloc(1, bytes);
  hirc_own_host(made, (int64_t)bytes, location);
  *made = (struct hirc_communicator){.device = device, .place = -1, .size = size};
  memcpy(made->team, team, (size_t)size * sizeof *team);
  check_team(team, size, location);
  int rank = hirc_world(location)->rank;
  for (int64_t i = 0; i < size; ++i)
    if (team[i] == rank)
      made->place = (int)i;
  if (made->place >= 0 && all()->given && is_everybody(team, size, location)) {
    hirc_nccl(location);
    watch();
    hirc_world_begin(location);
    made->nccl = all()->given;
  } else if (made->place >= 0 && size > 1) {
    join_team(made, location);
  }
  hirc_disown_memory(made);
  made->next = all()->first;
  all()->first = made;
  return made;
}

// The first of the teams that this process is of.
static const int64_t *own_team(const int64_t *teams, int64_t number, int64_t size,
                               const char *location) {
  int rank = hirc_world(location)->rank;
  for (int64_t i = 0; i < number * size; ++i)
    if (teams[i] == rank)
      return teams + i / size * size;
  return teams;
}

struct hirc_communicator *hirc_communicator_of(void **known, const int64_t *teams, int64_t number,
                                               int64_t size, const char *location) {
  int device = current_device(location);
  struct hirc_communicator *found = __atomic_load_n(known, __ATOMIC_ACQUIRE);
  if (__builtin_expect(found != NULL && found->device == device, 1))
    return found;
  const int64_t *team = own_team(teams, number, size, location);
  hirc_communication_lock(location);
  for (found = all()->first; found && !is_team(found, device, team, size);)
    found = found->next;
  if (!found)
    found = make(device, team, size, location);
  hirc_communication_unlock();
  __atomic_store_n(known, found, __ATOMIC_RELEASE);
  return found;
}

struct handed_over {
  void *communicator;
  int rank, size;
  const char *address;
};

static int take_over(void *given, void *unused, void *stream) {
  const struct handed_over *what = given;
  (void)unused, (void)stream;
  hirc_world_set(what->rank, what->size, what->address, NULL);
  all()->given = what->communicator;
  return 0;
}

// The caller's ncclComm_t for the devices of all processes, of which this is number `rank`. NULL:
// they are so many, and make their own. `address` as in HIRC_RENDEZVOUS, or NULL.
int hirc_communicator_use(void *communicator, int rank, int size, const char *address) {
  struct handed_over what = {communicator, rank, size, address};
  const char *wrong = NULL;
  if (size < 1 || rank < 0 || rank >= size)
    wrong = "its rank is a number from 0 up to its size";
  else if (communicator && on_cpu_device())
    wrong = "the CPU device has none; hand over NULL, a rank and a size";
  else if (address && strlen(address) >= HIRC_WORLD_ADDRESS_BYTES)
    wrong = "the address where the processes meet is too long";
  else if (all()->first)
    wrong = "the library communicates already";
  if (!wrong)
    return hirc_guard(take_over, &what, NULL, NULL);
  hirc_error_say("a communicator cannot be handed over: %s", wrong);
  return HIRC_REFUSED;
}

static int give_up(void *why, void *unused, void *stream) {
  (void)unused, (void)stream;
  if (hirc_world(NULL)->size > 1)
    hirc_world_give_up(why, NULL);
  return 0;
}

// The library communicates no more, and the others hear why: for a caller that begins a call on some
// devices and not on others. Returns 0, or there is a message.
int hirc_communicator_give_up(const char *why) {
  return hirc_guard(give_up, (void *)why, NULL, NULL);
}

// The library communicates no more, having done what it had to: for a process that ends without what
// exit() does.
void hirc_communicator_leave(void) { hirc_world_leave(); }

static int use_device(void *number, void *unused, void *stream) {
  (void)unused, (void)stream;
  check(cudaSetDevice(*(const int *)number), "cudaSetDevice", NULL);
  return 0;
}

// Makes a device the calling thread's current one, for callers without CUDA's runtime.
int hirc_communicator_use_device(int device) {
  return hirc_guard(use_device, &device, NULL, NULL);
}

struct asked_rank {
  int64_t processes, rank;
};

static int find_rank(void *given, void *unused, void *stream) {
  struct asked_rank *asked = given;
  const struct hirc_world *world = hirc_world(NULL);
  char text[HIRC_WORLD_TEXT_BYTES];
  (void)unused, (void)stream;
  asked->rank = world->rank;
  if (world->rank < asked->processes && asked->processes <= world->size)
    return 0;
  if (asked->processes > world->size)
    missing_device(text, asked->processes - 1, world);
  else
    snprintf(text, sizeof text,
             "this program is over a mesh of %" PRId64 " devices, and rank %d of %d processes is none "
             "of them\nnote: start as many processes as it has devices, or make it for more",
             asked->processes, world->rank, world->size);
  hirc_error_say("%s", text);
  return HIRC_REFUSED;
}

int64_t hirc_communication_rank(int64_t processes) {
  struct asked_rank asked = {.processes = processes};
  return hirc_guard(find_rank, &asked, NULL, NULL) ? -1 : asked.rank;
}

int64_t hirc_communicator_rank(const struct hirc_communicator *communicator) {
  return communicator->place;
}

// --- communications ------------------------------------------------------------------------------

static struct lane *lane_of(int device, const char *location) {
  struct lane *lane = &all()->lanes[device];
  if (__builtin_expect(lane->stream == NULL, 0)) {
    cuda_stream stream = NULL;
    wait_at_end();
    // Beside a kernel whose blocks wait for room a communication would wait for all of them.
    check(cudaStreamCreateWithPriority(&stream, CUDA_STREAM_NON_BLOCKING, HIGHEST_PRIORITY),
          "cudaStreamCreateWithPriority", location);
    for (int i = 0; i < EVENTS; ++i)
      if (!lane->events[i])
        check(cudaEventCreateWithFlags(&lane->events[i], CUDA_EVENT_DISABLE_TIMING),
              "cudaEventCreateWithFlags", location);
    lane->stream = stream;
  }
  return lane;
}

__attribute__((cold, noinline)) static _Noreturn void refuse_sizes(const char *rule, int64_t input,
                                                                   int64_t output,
                                                                   const char *location) {
  hirc_error_begin(location);
  hirc_error_add("the input of a communication has %" PRId64 " elements and its output %" PRId64
                 ", where %s",
                 input, output, rule);
  hirc_fail(hirc_end_after_device);
}

static void check_sizes(int64_t kind, int64_t size, int64_t input, int64_t output,
                        const char *location) {
  if (kind == HIRC_GATHER || kind == HIRC_ALLGATHER) {
    if (output != input * size)
      refuse_sizes("the output has the inputs of the whole team", input, output, location);
  } else if (kind == HIRC_SCATTER || kind == HIRC_REDUCE_SCATTER) {
    if (input != output * size)
      refuse_sizes("the input has the outputs of the whole team", input, output, location);
  } else if (kind != HIRC_EXCHANGE && input != output) {
    refuse_sizes("both have as many", input, output, location);
  } else if (kind == HIRC_ALL_TO_ALL && input % size != 0) {
    refuse_sizes("each of the team gets as many", input, output, location);
  }
}

__attribute__((cold, noinline)) static _Noreturn void refuse_place(int64_t place, int64_t least,
                                                                   int64_t size,
                                                                   const char *location) {
  hirc_error_begin(location);
  hirc_error_add("place %" PRId64 " of a team of %" PRId64 ", where places are %" PRId64
                 " to %" PRId64,
                 place, size, least, size - 1);
  hirc_fail(hirc_end_after_device);
}

void hirc_communication_check_place(int64_t place, int64_t least, int64_t size,
                                    const char *location) {
  if (__builtin_expect(place < least || place >= size, 0))
    refuse_place(place, least, size, location);
}

struct job {
  const struct nccl *nccl;
  const struct hirc_communicator *of;
  const struct hirc_communication *what;
  const char *input;
  char *output;
  size_t input_units, output_units;
  int64_t peer, from;
  cuda_stream stream;
};

static int send_units(const struct job *job, size_t from, size_t units, int64_t to) {
  return job->nccl->Send(job->input + from * (size_t)job->what->unit_bytes, units,
                         (int)job->what->type, (int)to, job->of->nccl, job->stream);
}

static int receive_units(const struct job *job, size_t at, size_t units, int64_t from) {
  return job->nccl->Recv(job->output + at * (size_t)job->what->unit_bytes, units,
                         (int)job->what->type, (int)from, job->of->nccl, job->stream);
}

// NCCL goes on with what it was given, or has done it.
static int goes_on(int status) { return status == NCCL_SUCCESS || status == NCCL_IN_PROGRESS; }

// The messages from one to another that the kinds are made of which NCCL has no call for.
static int exchange(const struct job *job) {
  const struct hirc_communication *what = job->what;
  int64_t size = job->of->size, place = job->of->place;
  int is_root = place == job->peer, rc = NCCL_SUCCESS;
  size_t part;
  switch (what->kind) {
  case HIRC_GATHER:
    rc = send_units(job, 0, job->input_units, job->peer);
    for (int64_t i = 0; is_root && i < size && goes_on(rc); ++i)
      rc = receive_units(job, (size_t)i * job->input_units, job->input_units, i);
    return rc;
  case HIRC_SCATTER:
    for (int64_t i = 0; is_root && i < size && goes_on(rc); ++i)
      rc = send_units(job, (size_t)i * job->output_units, job->output_units, i);
    return goes_on(rc) ? receive_units(job, 0, job->output_units, job->peer) : rc;
  case HIRC_ALL_TO_ALL:
    part = job->input_units / (size_t)size;
    for (int64_t i = 0; i < size && goes_on(rc); ++i) {
      rc = send_units(job, (size_t)i * part, part, i);
      rc = goes_on(rc) ? receive_units(job, (size_t)i * part, part, i) : rc;
    }
    return rc;
  case HIRC_SEND_RECV:
    return is_root ? send_units(job, 0, job->input_units, 1 - place)
                   : receive_units(job, 0, job->output_units, 1 - place);
  case HIRC_EXCHANGE:
    if (job->peer >= 0)
      rc = send_units(job, 0, job->input_units, job->peer);
    if (job->from >= 0 && goes_on(rc))
      rc = receive_units(job, 0, job->output_units, job->from);
    return rc;
  default: // HIRC_PERMUTE
    rc = send_units(job, 0, job->input_units, what->to[place]);
    for (int64_t i = 0; i < size && goes_on(rc); ++i)
      if (what->to[i] == place)
        rc = receive_units(job, 0, job->output_units, i);
    return rc;
  }
}

static int exchange_as_group(const struct job *job) {
  int rc = job->nccl->GroupStart();
  rc = goes_on(rc) ? exchange(job) : rc;
  int end = job->nccl->GroupEnd();
  return goes_on(rc) ? end : rc;
}

static int begin(const struct job *job) {
  const struct hirc_communication *what = job->what;
  int type = (int)what->type, reduction = (int)what->reduction, root = (int)job->peer;
  switch (what->kind) {
  case HIRC_ALLGATHER:
    return job->nccl->AllGather(job->input, job->output, job->input_units, type, job->of->nccl,
                                job->stream);
  case HIRC_REDUCE:
    return job->nccl->Reduce(job->input, job->output, job->input_units, type, reduction, root,
                             job->of->nccl, job->stream);
  case HIRC_ALLREDUCE:
    return job->nccl->AllReduce(job->input, job->output, job->input_units, type, reduction,
                                job->of->nccl, job->stream);
  case HIRC_REDUCE_SCATTER:
    return job->nccl->ReduceScatter(job->input, job->output, job->output_units, type, reduction,
                                    job->of->nccl, job->stream);
  case HIRC_BROADCAST:
    return job->nccl->Broadcast(job->input, job->output, job->input_units, type, root,
                                job->of->nccl, job->stream);
  default:
    return exchange_as_group(job);
  }
}

// With oneself every communication is a copy.
static void copy(const struct job *job, const char *location) {
  if (job->what->kind == HIRC_EXCHANGE && (job->peer < 0 || job->from < 0))
    return;
  if (job->input_units != job->output_units)
    refuse_sizes("both have as many", (int64_t)job->input_units, (int64_t)job->output_units,
                 location);
  size_t bytes = job->input_units * (size_t)job->what->unit_bytes;
  if (bytes > 0 && job->input != job->output)
    check(cudaMemcpyAsync(job->output, job->input, bytes, CUDA_MEMCPY_DEFAULT, job->stream),
          "cudaMemcpyAsync", location);
}

static void *record(struct lane *lane, const char *location) {
  cuda_event event = lane->events[lane->recorded++ % EVENTS];
  check(cudaEventRecord(event, lane->stream), "cudaEventRecord", location);
  return event;
}

void *hirc_communication_open(const struct hirc_communicator *of,
                              const struct hirc_communication *what, int64_t count, void *stream,
                              const char *location) {
  hirc_communication_lock(location);
  hirc_world_check(location);
  struct lane *lane = lane_of(of->device, location);
  lane->what = what;
  lane->count = count;
  lane->location = location;
  hirc_stream_wait(lane->stream, stream, location);
  return lane->stream;
}

void *hirc_communication_close(const struct hirc_communicator *of, const char *location) {
  void *event = all()->in_group ? NULL : record(lane_of(of->device, location), location);
  hirc_communication_unlock();
  return event;
}

void *hirc_communicate(struct hirc_communicator *communicator,
                       const struct hirc_communication *what, const void *input, void *output,
                       int64_t input_count, int64_t output_count, int64_t peer, int64_t from,
                       void *stream, const char *location) {
  if (communicator->place < 0)
    return NULL;
  check_sizes(what->kind, communicator->size, input_count, output_count, location);
  hirc_communication_check_place(peer, what->kind == HIRC_EXCHANGE ? -1 : 0, communicator->size,
                                 location);
  hirc_communication_check_place(from, -1, communicator->size, location);
  cuda_stream lane = hirc_communication_open(communicator, what, input_count, stream, location);
  struct job job = {.of = communicator,
                    .what = what,
                    .input = input,
                    .output = output,
                    .input_units = (size_t)(input_count * what->units),
                    .output_units = (size_t)(output_count * what->units),
                    .peer = peer,
                    .from = from,
                    .stream = lane};
  if (communicator->nccl) {
    hirc_communicator_note(communicator, what, input_count, peer, location);
    hirc_world_check(location);
    job.nccl = hirc_nccl(location);
    if (hirc_cpu_device_communicates)
      hirc_cpu_device_communicates(hirc_world(location)->rank, location);
    int status = begin(&job);
    if (!all()->in_group || status != NCCL_IN_PROGRESS)
      nccl_check(job.nccl, communicator->nccl, status, "a communication", location);
  } else {
    copy(&job, location);
  }
  return hirc_communication_close(communicator, location);
}

// A group is begun and ended by one thread; another's communications may become part of it.
static void leave_group(void *nccl, void *stream) {
  (void)stream;
  if (nccl && all()->in_group)
    ((const struct nccl *)nccl)->GroupEnd();
  all()->in_group = 0;
}

void hirc_communication_group_begin(const char *location) {
  const struct nccl *nccl = hirc_world(location)->size > 1 ? hirc_nccl(location) : NULL;
  hirc_communication_lock(location);
  all()->in_group = 1;
  if (nccl) {
    hirc_own((void *)nccl, leave_group, HIRC_OBJECT, location);
    nccl_check(nccl, NULL, nccl->GroupStart(), "ncclGroupStart", location);
  }
  hirc_communication_unlock();
}

void *hirc_communication_group_end(void *stream, const char *location) {
  (void)stream;
  const struct nccl *nccl = hirc_world(location)->size > 1 ? hirc_nccl(location) : NULL;
  hirc_communication_lock(location);
  all()->in_group = 0;
  if (nccl) {
    hirc_disown(nccl, HIRC_OBJECT);
    int status = nccl->GroupEnd();
    for (struct hirc_communicator *each = all()->first; each && status == NCCL_IN_PROGRESS;
         each = each->next)
      if (each->nccl)
        nccl_check(nccl, each->nccl, NCCL_IN_PROGRESS, "a group of communications", location);
    if (status != NCCL_IN_PROGRESS)
      nccl_check(nccl, NULL, status, "a group of communications", location);
  }
  void *event = record(lane_of(current_device(location), location), location);
  hirc_communication_unlock();
  return event;
}

void hirc_communication_wait(void *event, void *stream, const char *location) {
  if (event)
    check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent", location);
}
