// Launching kernels.
//
// The call checks what CUDA documents (CUDA C++ Programming Guide, technical specifications of
// compute capability 9.0), copies the arguments and enqueues; the kernel runs when its turn in the
// stream comes. A launch's errors of its own are returned at once and leave the device usable;
// their codes are those observed with CUDA 13.0 on an H200, where extents that do not fit are
// cudaErrorInvalidValue.

#include "launch.h"
#include "capture.h"
#include "checks/order.h"
#include "registration.h"

#include <string.h>

// A command's payload: followed by the arguments' addresses, then by their copies.
struct launch {
  struct hirc_grid grid;
  const struct hirc_function *function;
  void *arguments[];
};

static _Atomic uint64_t last_grid_id;

static int run_launch(void *payload) {
  struct hirc_grid grid = ((const struct launch *)payload)->grid;
  grid.command = hirc_checks_order() ? hirc_running_command : NULL;
  grid.id = atomic_fetch_add_explicit(&last_grid_id, 1, memory_order_relaxed) + 1;
  return hirc_run_grid(&grid);
}

const struct hirc_grid *hirc_launch_grid(const struct hirc_command *command) {
  return &((const struct launch *)(const void *)command->payload)->grid;
}

const struct hirc_function *hirc_launch_function(const struct hirc_command *command) {
  return ((const struct launch *)(const void *)command->payload)->function;
}

static size_t align_up(size_t offset, size_t align) {
  return align > 1 ? (offset + align - 1) / align * align : offset;
}

// Where the copies of the arguments begin, and the bytes that the whole takes.
static size_t payload_bytes(const struct hirc_kernel *kernel, size_t *start) {
  size_t offset = sizeof(struct launch) + kernel->argument_count * sizeof(void *);
  *start = offset;
  for (uint32_t i = 0; i < kernel->argument_count; ++i)
    offset = align_up(offset, kernel->arguments[i].align) + kernel->arguments[i].bytes;
  // Alignments up to 16 are those of the payload; larger ones need room to move.
  return offset + 128;
}

static void copy_arguments(struct launch *launch, size_t offset, void *const *arguments) {
  const struct hirc_kernel *kernel = launch->grid.kernel;
  for (uint32_t i = 0; i < kernel->argument_count; ++i) {
    const struct hirc_argument *argument = &kernel->arguments[i];
    uintptr_t place = align_up((uintptr_t)launch + offset, argument->align);
    memcpy((void *)place, arguments[i], argument->bytes);
    launch->arguments[i] = (void *)place;
    offset = place + argument->bytes - (uintptr_t)launch;
  }
}

static uint64_t volume(const struct hirc_extent *extent) {
  return (uint64_t)extent->x * extent->y * extent->z;
}

static int check_extents(const struct hirc_grid *grid) {
  const struct hirc_extent *blocks = &grid->grid, *threads = &grid->block;
  if (blocks->x == 0 || blocks->y == 0 || blocks->z == 0 || threads->x == 0 || threads->y == 0 ||
      threads->z == 0 || blocks->x > INT32_MAX || blocks->y > HIRC_MAX_GRID_YZ ||
      blocks->z > HIRC_MAX_GRID_YZ || threads->x > HIRC_MAX_THREADS ||
      threads->y > HIRC_MAX_THREADS || threads->z > HIRC_MAX_BLOCK_Z ||
      volume(threads) > HIRC_MAX_THREADS)
    return CUDA_ERROR_INVALID_VALUE;
  const struct hirc_kernel *kernel = grid->kernel;
  if (kernel->max_threads != 0 && volume(threads) > kernel->max_threads)
    return CUDA_ERROR_INVALID_VALUE;
  if (kernel->required_block.x != 0 &&
      memcmp(&kernel->required_block, threads, sizeof *threads) != 0)
    return CUDA_ERROR_INVALID_VALUE;
  return 0;
}

static int check_shared(const struct hirc_function *function, size_t dynamic_bytes) {
  size_t static_bytes = function->kernel->static_shared_bytes;
  int allowed = atomic_load_explicit(&function->max_dynamic_shared, memory_order_relaxed);
  size_t limit = allowed < 0 ? HIRC_SHARED_BYTES - static_bytes : (size_t)allowed;
  if (allowed < 0 && static_bytes > HIRC_SHARED_BYTES)
    limit = 0;
  return dynamic_bytes > limit ? CUDA_ERROR_INVALID_VALUE : 0;
}

