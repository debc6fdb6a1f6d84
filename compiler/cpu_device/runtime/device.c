// The device: there is one, number 0. Versions, limits, waiting for everything, reset.

#include "allocation.h"
#include "capture.h"
#include "device_heap.h"
#include "ordered_memory.h"

#include <stdio.h>
#include <string.h>

enum {
  VERSION = 13000, // of the runtime whose interface this is, and of a driver for it
  LIMITS = 7,
  MALLOC_HEAP_SIZE = 2,
};

static _Atomic unsigned device_flags;
static _Atomic size_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

int cudaRuntimeGetVersion(int *version) {
  if (!version)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *version = VERSION;
  return 0;
}

int cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

int cudaGetDeviceCount(int *count) {
  if (!count)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *count = 1;
  return 0;
}

int cudaGetDevice(int *device) {
  if (!device)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *device = 0;
  return 0;
}

int cudaSetDevice(int device) {
  return hirc_report(device == 0 ? 0 : CUDA_ERROR_INVALID_DEVICE);
}

int cudaInitDevice(int device, unsigned device_flags_wanted, unsigned flags) {
  (void)device_flags_wanted;
  if (flags & ~1u)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return cudaSetDevice(device);
}

int cudaChooseDevice(int *device, const void *properties) {
  if (!device || !properties)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *device = 0;
  return 0;
}

int cudaSetValidDevices(int *devices, int count) {
  if (count < 0 || (count > 0 && !devices))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  for (int i = 0; i < count; ++i)
    if (devices[i] != 0)
      return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  return 0;
}

int cudaSetDeviceFlags(unsigned flags) {
  if (flags & ~0xffu)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  atomic_store(&device_flags, flags);
  return 0;
}

int cudaGetDeviceFlags(unsigned *flags) {
  if (!flags)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *flags = atomic_load(&device_flags) | 8; // host memory can always be mapped
  return 0;
}

int cudaDeviceSynchronize(void) {
  int error = hirc_device_status();
  if (error == 0 && hirc_captures_running())
    error = hirc_capture_forbid();
  if (error == 0)
    hirc_cpu_device_wait();
  hirc_flush_printf();
  return hirc_report(error ? error : hirc_device_status());
}

// Variables of device code keep their values: they are the program's own memory here.
int cudaDeviceReset(void) {
  if (hirc_in_host_function)
    return hirc_report(CUDA_ERROR_NOT_PERMITTED);
  hirc_cpu_device_wait();
  hirc_flush_printf();
  hirc_forget_frees();
  hirc_allocation_free_all(HIRC_MEMORY_DEVICE | HIRC_MEMORY_MANAGED | HIRC_MEMORY_ORDERED |
                           HIRC_MEMORY_RETIRED | HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED);
  atomic_store(&hirc_device_error, 0);
  return 0;
}

int cudaDeviceSetLimit(int limit, size_t value) {
  if (limit < 0 || limit >= LIMITS)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (limit == MALLOC_HEAP_SIZE)
    hirc_device_heap_set_limit(value);
  else
    atomic_store(&limits[limit], value);
  return hirc_report(hirc_device_status());
}

int cudaDeviceGetLimit(size_t *value, int limit) {
  if (!value || limit < 0 || limit >= LIMITS)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *value =
      limit == MALLOC_HEAP_SIZE ? hirc_device_heap_limit() : atomic_load(&limits[limit]);
  return hirc_report(hirc_device_status());
}

int cudaDeviceGetCacheConfig(int *configuration) {
  if (!configuration)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *configuration = 0;
  return hirc_report(hirc_device_status());
}

int cudaDeviceSetCacheConfig(int configuration) {
  (void)configuration;
  return hirc_report(hirc_device_status());
}

int cudaCtxResetPersistingL2Cache(void) { return hirc_report(hirc_device_status()); }

int cudaDeviceGetPCIBusId(char *text, int room, int device) {
  if (!text || room < 13)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (device != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  snprintf(text, (size_t)room, "0000:00:00.0");
  return 0;
}

int cudaDeviceGetByPCIBusId(int *device, const char *text) {
  if (!device || !text)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *device = 0;
  return hirc_report(strcmp(text, "0000:00:00.0") == 0 ? 0 : CUDA_ERROR_INVALID_DEVICE);
}

int cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  if (!can)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (device != 0 || peer != 0)
    return hirc_report(CUDA_ERROR_INVALID_DEVICE);
  *can = 0;
  return 0;
}

int cudaProfilerStart(void) { return 0; }

int cudaProfilerStop(void) { return 0; }
