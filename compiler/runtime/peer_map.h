// Memory of the host that processes of a machine map: a file of one of them that has no name, which
// the others find among its files. It goes when they do. For those that define _GNU_SOURCE first.
#ifndef HIRC_PEER_MAP_H
#define HIRC_PEER_MAP_H

#include "peer_device.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

// Maps a new file, whose path becomes the handle, or that of another process, in place of what is at
// `at` where that is not NULL. Returns NULL, with errno, where that fails. A new file stays open
// until hirc_peer_close, for others to map it.
static inline void *hirc_peer_map(size_t bytes, struct hirc_peer_handle *handle, int is_new,
                                  void *at) {
  int file = is_new ? memfd_create("hirc-peers", MFD_CLOEXEC)
                    : open(handle->bytes, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return NULL;
  void *memory = MAP_FAILED;
  if (!is_new || ftruncate(file, (off_t)bytes) == 0)
    memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), file, 0);
  if (is_new && memory != MAP_FAILED)
    snprintf(handle->bytes, sizeof handle->bytes, "/proc/%d/fd/%d", (int)getpid(), file);
  else
    close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

// Closes this process's file.
static inline void hirc_peer_close(const struct hirc_peer_handle *handle) {
  int process, file;
  if (sscanf(handle->bytes, "/proc/%d/fd/%d", &process, &file) == 2 && process == (int)getpid())
    close(file);
}

#endif
