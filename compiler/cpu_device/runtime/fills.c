// Fills: cudaMemset and its variants. They return before the fill is done, except on page-locked
// memory of the host without Async (CUDA's "API synchronization behavior").

#include "allocation.h"
#include "capture.h"
#include "checks/checks.h"
#include "copies.h"
#include "registration.h"

#include <string.h>

enum { SHORT = 16 << 10 }; // bytes that the calling thread fills if it may

struct fill {
  char *start;
  size_t pitch, slice;
  size_t width, height, depth;
  int value;
};

static int run_fill(void *payload) {
  const struct fill *fill = payload;
  struct fill whole = *fill;
  if (fill->width == fill->pitch && fill->slice == fill->height * fill->pitch) {
    whole.width = fill->slice * fill->depth;
    whole.height = whole.depth = 1;
  }
  hirc_checks_open();
  for (size_t z = 0; z < whole.depth; ++z)
    for (size_t y = 0; y < whole.height; ++y) {
      char *start = whole.start + z * whole.slice + y * whole.pitch;
      memset(start, whole.value, whole.width);
      hirc_checks_filled(start, whole.width);
    }
  hirc_checks_close();
  return 0;
}

// Whether the fill stays in device memory; `host` says whether that is page-locked host memory.
static int check_range(const struct fill *fill, bool *host) {
  size_t bytes = (fill->depth - 1) * fill->slice + (fill->height - 1) * fill->pitch + fill->width;
  struct hirc_allocation found;
  *host = false;
  if (!hirc_checks_host_range(fill->start, bytes, "target of a fill"))
    return CUDA_ERROR_INVALID_VALUE;
  if (hirc_allocation_find(fill->start, &found)) {
    *host = found.memory & (HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED);
    return bytes <= found.bytes - (size_t)(fill->start - found.start) ? 0
                                                                     : CUDA_ERROR_INVALID_VALUE;
  }
  const struct hirc_variable *variable = hirc_variable_at(fill->start);
  return variable &&
                 bytes <= variable->bytes - (size_t)(fill->start - (char *)variable->address)
             ? 0
             : CUDA_ERROR_INVALID_VALUE;
}

// `anywhere` is for memory of the host that CUDA knows nothing of.
static int fill_memory(const struct fill *fill, cuda_stream handle, bool waits, bool anywhere) {
  int error = hirc_device_status();
  if (error != 0)
    return error;
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (fill->width == 0 || fill->height == 0 || fill->depth == 0)
    return 0;
  if (fill->pitch < fill->width)
    return CUDA_ERROR_INVALID_VALUE;
  bool host = anywhere;
  error = anywhere ? 0 : check_range(fill, &host);
  if (error == 0 && waits)
    error = hirc_capture_forbid();
  if (error != 0)
    return error;
  if (!hirc_captures_running() && fill->width * fill->height * fill->depth <= SHORT &&
      hirc_stream_is_idle(stream) && !hirc_checks_order())
    return run_fill((void *)fill);
  error = hirc_enqueue(stream, HIRC_NODE_MEMSET, run_fill, fill, sizeof *fill);
  if (error == 0 && waits && host) {
    hirc_wait_for_stream(stream);
    error = hirc_device_status();
  }
  return error;
}

static int fill_1d(void *start, int value, size_t bytes, cuda_stream stream, bool waits) {
  struct fill fill = {.start = start,
                      .pitch = bytes,
                      .slice = bytes,
                      .width = bytes,
                      .height = 1,
                      .depth = 1,
                      .value = value};
  return hirc_report(fill_memory(&fill, stream, waits, false));
}

int cudaMemset(void *start, int value, size_t bytes) {
  return fill_1d(start, value, bytes, NULL, true);
}

int cudaMemsetAsync(void *start, int value, size_t bytes, cuda_stream stream) {
  return fill_1d(start, value, bytes, stream, false);
}

static int fill_2d(void *start, size_t pitch, int value, size_t width, size_t height,
                   cuda_stream stream, bool waits) {
  struct fill fill = {.start = start,
                      .pitch = height == 1 && pitch == 0 ? width : pitch,
                      .slice = pitch * height,
                      .width = width,
                      .height = height,
                      .depth = 1,
                      .value = value};
  return hirc_report(fill_memory(&fill, stream, waits, false));
}

int cudaMemset2D(void *start, size_t pitch, int value, size_t width, size_t height) {
  return fill_2d(start, pitch, value, width, height, NULL, true);
}

int cudaMemset2DAsync(void *start, size_t pitch, int value, size_t width, size_t height,
                      cuda_stream stream) {
  return fill_2d(start, pitch, value, width, height, stream, false);
}

// Zeros for a tensor that a program was handed. Programs for the CPU device take any memory of the
// host.
int hirc_cpu_device_zero(void *start, size_t pitch, size_t width, size_t height,
                         cuda_stream stream);
int hirc_cpu_device_zero(void *start, size_t pitch, size_t width, size_t height,
                         cuda_stream stream) {
  struct fill fill = {.start = start,
                      .pitch = pitch,
                      .slice = pitch * height,
                      .width = width,
                      .height = height,
                      .depth = 1};
  return hirc_report(fill_memory(&fill, stream, false, true));
}

static int fill_3d(const struct cuda_pitched_pointer *pitched, int value,
                   struct cuda_extent_bytes extent, cuda_stream stream, bool waits) {
  struct fill fill = {.start = pitched->pointer,
                      .pitch = pitched->pitch,
                      .slice = pitched->pitch * pitched->height,
                      .width = extent.width,
                      .height = extent.height,
                      .depth = extent.depth,
                      .value = value};
  return hirc_report(fill_memory(&fill, stream, waits, false));
}

int cudaMemset3D(struct cuda_pitched_pointer pitched, int value, struct cuda_extent_bytes extent) {
  return fill_3d(&pitched, value, extent, NULL, true);
}

int cudaMemset3DAsync(struct cuda_pitched_pointer pitched, int value,
                      struct cuda_extent_bytes extent, cuda_stream stream) {
  return fill_3d(&pitched, value, extent, stream, false);
}
