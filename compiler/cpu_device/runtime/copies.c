// Copies between memory of the host and of the device.
//
// When a call returns follows CUDA's "API synchronization behavior":
// - a call without Async returns when the copy is done, except from device to device;
// - from pageable memory to the device, an Async call returns once it has read the source;
// - from the device to pageable memory, and from host to host, it returns when the copy is done;
// - all others return at once.
// A copy that may run at once and is short or has to be waited for anyway is made by the calling
// thread.

#include "copies.h"
#include "allocation.h"
#include "capture.h"
#include "checks/checks.h"
#include "registration.h"

#include <string.h>

enum {
  SHORT = 16 << 10,         // bytes that the caller copies rather than hand them to a worker
  LARGEST_STAGED = 64 << 20, // beyond it the source is read when its turn has come
};

enum place { PAGEABLE, PINNED, MANAGED, DEVICE };

void hirc_perform_copy(const struct hirc_copy *copy) {
  struct hirc_copy whole = *copy;
  if (whole.width == whole.dst_pitch && whole.width == whole.src_pitch) {
    if (whole.dst_slice == whole.height * whole.width && whole.dst_slice == whole.src_slice) {
      whole.height *= whole.depth;
      whole.depth = 1;
    }
    whole.width *= whole.height;
    whole.height = 1;
  }
  hirc_checks_open();
  for (size_t z = 0; z < whole.depth; ++z)
    for (size_t y = 0; y < whole.height; ++y) {
      char *dst = whole.dst + z * whole.dst_slice + y * whole.dst_pitch;
      const char *src = whole.src + z * whole.src_slice + y * whole.src_pitch;
      memmove(dst, src, whole.width);
      hirc_checks_copied(dst, src, whole.width);
    }
  hirc_checks_close();
}

static int run_copy(void *payload) {
  hirc_perform_copy(payload);
  return 0;
}

int hirc_enqueue_copy(struct hirc_stream *stream, const struct hirc_copy *copy) {
  return hirc_enqueue(stream, HIRC_NODE_MEMCPY, run_copy, copy, sizeof *copy);
}

// Enqueues the copy with a packed copy of the source, which the payload holds after the struct.
static int enqueue_staged(struct hirc_stream *stream, const struct hirc_copy *copy) {
  struct hirc_command *command;
  size_t bytes = copy->width * copy->height * copy->depth;
  int error = hirc_command_begin(stream, sizeof *copy + bytes, &command);
  if (error != 0)
    return error;
  struct hirc_copy *second = (struct hirc_copy *)command->payload, first = *copy;
  *second = *copy;
  second->src = first.dst = (char *)(second + 1);
  second->src_pitch = first.dst_pitch = copy->width;
  second->src_slice = first.dst_slice = copy->width * copy->height;
  hirc_perform_copy(&first);
  command->run = run_copy;
  command->type = HIRC_NODE_MEMCPY;
  hirc_command_end(stream, command);
  return 0;
}

// What memory `bytes` bytes from the address are; an error if they end beyond it.
static int place_of(const void *address, size_t bytes, enum place *place) {
  struct hirc_allocation found;
  *place = PAGEABLE;
  if (hirc_allocation_find(address, &found)) {
    *place = found.memory == HIRC_MEMORY_MANAGED                                ? MANAGED
             : found.memory & (HIRC_MEMORY_HOST | HIRC_MEMORY_REGISTERED) ? PINNED
                                                                                : DEVICE;
    if ((size_t)((const char *)address - found.start) + bytes > found.bytes)
      return CUDA_ERROR_INVALID_VALUE;
    return 0;
  }
  const struct hirc_variable *variable = hirc_variable_at(address);
  if (!variable)
    return 0;
  *place = DEVICE;
  return (size_t)((const char *)address - (char *)variable->address) + bytes > variable->bytes
             ? CUDA_ERROR_INVALID_VALUE
             : 0;
}

