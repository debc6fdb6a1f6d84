// Memory: cudaMalloc and cudaFree, managed and pitched memory, page-locked memory of the host.
//
// Host and device are one machine here, so every address is valid on both sides; what a pointer
// was allocated as still matters to copies (copies.c) and to cudaPointerGetAttributes. cudaFree
// waits for the device first, as programs rely on.

#include "allocation.h"
#include "capture.h"
#include "ordered_memory.h"
#include "registration.h"

#include <string.h>

enum { PITCH_ALIGNMENT = 512 };

// Whether the call, one that CUDA forbids while a stream is being captured, may go on.
static int begin_call(void) {
  int error = hirc_device_status();
  return error ? error : hirc_capture_forbid();
}

static int allocate(void **pointer, enum hirc_memory memory, size_t bytes, unsigned flags) {
  if (!pointer)
    return CUDA_ERROR_INVALID_VALUE;
  int error = begin_call();
  if (error != 0)
    return error;
  *pointer = bytes == 0 ? NULL : hirc_allocate_waiting(memory, bytes, flags);
  return bytes == 0 || *pointer ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

static int release(void *pointer, unsigned memory) {
  int error = begin_call();
  if (error != 0 || !pointer)
    return error;
  struct hirc_allocation found;
  if (!hirc_allocation_find(pointer, &found) || found.start != pointer ||
      !(found.memory & memory))
    return CUDA_ERROR_INVALID_VALUE;
  hirc_cpu_device_wait();
  error = hirc_device_status();
  if (!hirc_allocation_free(pointer, memory, false))
    return CUDA_ERROR_INVALID_VALUE;
  return error;
}

int cudaMalloc(void **pointer, size_t bytes) {
  return hirc_report(allocate(pointer, HIRC_MEMORY_DEVICE, bytes, 0));
}

int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  if (flags != 1 && flags != 2) // attached globally or to the host
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(allocate(pointer, HIRC_MEMORY_MANAGED, bytes, flags));
}

int cudaFree(void *pointer) {
  return hirc_report(
      release(pointer, HIRC_MEMORY_DEVICE | HIRC_MEMORY_MANAGED | HIRC_MEMORY_ORDERED));
}

int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  if (flags & ~7u) // portable, mapped, write-combined
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(allocate(pointer, HIRC_MEMORY_HOST, bytes, flags));
}

int cudaMallocHost(void **pointer, size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }

int cudaFreeHost(void *pointer) { return hirc_report(release(pointer, HIRC_MEMORY_HOST)); }

int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  if (!pitch || width > CUDA_MAX_PITCH)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
  return cudaMalloc(pointer, *pitch * height);
}

int cudaMalloc3D(struct cuda_pitched_pointer *pitched, struct cuda_extent_bytes extent) {
  if (!pitched)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  pitched->width = extent.width;
  pitched->height = extent.height;
  return cudaMallocPitch(&pitched->pointer, &pitched->pitch, extent.width,
                         extent.height * extent.depth);
}

static int register_host(void *start, size_t bytes, unsigned flags) {
  int error = begin_call();
  if (error != 0)
    return error;
  if (!start || bytes == 0 || flags & ~15u)
    return CUDA_ERROR_INVALID_VALUE;
  return hirc_allocation_register(start, bytes, flags)
             ? 0
             : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

int cudaHostRegister(void *start, size_t bytes, unsigned flags) {
  return hirc_report(register_host(start, bytes, flags));
}

static int unregister_host(void *start) {
  int error = begin_call();
  if (error != 0)
    return error;
  if (!start)
    return CUDA_ERROR_INVALID_VALUE;
  struct hirc_allocation found;
  if (!hirc_allocation_find(start, &found) || found.memory != HIRC_MEMORY_REGISTERED)
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  if (found.start != start)
    return CUDA_ERROR_INVALID_VALUE;
  hirc_cpu_device_wait();
  return hirc_allocation_free(start, HIRC_MEMORY_REGISTERED, false)
             ? 0
             : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

int cudaHostUnregister(void *start) { return hirc_report(unregister_host(start)); }

// --- what a pointer is ---------------------------------------------------------------------------

int cudaHostGetDevicePointer(void **device, void *host, unsigned flags) {
  struct hirc_allocation found;
  if (!device || flags != 0 || !hirc_allocation_find(host, &found) ||
      !(found.memory & (HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED)))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *device = host;
  return hirc_report(hirc_device_status());
}

int cudaHostGetFlags(unsigned *flags, void *host) {
  struct hirc_allocation found;
  if (!flags || !hirc_allocation_find(host, &found) ||
      !(found.memory & (HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED)))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  *flags = found.flags | 2; // page-locked memory is always mapped
  return hirc_report(hirc_device_status());
}

int cudaPointerGetAttributes(struct cuda_pointer_attributes *attributes, const void *pointer) {
  if (!attributes)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  struct hirc_allocation found = {0};
  bool is_found = hirc_allocation_find(pointer, &found);
  *attributes = (struct cuda_pointer_attributes){.type = CUDA_MEMORY_UNREGISTERED,
                                                 .device = -2, // cudaInvalidDeviceId
                                                 .host_pointer = (void *)pointer};
  if (!is_found && !hirc_variable_at(pointer))
    return 0;
  bool managed = found.memory == HIRC_MEMORY_MANAGED;
  bool host = found.memory & (HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED);
  attributes->device = 0;
  attributes->type = managed ? CUDA_MEMORY_MANAGED : host ? CUDA_MEMORY_HOST : CUDA_MEMORY_DEVICE;
  attributes->device_pointer = (void *)pointer;
  if (!managed && !host)
    attributes->host_pointer = NULL;
  return 0;
}

int cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
  struct hirc_memory_usage usage;
  hirc_settle_frees();
  hirc_allocation_usage(&usage);
  if (free_bytes)
    *free_bytes = usage.limit - usage.used;
  if (total_bytes)
    *total_bytes = usage.limit;
  return hirc_report(hirc_device_status());
}

// --- hints: all memory is where it is used -------------------------------------------------------

static int check_range(const void *pointer, size_t bytes) {
  struct hirc_allocation found;
  if (bytes == 0 || !hirc_allocation_find(pointer, &found) ||
      found.memory != HIRC_MEMORY_MANAGED ||
      (size_t)((const char *)pointer - found.start) + bytes > found.bytes)
    return CUDA_ERROR_INVALID_VALUE;
  return hirc_device_status();
}

int cudaMemAdvise(const void *pointer, size_t bytes, int advice,
                  struct cuda_memory_location location) {
  (void)advice;
  (void)location;
  return hirc_report(check_range(pointer, bytes));
}

int cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cuda_memory_location location,
                         unsigned flags, cuda_stream stream) {
  (void)location;
  if (flags != 0 || !hirc_stream_of(stream))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(check_range(pointer, bytes));
}

int cudaStreamAttachMemAsync(cuda_stream stream, void *pointer, size_t bytes, unsigned flags) {
  struct hirc_allocation found;
  if (flags != 1 && flags != 2 && flags != 4)
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  if (!hirc_stream_of(stream))
    return hirc_report(CUDA_ERROR_INVALID_RESOURCE_HANDLE);
  if (!hirc_allocation_find(pointer, &found) || (bytes != 0 && bytes != found.bytes))
    return hirc_report(CUDA_ERROR_INVALID_VALUE);
  return hirc_report(hirc_device_status());
}
