// What is known of a kernel and can be set for it, and occupancy.

#include "launch.h"
#include "registration.h"

#include <string.h>

static int dynamic_limit(const struct hirc_function *function) {
  int allowed = atomic_load(&function->max_dynamic_shared);
  int rest = HIRC_SHARED_BYTES - (int)function->kernel->static_shared_bytes;
  return allowed >= 0 ? allowed : rest > 0 ? rest : 0;
}

static int max_threads(const struct hirc_function *function) {
  return function->kernel->max_threads ? (int)function->kernel->max_threads : HIRC_MAX_THREADS;
}

int cudaFuncGetAttributes(struct cuda_function_attributes *attributes, const void *stub) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!attributes)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!function)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE_FUNCTION);
  const struct hirc_kernel *kernel = function->kernel;
  *attributes = (struct cuda_function_attributes){
      .static_shared_bytes = kernel->static_shared_bytes,
      .local_bytes = kernel->local_bytes,
      .max_threads_per_block = max_threads(function),
      .registers = 32,
      .ptx_version = 90,
      .binary_version = 90,
      .max_dynamic_shared_bytes = dynamic_limit(function),
      .preferred_carveout = atomic_load(&function->carveout),
      .cluster_must_be_set = kernel->required_cluster.x != 0,
      .required_cluster = {(int)kernel->required_cluster.x, (int)kernel->required_cluster.y,
                           (int)kernel->required_cluster.z},
      .cluster_scheduling = atomic_load(&function->cluster_scheduling),
      .non_portable_cluster_allowed = atomic_load(&function->non_portable_cluster),
  };
  return hirc_report(hirc_device_status());
}

int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
  struct hirc_function *function = hirc_function_of(stub);
  if (!function)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE_FUNCTION);
  int error = hirc_device_status();
  if (error != 0)
    return hirc_report(error);
  switch (attribute) {
  case CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES:
    if (value < 0 ||
        value > HIRC_SHARED_BYTES_OPT_IN - (int)function->kernel->static_shared_bytes)
      return hirc_report(CUDA_ERROR_INVALID_VALUE);
    atomic_store(&function->max_dynamic_shared, value);
    return 0;
  case CUDA_FUNCTION_PREFERRED_CARVEOUT:
    if (value < -1 || value > 100)
      return hirc_report(CUDA_ERROR_INVALID_VALUE);
    atomic_store(&function->carveout, value);
    return 0;
  case CUDA_FUNCTION_NON_PORTABLE_CLUSTER_ALLOWED:
    atomic_store(&function->non_portable_cluster, value != 0);
    return 0;
  case CUDA_FUNCTION_CLUSTER_SCHEDULING:
    if (value < 0 || value > 2)
      return hirc_report(CUDA_ERROR_INVALID_VALUE);
    atomic_store(&function->cluster_scheduling, value);
    return 0;
  default:
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  }
}

static int check_function(const void *stub) {
  return hirc_report(hirc_function_of(stub) ? hirc_device_status()
                                            : CUDA_ERROR_INVALID_DEVICE_FUNCTION);
}

int cudaFuncSetCacheConfig(const void *stub, int configuration) {
  (void)configuration;
  return check_function(stub);
}

int cudaFuncGetName(const char **name, const void *stub) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!name)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (function)
    *name = function->kernel->name;
  return check_function(stub);
}

int cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *bytes) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!function)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE_FUNCTION);
  if (!offset || index >= function->kernel->argument_count)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  size_t place = 0;
  for (size_t i = 0;; ++i) {
    const struct hirc_argument *argument = &function->kernel->arguments[i];
    size_t align = argument->align ? argument->align : 1;
    place = (place + align - 1) / align * align;
    if (i == index)
      break;
    place += argument->bytes;
  }
  *offset = place;
  if (bytes)
    *bytes = function->kernel->arguments[index].bytes;
  return hirc_report(hirc_device_status());
}

// Handles of functions are their stubs.
int cudaGetFuncBySymbol(void **handle, const void *stub) {
  if (!handle)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  int error = check_function(stub);
  if (error == 0)
    *handle = (void *)stub;
  return error;
}

int cudaGetKernel(void **handle, const void *stub) { return cudaGetFuncBySymbol(handle, stub); }

// --- occupancy -----------------------------------------------------------------------------------

int hirc_resident_blocks(const struct hirc_function *function, int threads, size_t dynamic_bytes) {
  if (threads <= 0 || threads > max_threads(function) ||
      dynamic_bytes > (size_t)dynamic_limit(function))
    return 0;
  int padded = (threads + HIRC_WARP_SIZE - 1) / HIRC_WARP_SIZE * HIRC_WARP_SIZE;
  int blocks = HIRC_THREADS_MULTIPROCESSOR / padded;
  size_t shared =
      dynamic_bytes + function->kernel->static_shared_bytes + HIRC_SHARED_BYTES_RESERVED;
  int by_shared = (int)(HIRC_SHARED_BYTES_MULTIPROCESSOR / shared);
  blocks = by_shared < blocks ? by_shared : blocks;
  return blocks < HIRC_BLOCKS_MULTIPROCESSOR ? blocks : HIRC_BLOCKS_MULTIPROCESSOR;
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                           int threads, size_t dynamic_bytes,
                                                           unsigned flags) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!blocks || flags & ~1u || threads <= 0)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (function)
    *blocks = hirc_resident_blocks(function, threads, dynamic_bytes);
  return check_function(stub);
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub, int threads,
                                                  size_t dynamic_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, threads,
                                                                dynamic_bytes, 0);
}

int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_bytes, const void *stub, int blocks,
                                              int threads) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!dynamic_bytes || blocks <= 0 || threads <= 0)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!function)
    return check_function(stub);
  size_t each = HIRC_SHARED_BYTES_MULTIPROCESSOR / (size_t)blocks;
  size_t taken = function->kernel->static_shared_bytes + HIRC_SHARED_BYTES_RESERVED;
  size_t rest = each > taken ? each - taken : 0, limit = (size_t)dynamic_limit(function);
  *dynamic_bytes = rest < limit ? rest : limit;
  return check_function(stub);
}

int cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
                                         const struct cuda_launch_configuration *configuration) {
  const struct hirc_function *function = hirc_function_of(stub);
  if (!size || !configuration)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (function)
    *size = atomic_load(&function->non_portable_cluster) ? HIRC_MAX_CLUSTER_NON_PORTABLE
                                                         : HIRC_MAX_CLUSTER;
  return check_function(stub);
}

int cudaOccupancyMaxActiveClusters(int *clusters, const void *stub,
                                   const struct cuda_launch_configuration *configuration) {
  if (!clusters || !configuration)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *clusters = 1;
  return check_function(stub);
}
