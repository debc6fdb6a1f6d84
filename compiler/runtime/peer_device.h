// How a device shares its memory with other processes of its machine, and orders streams by flags
// that they share. See peer_memory.c; the CPU device has its own (cpu_device/runtime/team/peers.c).
#ifndef HIRC_PEER_DEVICE_H
#define HIRC_PEER_DEVICE_H

#include "nccl_abi.h"

#include <stdatomic.h>
#include <stdint.h>

enum { HIRC_PEER_HANDLE_BYTES = 64 };

// By what another process finds memory; and what is linked twice in one process, by its address.
struct hirc_peer_handle {
  char bytes[HIRC_PEER_HANDLE_BYTES];
  void *address;
  int process, device;
};

// A wait of a stream until `flag` is at least `value`, for the process at `place` of a team.
struct hirc_peer_wait {
  _Atomic uint64_t *flag;
  uint64_t value;
  nccl_communicator of;
  int place, rank;      // of the team; and this process's
  const char *location; // in the program
};

// Each returns a CUDA error.
struct hirc_peer_device {
  int (*share)(void **memory, size_t bytes, struct hirc_peer_handle *handle);
  int (*open)(void **memory, size_t bytes, const struct hirc_peer_handle *handle);
  int (*close)(void *memory, const struct hirc_peer_handle *handle); // what was opened
  // Makes flags, in memory of the host that processes share, known to the device.
  int (*take_flags)(_Atomic uint64_t *flags, size_t bytes, _Atomic uint64_t **known);
  int (*copy)(void *to, const void *from, size_t bytes, void *stream);
  int (*signal)(_Atomic uint64_t *flag, uint64_t value, void *stream);
  int (*wait)(const struct hirc_peer_wait *wait, void *stream);
};

__attribute__((weak, visibility("hidden"))) const struct hirc_peer_device *
hirc_cpu_device_peers(void);

// Those of NVIDIA's GPUs. Fails where the driver lacks them; the second gives NULL then.
const struct hirc_peer_device *hirc_gpu_peers(const char *location);
const struct hirc_peer_device *hirc_gpu_peers_or_null(void);

#endif
