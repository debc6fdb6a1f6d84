// Which process this is, and where they meet: what launchers leave in the environment.
//
//   hirc-run, or by hand     HIRC_RANK, HIRC_WORLD_SIZE, HIRC_LOCAL_RANK, HIRC_RENDEZVOUS
//   torchrun                 RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
//   mpirun (Open MPI)        OMPI_COMM_WORLD_RANK, ..._SIZE, ..._LOCAL_RANK, ..._LOCAL_SIZE
//   mpirun (MPICH, Intel)    PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
//   srun                     SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_NNODES
//
// HIRC_RENDEZVOUS says where they meet under any of them. A library's caller may say all of it
// instead. Free of CUDA.

#include "failure.h"
#include "hirc_runtime.h"
#include "world.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launcher {
  const char *rank, *size, *local_rank, *local_size;
};

static const struct launcher launchers[] = {
    {"HIRC_RANK", "HIRC_WORLD_SIZE", "HIRC_LOCAL_RANK", "HIRC_LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL},
};

enum { LAUNCHERS = sizeof launchers / sizeof *launchers, LARGEST_WORLD = 1 << 20, SECONDS = 600 };

static struct hirc_world world;
static const struct launcher *launcher; // NULL: nobody started several
// What the caller said, empty where it is nothing.
static char meeting[HIRC_WORLD_ADDRESS_BYTES];
static int is_elsewhere; // the environment speaks of other processes
static _Atomic int state;               // 0: to be read, 1: being read, 2: there

static const char *variable(const char *name) {
  const char *text = name ? getenv(name) : NULL;
  return text && text[0] ? text : NULL;
}

static int read_number(const char *name, int least, int most, int otherwise,
                       const char *location) {
  const char *text = variable(name);
  if (!text)
    return otherwise;
  char *stop;
  long number = strtol(text, &stop, 10);
  if (*stop == '\0' && number >= least && number <= most)
    return (int)number;
  atomic_store(&state, 0);
  hirc_error_begin(location);
  hirc_error_add("the environment variable %s is '%.64s', where it is a number from %d to %d",
                 name, text, least, most);
  hirc_fail(hirc_end_program);
}

static void read_world(const char *location) {
  launcher = NULL;
  for (int i = 0; i < LAUNCHERS && !launcher; ++i)
    if (variable(launchers[i].rank) && variable(launchers[i].size))
      launcher = &launchers[i];
  world = (struct hirc_world){0, 1, 0, SECONDS};
  world.seconds = read_number("HIRC_COMMUNICATION_SECONDS", 1, 1 << 24, SECONDS, location);
  if (!launcher)
    return;
  world.size = read_number(launcher->size, 1, LARGEST_WORLD, 1, location);
  world.rank = read_number(launcher->rank, 0, world.size - 1, 0, location);
  world.local_rank = read_number(launcher->local_rank, 0, world.size - 1, world.rank, location);
}

const struct hirc_world *hirc_world(const char *location) {
  while (__builtin_expect(atomic_load_explicit(&state, memory_order_acquire) != 2, 0)) {
    int unread = 0;
    if (atomic_compare_exchange_strong(&state, &unread, 1)) {
      read_world(location);
      atomic_store_explicit(&state, 2, memory_order_release);
    } else {
      sched_yield();
    }
  }
  return &world;
}

void hirc_world_set(int rank, int size, const char *address, const char *location) {
  const struct hirc_world *before = hirc_world(location);
  is_elsewhere = before->rank != rank || before->size != size;
  if (is_elsewhere)
    world.local_rank = rank;
  world.rank = rank;
  world.size = size;
  snprintf(meeting, sizeof meeting, "%s", address ? address : "");
}

// Whether all processes are on this machine.
static int are_all_here(void) {
  const char *local = variable(launcher->local_size), *size = variable(launcher->size);
  if (local)
    return strcmp(local, size) == 0;
  const char *nodes = variable("SLURM_NNODES");
  return nodes && strcmp(nodes, "1") == 0;
}

void hirc_world_address(char address[HIRC_WORLD_ADDRESS_BYTES], const char *location) {
  const char *said = meeting[0] ? meeting : is_elsewhere ? NULL : variable("HIRC_RENDEZVOUS");
  const char *host = variable("MASTER_ADDR"), *port = variable("MASTER_PORT");
  // What is one launch's own.
  static const char *const names[] = {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
                                      "PMIX_NAMESPACE",      "OMPI_MCA_ess_base_jobid",
                                      "SLURM_JOB_ID",        "SLURM_STEP_ID"};
  int length;
  if (said) {
    length = snprintf(address, HIRC_WORLD_ADDRESS_BYTES, "%s", said);
  } else if (!is_elsewhere && launcher && are_all_here()) {
    length = snprintf(address, HIRC_WORLD_ADDRESS_BYTES, "unix:hirc-%s", port ? port : "");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
      const char *text = variable(names[i]);
      if (text && length < HIRC_WORLD_ADDRESS_BYTES)
        length += snprintf(address + length, (size_t)(HIRC_WORLD_ADDRESS_BYTES - length), "-%s",
                           text);
    }
  } else if (!is_elsewhere && host && port) {
    // That port is the launcher's own.
    length = snprintf(address, HIRC_WORLD_ADDRESS_BYTES, "%s:%ld", host, strtol(port, NULL, 10) + 1);
  } else {
    hirc_error_begin(location);
    hirc_error_add("%s does not say where %d processes meet\nnote: set HIRC_RENDEZVOUS to "
                   "HOST:PORT, a free port of the machine of rank 0%s",
                   is_elsewhere ? "who handed a communicator over" : "the environment", world.size,
                   is_elsewhere ? ", or say it as the communicator is handed over" : "");
    hirc_fail(hirc_end_program);
  }
  if (length >= HIRC_WORLD_ADDRESS_BYTES || (said && !strchr(said, ':'))) {
    hirc_error_begin(location);
    hirc_error_add("%s is '%.64s', where it is HOST:PORT or unix:NAME",
                   meeting[0] ? "where the processes meet" : "HIRC_RENDEZVOUS",
                   said ? said : address);
    hirc_fail(hirc_end_program);
  }
}

int hirc_world_has_address(const char *location) {
  const struct hirc_world *found = hirc_world(location);
  if (meeting[0])
    return 1;
  return !is_elsewhere && found->size > 1 &&
         (variable("HIRC_RENDEZVOUS") || (launcher && are_all_here()) ||
          (variable("MASTER_ADDR") && variable("MASTER_PORT")));
}
