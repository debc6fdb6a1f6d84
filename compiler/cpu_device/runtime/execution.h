// Running grids: what the stream layer asks of the engine. See device_abi.h for what a kernel is.
#ifndef HIRC_EXECUTION_H
#define HIRC_EXECUTION_H

#include "device_abi.h"

struct hirc_running_command;

// A launch whose configuration has been found valid. `arguments` point to copies that live until
// hirc_run_grid returns.
struct hirc_grid {
  const struct hirc_kernel *kernel;
  void *const *arguments;
  struct hirc_extent grid, block, cluster; // cluster: 1 x 1 x 1 where there is none
  uint32_t dynamic_shared_bytes;
  bool cooperative; // blocks may wait for one another: all must make progress
  uint64_t id;
  struct hirc_running_command *command; // in a checked program: see checks/order.h
};

// Runs the grid on the calling thread and on idle workers of the pool, and returns when its last
// block has ended: 0 or a CUDA error code (700 to 799). Called on a worker of the pool only.
int hirc_run_grid(const struct hirc_grid *grid);

// --- the pool ----------------------------------------------------------------------------------

// Work for the pool; it belongs to the caller again when `run` has been called.
struct hirc_task {
  void (*run)(struct hirc_task *task);
  struct hirc_task *next;
};

// Starts the pool's threads on first use: as many as HIRC_CPU_THREADS says, or as this process may
// use processors. Children of fork() start their own.
void hirc_pool_submit(struct hirc_task *task);
// Starts them too; 0 if the system starts none.
unsigned hirc_pool_size(void);

// Writes what kernels printed since the last time to stdout. Called by every synchronisation.
void hirc_flush_printf(void);

#endif
