// Memory pools: the default one, and others that share its memory. Their attributes can be set and
// read; what they hold is the same for all.

#include "allocation.h"
#include "ordered_memory.h"

#include <stdlib.h>

struct hirc_memory_pool {
  int reuse[3]; // follow event dependencies, opportunistic, internal dependencies
  uint64_t release_threshold;
};

enum {
  REUSE_FOLLOW_EVENTS = 1,
  REUSE_INTERNAL_DEPENDENCIES = 3,
  RELEASE_THRESHOLD = 4,
  RESERVED_CURRENT = 5,
  RESERVED_HIGH = 6,
  USED_CURRENT = 7,
  USED_HIGH = 8,
};

static struct hirc_memory_pool default_pool = {.reuse = {1, 1, 1}};
static _Atomic(struct hirc_memory_pool *) current_pool = &default_pool;

int cudaMallocAsync(void **pointer, size_t bytes, cuda_stream stream);

int cudaDeviceGetDefaultMemPool(cuda_memory_pool *pool, int device) {
  if (device != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  if (!pool)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *pool = &default_pool;
  return hirc_report(hirc_device_status());
}

int cudaDeviceGetMemPool(cuda_memory_pool *pool, int device) {
  int error = cudaDeviceGetDefaultMemPool(pool, device);
  if (error == 0)
    *pool = atomic_load(&current_pool);
  return error;
}

int cudaDeviceSetMemPool(int device, cuda_memory_pool pool) {
  if (device != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  if (!pool)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  atomic_store(&current_pool, pool);
  return hirc_report(hirc_device_status());
}

int cudaMemPoolCreate(cuda_memory_pool *pool, const void *properties) {
  if (!pool || !properties)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *pool = malloc(sizeof **pool);
  if (!*pool)
    return hirc_report(CUDA_ERROR_MEMORY_ALLOCATION);
  **pool = (struct hirc_memory_pool){.reuse = {1, 1, 1}};
  return hirc_report(hirc_device_status());
}

int cudaMemPoolDestroy(cuda_memory_pool pool) {
  if (!pool || pool == &default_pool)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  struct hirc_memory_pool *expected = pool;
  atomic_compare_exchange_strong(&current_pool, &expected, &default_pool);
  free(pool);
  return hirc_report(hirc_device_status());
}

int cudaMallocFromPoolAsync(void **pointer, size_t bytes, cuda_memory_pool pool,
                            cuda_stream stream) {
  if (!pool)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return cudaMallocAsync(pointer, bytes, stream);
}

int cudaMemPoolTrimTo(cuda_memory_pool pool, size_t keep) {
  if (!pool)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  struct hirc_memory_usage usage;
  hirc_settle_frees();
  hirc_allocation_usage(&usage);
  hirc_allocation_trim(keep > usage.ordered ? keep - usage.ordered : 0);
  return hirc_report(hirc_device_status());
}

int cudaMemPoolSetAttribute(cuda_memory_pool pool, int attribute, void *value) {
  if (!pool || !value)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (attribute >= REUSE_FOLLOW_EVENTS && attribute <= REUSE_INTERNAL_DEPENDENCIES)
    pool->reuse[attribute - REUSE_FOLLOW_EVENTS] = *(const int *)value;
  else if (attribute == RELEASE_THRESHOLD)
    pool->release_threshold = *(const uint64_t *)value;
  else if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && *(const uint64_t *)value == 0)
    hirc_allocation_reset_high();
  else
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(hirc_device_status());
}

int cudaMemPoolGetAttribute(cuda_memory_pool pool, int attribute, void *value) {
  if (!pool || !value)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  struct hirc_memory_usage usage;
  hirc_settle_frees();
  hirc_allocation_usage(&usage);
  if (attribute >= REUSE_FOLLOW_EVENTS && attribute <= REUSE_INTERNAL_DEPENDENCIES)
    *(int *)value = pool->reuse[attribute - REUSE_FOLLOW_EVENTS];
  else if (attribute == RELEASE_THRESHOLD)
    *(uint64_t *)value = pool->release_threshold;
  else if (attribute == RESERVED_CURRENT)
    *(uint64_t *)value = usage.ordered + usage.cached;
  else if (attribute == USED_CURRENT)
    *(uint64_t *)value = usage.ordered;
  else if (attribute == RESERVED_HIGH || attribute == USED_HIGH)
    *(uint64_t *)value = usage.used_high;
  else
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(hirc_device_status());
}
