// Whether the processes of a team reach each other's memory: found out once, by trying it. All of a
// team get one answer.

#define _GNU_SOURCE
#include "calls.h"
#include "check.h"
#include "communicator.h"
#include "cpu_device.h"
#include "failure.h"
#include "hirc_runtime.h"
#include "peer_device.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MACHINE_BYTES = 128, UNKNOWN = 0, REACHES, REACHES_NOT };

// What a process tells its team.
struct reach {
  char machine[MACHINE_BYTES];
  int32_t is_there;
  struct hirc_peer_handle memory;
};

// The machine since it started, and the numbers by which processes are known there.
static void name_machine(char name[MACHINE_BYTES]) {
  memset(name, 0, MACHINE_BYTES);
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, name, MACHINE_BYTES / 2);
  if (file >= 0)
    close(file);
  length = length < 0 ? 0 : length;
  if (readlink("/proc/self/ns/pid", name + length, MACHINE_BYTES / 2) < 0)
    name[length] = 0;
}

static int is_forbidden(void) {
  const char *text = getenv("HIRC_PEER_MEMORY");
  return text && strcmp(text, "0") == 0;
}

static int find_out(struct hirc_communicator *of, const char *location) {
  const struct hirc_peer_device *device = on_cpu_device() ? NULL : hirc_gpu_peers_or_null();
  struct reach own = {.is_there = !is_forbidden()}, other;
  char key[HIRC_WORLD_KEY_BYTES];
  void *memory = NULL;
  name_machine(own.machine);
  if (own.is_there && !on_cpu_device())
    own.is_there = device && device->share(&memory, 1, &own.memory) == 0;
  if (memory)
    hirc_own_device(memory, location);
  hirc_communicator_key(of, "reach", of->place, key);
  hirc_world_give(key, &own, sizeof own, location);
  int32_t reaches = own.is_there;
  for (int64_t place = 0; place < of->size; ++place) {
    if (place == of->place)
      continue;
    hirc_communicator_key(of, "reach", place, key);
    hirc_world_take(key, &other, sizeof other, location);
    reaches = reaches && other.is_there && !memcmp(own.machine, other.machine, MACHINE_BYTES);
    void *there = NULL;
    if (reaches && device) {
      reaches = device->open(&there, 1, &other.memory) == 0;
      if (reaches)
        device->close(there, &other.memory);
    }
  }
  hirc_communicator_key(of, "reaches", of->place, key);
  hirc_world_give(key, &reaches, sizeof reaches, location);
  int32_t all_reach = reaches;
  for (int64_t place = 0; place < of->size; ++place)
    if (place != of->place) {
      hirc_communicator_key(of, "reaches", place, key);
      hirc_world_take(key, &reaches, sizeof reaches, location);
      all_reach = all_reach && reaches;
    }
  if (memory) {
    hirc_disown(memory, HIRC_OBJECT);
    check(cudaFree(memory), "cudaFree", location);
  }
  return all_reach ? REACHES : REACHES_NOT;
}

// 0 too on a device that is not of the team, and where the processes cannot ask each other: their
// caller's communicator is all that they have in common.
int hirc_shares_memory(struct hirc_communicator *of, const char *location) {
  if (of->place < 0 || of->size < 2)
    return of->place >= 0;
  if (!hirc_world_has_address(location))
    return 0;
  if (of->reach == UNKNOWN) {
    hirc_communication_lock(location);
    // Another thread may have asked meanwhile: all of the team ask once.
    if (of->reach == UNKNOWN)
      of->reach = find_out(of, location);
    hirc_communication_unlock();
  }
  return of->reach == REACHES;
}
