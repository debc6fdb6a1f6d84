// Launching kernels: see launch.c.
#ifndef HIRC_LAUNCH_H
#define HIRC_LAUNCH_H

#include "cuda_abi.h"

enum {
  HIRC_SHARED_BYTES = 48 << 10,            // of a block, unless more is allowed
  HIRC_SHARED_BYTES_OPT_IN = 227 << 10,    // allowed at most
  HIRC_SHARED_BYTES_RESERVED = 1 << 10,
  HIRC_SHARED_BYTES_MULTIPROCESSOR = 228 << 10,
  HIRC_REGISTERS = 65536,
  HIRC_THREADS_MULTIPROCESSOR = 2048,
  HIRC_BLOCKS_MULTIPROCESSOR = 32,
  HIRC_MAX_CLUSTER = 8,
  HIRC_MAX_CLUSTER_NON_PORTABLE = 16,
  HIRC_MAX_COOPERATIVE_BLOCKS = 2048,
  HIRC_MAX_GRID_YZ = 65535,
  HIRC_MAX_BLOCK_Z = 64,
};

struct hirc_function;
struct hirc_command;

// What a command of type HIRC_NODE_KERNEL will run.
const struct hirc_grid *hirc_launch_grid(const struct hirc_command *command);

// And what it was registered as.
const struct hirc_function *hirc_launch_function(const struct hirc_command *command);

// What a launch in a graph can be told anew.
struct hirc_kernel_change {
  struct hirc_extent grid, block;
  unsigned dynamic_shared_bytes;
  void **arguments;
};

// The command so changed, for the same kernel; NULL and `error` where there is none.
struct hirc_command *hirc_launch_changed(const struct hirc_command *command,
                                         const struct hirc_function *function,
                                         const struct hirc_kernel_change *parameters, int *error);

// Blocks of that size that a multiprocessor would hold.
int hirc_resident_blocks(const struct hirc_function *function, int threads, size_t dynamic_bytes);

#endif