// What a direction calls the device's must be memory that CUDA knows; what it calls the host's may
// be any.
static int check_direction(int kind, enum place dst, enum place src) {
  bool to_device = kind == CUDA_MEMCPY_HOST_TO_DEVICE || kind == CUDA_MEMCPY_DEVICE_TO_DEVICE;
  bool from_device = kind == CUDA_MEMCPY_DEVICE_TO_HOST || kind == CUDA_MEMCPY_DEVICE_TO_DEVICE;
  return (to_device && dst == PAGEABLE) || (from_device && src == PAGEABLE)
             ? CUDA_ERROR_INVALID_VALUE
             : 0;
}

static size_t span_of(size_t width, size_t height, size_t depth, size_t pitch, size_t slice) {
  return (depth - 1) * slice + (height - 1) * pitch + width;
}

// Waits for the stream and copies here.
static int copy_in_turn(struct hirc_stream *stream, const struct hirc_copy *copy) {
  if (hirc_checks_order()) { // as a command that others can be compared with
    int error = hirc_enqueue_copy(stream, copy);
    hirc_wait_for_stream(stream);
    return error != 0 ? error : hirc_device_status();
  }
  if (!hirc_stream_is_idle(stream))
    hirc_wait_for_turn(stream);
  int error = hirc_device_status();
  if (error == 0)
    hirc_perform_copy(copy);
  return error;
}

static int copy_waiting(struct hirc_stream *stream, const struct hirc_copy *copy, enum place dst,
                        enum place src) {
  int error = hirc_captures_running() ? hirc_capture_check(stream) : 0;
  if (error == 0)
    error = hirc_capture_forbid();
  if (error != 0)
    return error;
  bool on_device = dst >= MANAGED && src >= MANAGED;
  return on_device ? hirc_enqueue_copy(stream, copy) : copy_in_turn(stream, copy);
}

static int copy_async(struct hirc_stream *stream, const struct hirc_copy *copy, enum place dst,
                      enum place src) {
  if (atomic_load_explicit(&stream->capture, memory_order_relaxed) || hirc_captures_running())
    return hirc_enqueue_copy(stream, copy);
  bool to_host = dst == PAGEABLE || dst == PINNED;
  if (dst == PAGEABLE || (to_host && src == PAGEABLE))
    return copy_in_turn(stream, copy);
  size_t bytes = copy->width * copy->height * copy->depth;
  bool idle = !hirc_checks_order() && hirc_stream_is_idle(stream);
  if (src == PAGEABLE)
    return idle || bytes > LARGEST_STAGED ? copy_in_turn(stream, copy)
                                          : enqueue_staged(stream, copy);
  // A checked program's pinned memory is to be waited for whatever its size.
  bool at_once = idle && bytes <= SHORT && !hirc_checks_memory();
  return at_once ? copy_in_turn(stream, copy) : hirc_enqueue_copy(stream, copy);
}

int hirc_begin_copy(const struct hirc_copy *copy, int kind, cuda_stream handle, bool waits) {
  if (kind < CUDA_MEMCPY_HOST_TO_HOST || kind > CUDA_MEMCPY_DEFAULT)
    return CUDA_ERROR_INVALID_MEMCPY_DIRECTION;
  if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
    return 0;
  int error = hirc_device_status();
  if (error != 0)
    return error;
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!copy->dst || !copy->src)
    return CUDA_ERROR_INVALID_VALUE;
  enum place dst, src;
  if (!hirc_checks_host_range(copy->dst,
                              span_of(copy->width, copy->height, copy->depth, copy->dst_pitch,
                                      copy->dst_slice),
                              "target of a copy") ||
      !hirc_checks_host_range(copy->src,
                              span_of(copy->width, copy->height, copy->depth, copy->src_pitch,
                                      copy->src_slice),
                              "source of a copy"))
    return CUDA_ERROR_INVALID_VALUE;
  error = place_of(
      copy->dst,
      span_of(copy->width, copy->height, copy->depth, copy->dst_pitch, copy->dst_slice), &dst);
  if (error == 0)
    error = place_of(
        copy->src,
        span_of(copy->width, copy->height, copy->depth, copy->src_pitch, copy->src_slice), &src);
  if (error == 0)
    error = check_direction(kind, dst, src);
  if (error != 0)
    return error;
  return waits ? copy_waiting(stream, copy, dst, src) : copy_async(stream, copy, dst, src);
}