static int check_cluster(const struct hirc_function *function, struct hirc_grid *grid) {
  const struct hirc_extent *required = &function->kernel->required_cluster;
  struct hirc_extent *cluster = &grid->cluster;
  if (cluster->x == 0) {
    *cluster = required->x != 0 ? *required : (struct hirc_extent){1, 1, 1};
  } else if (required->x != 0 && memcmp(required, cluster, sizeof *cluster) != 0) {
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  uint64_t limit = atomic_load_explicit(&function->non_portable_cluster, memory_order_relaxed)
                       ? HIRC_MAX_CLUSTER_NON_PORTABLE
                       : HIRC_MAX_CLUSTER;
  if (cluster->y == 0 || cluster->z == 0 || volume(cluster) > limit ||
      grid->grid.x % cluster->x != 0 || grid->grid.y % cluster->y != 0 ||
      grid->grid.z % cluster->z != 0)
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return 0;
}

struct hirc_command *hirc_launch_changed(const struct hirc_command *command,
                                         const struct hirc_function *function,
                                         const struct hirc_kernel_change *parameters, int *error) {
  *error = CUDA_ERROR_INVALID_VALUE;
  if (command->type != HIRC_NODE_KERNEL)
    return NULL;
  struct hirc_grid grid = *hirc_launch_grid(command);
  if (!function || function->kernel != grid.kernel ||
      (!parameters->arguments && grid.kernel->argument_count != 0))
    return NULL;
  grid.grid = parameters->grid;
  grid.block = parameters->block;
  grid.dynamic_shared_bytes = parameters->dynamic_shared_bytes;
  *error = check_extents(&grid);
  if (*error == 0)
    *error = check_shared(function, parameters->dynamic_shared_bytes);
  if (*error == 0)
    *error = check_cluster(function, &grid);
  if (*error != 0)
    return NULL;
  size_t start, bytes = payload_bytes(grid.kernel, &start);
  struct hirc_command *changed = hirc_command_allocate(bytes);
  if (!changed) {
    *error = CUDA_ERROR_MEMORY_ALLOCATION;
    return NULL;
  }
  changed->run = run_launch;
  changed->type = HIRC_NODE_KERNEL;
  struct launch *copy = (struct launch *)changed->payload;
  copy->grid = grid;
  copy->grid.arguments = copy->arguments;
  copy->function = function;
  copy_arguments(copy, start, parameters->arguments);
  return changed;
}

static int launch(const struct hirc_function *function, struct hirc_grid *grid,
                  size_t dynamic_bytes, void *const *arguments, cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = hirc_device_status();
  if (__builtin_expect(!function, 0))
    return CUDA_ERROR_INVALID_DEVICE_FUNCTION;
  if (error != 0)
    return error;
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  grid->kernel = function->kernel;
  error = check_extents(grid);
  if (error == 0)
    error = check_shared(function, dynamic_bytes);
  if (error == 0)
    error = check_cluster(function, grid);
  if (error == 0 && grid->cooperative && volume(&grid->grid) > HIRC_MAX_COOPERATIVE_BLOCKS &&
      volume(&grid->grid) > (uint64_t)HIRC_BLOCKS_MULTIPROCESSOR * hirc_pool_size())
    error = CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  if (error == 0 && !arguments && grid->kernel->argument_count != 0)
    error = CUDA_ERROR_INVALID_VALUE;
  if (error != 0)
    return error;
  grid->dynamic_shared_bytes = (uint32_t)dynamic_bytes;

  struct hirc_command *command;
  size_t start, bytes = payload_bytes(grid->kernel, &start);
  error = hirc_command_begin(stream, bytes, &command);
  if (error != 0)
    return error;
  struct launch *copy = (struct launch *)command->payload;
  copy->grid = *grid;
  copy->grid.arguments = copy->arguments;
  copy->function = function;
  copy_arguments(copy, start, arguments);
  command->run = run_launch;
  command->type = HIRC_NODE_KERNEL;
  hirc_command_end(stream, command);
  return 0;
}

int cudaLaunchKernel(const void *stub, cuda_dim3 grid, cuda_dim3 block, void **arguments,
                     size_t dynamic_bytes, cuda_stream stream) {
  struct hirc_grid wanted = {.grid = grid, .block = block};
  return hirc_report(launch(hirc_function_of(stub), &wanted, dynamic_bytes, arguments, stream));
}

int cudaLaunchCooperativeKernel(const void *stub, cuda_dim3 grid, cuda_dim3 block,
                                void **arguments, size_t dynamic_bytes, cuda_stream stream) {
  struct hirc_grid wanted = {.grid = grid, .block = block, .cooperative = true};
  return hirc_report(launch(hirc_function_of(stub), &wanted, dynamic_bytes, arguments, stream));
}

int cudaLaunchKernelExC(const struct cuda_launch_configuration *configuration, const void *stub,
                        void **arguments) {
  if (!configuration || (configuration->attribute_count != 0 && !configuration->attributes))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  struct hirc_grid wanted = {.grid = configuration->grid, .block = configuration->block};
  for (unsigned i = 0; i < configuration->attribute_count; ++i) {
    const struct cuda_launch_attribute *attribute = &configuration->attributes[i];
    if (attribute->kind == CUDA_LAUNCH_COOPERATIVE) {
      wanted.cooperative = attribute->value.cooperative != 0;
    } else if (attribute->kind == CUDA_LAUNCH_CLUSTER_DIMENSION) {
      wanted.cluster = attribute->value.cluster;
      if (wanted.cluster.x == 0 || wanted.cluster.y == 0 || wanted.cluster.z == 0)
        return hirc_report(CUDA_ERROR_INVALID_CLUSTER_SIZE);
    } // the others are hints, or allow an overlap that need not happen
  }
  return hirc_report(launch(hirc_function_of(stub), &wanted, configuration->dynamic_shared_bytes,
                            arguments, configuration->stream));
}
