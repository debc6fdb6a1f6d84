// cudaMallocAsync and cudaFreeAsync: memory that belongs to a stream's order.
//
// Memory freed in a stream is retired: the next allocation of that size in the same stream takes it
// at once, because whatever used it comes earlier in that order. Other allocations get it once the
// stream has executed everything before the free. Nothing is enqueued for either call, and neither
// waits, unless memory runs out.
//
// All memory pools share this one memory; their attributes are kept (memory_pool.c) and guide
// nothing.

#include "ordered_memory.h"
#include "allocation.h"
#include "capture.h"
#include "checks/checks.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 64 };

struct ordered_free {
  void *start;
  size_t block_bytes;
  uint64_t position; // commands enqueued in the stream before it
};

struct ordered_frees {
  unsigned count, room;
  struct ordered_free entries[];
};

// With the stream locked. Returns false if there is no memory for the note.
static bool note_free(struct hirc_stream *stream, struct ordered_free entry) {
  struct ordered_frees *frees = stream->frees;
  if (!frees || frees->count == frees->room) {
    unsigned room = frees ? 2 * frees->room : FEW;
    frees = realloc(frees, sizeof *frees + room * sizeof *frees->entries);
    if (!frees)
      return false;
    if (!stream->frees)
      frees->count = 0;
    frees->room = room;
    stream->frees = frees;
  }
  frees->entries[frees->count++] = entry;
  return true;
}

static void settle(struct hirc_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  struct ordered_frees *frees = stream->frees;
  unsigned kept = 0;
  for (unsigned i = 0; frees && i < frees->count; ++i) {
    struct ordered_free entry = frees->entries[i];
    if (entry.position <= atomic_load(&stream->completed))
      hirc_allocation_free(entry.start, HIRC_MEMORY_RETIRED, true);
    else
      frees->entries[kept++] = entry;
  }
  if (frees)
    frees->count = kept;
  pthread_mutex_unlock(&stream->lock);
}

void hirc_settle_frees(void) {
  settle(&hirc_legacy_stream);
  for (struct hirc_stream *stream = hirc_first_stream(); stream; stream = stream->next_stream)
    settle(stream);
}

static void forget(struct hirc_stream *stream) {
  pthread_mutex_lock(&stream->lock);
  if (stream->frees)
    stream->frees->count = 0;
  pthread_mutex_unlock(&stream->lock);
}

void hirc_forget_frees(void) {
  forget(&hirc_legacy_stream);
  for (struct hirc_stream *stream = hirc_first_stream(); stream; stream = stream->next_stream)
    forget(stream);
}

// The newest memory of that size that the stream freed.
static void *take_freed(struct hirc_stream *stream, size_t bytes) {
  size_t block_bytes = hirc_allocation_block_bytes(bytes);
  void *start = NULL;
  pthread_mutex_lock(&stream->lock);
  struct ordered_frees *frees = stream->frees;
  for (unsigned i = frees ? frees->count : 0; i-- > 0;)
    if (frees->entries[i].block_bytes == block_bytes) {
      start = frees->entries[i].start;
      frees->entries[i] = frees->entries[--frees->count];
      break;
    }
  pthread_mutex_unlock(&stream->lock);
  if (start)
    hirc_allocation_revive(start, bytes);
  return start;
}

void *hirc_allocate_waiting(int memory, size_t bytes, unsigned flags) {
  void *start = hirc_allocation_create((enum hirc_memory)memory, bytes, flags);
  struct hirc_memory_usage usage;
  hirc_allocation_usage(&usage);
  if (start || bytes > usage.limit)
    return start;
  hirc_settle_frees();
  start = hirc_allocation_create((enum hirc_memory)memory, bytes, flags);
  if (start)
    return start;
  hirc_cpu_device_wait();
  hirc_settle_frees();
  return hirc_allocation_create((enum hirc_memory)memory, bytes, flags);
}

static int malloc_async(void **pointer, size_t bytes, cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  if (!pointer)
    return CUDA_ERROR_INVALID_VALUE;
  int error = hirc_device_status();
  if (error != 0)
    return error;
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  *pointer = NULL;
  if (bytes == 0)
    return 0;
  if (atomic_load_explicit(&stream->capture, memory_order_relaxed))
    return hirc_capture_malloc(stream, pointer, bytes);
  void *start = take_freed(stream, bytes);
  if (!start) {
    hirc_settle_frees();
    start = hirc_allocate_waiting(HIRC_MEMORY_ORDERED, bytes, 0);
  }
  *pointer = start;
  return start ? 0 : CUDA_ERROR_MEMORY_ALLOCATION;
}

static int run_free(void *payload) {
  hirc_checks_freed(*(void **)payload);
  hirc_allocation_free(*(void **)payload, HIRC_MEMORY_RETIRED, true);
  return 0;
}

// In a checked program memory is there up to the free in the stream's order, and not beyond.
static int free_in_order(struct hirc_stream *stream, void *pointer) {
  struct hirc_command *command;
  int error = hirc_command_begin(stream, sizeof pointer, &command);
  if (error != 0)
    return error;
  memcpy(command->payload, &pointer, sizeof pointer);
  command->run = run_free;
  command->always = true;
  command->type = HIRC_NODE_FREE;
  hirc_command_end(stream, command);
  return 0;
}

static int free_async(void *pointer, cuda_stream handle) {
  struct hirc_stream *stream = hirc_stream_of(handle);
  int error = hirc_device_status();
  if (error != 0)
    return error;
  if (!stream)
    return CUDA_ERROR_INVALID_RESOURCE_HANDLE;
  if (!pointer)
    return 0;
  if (atomic_load_explicit(&stream->capture, memory_order_relaxed))
    return hirc_capture_free(stream, pointer);
  struct ordered_free entry = {.start = pointer};
  if (!hirc_allocation_retire(pointer, &entry.block_bytes))
    return CUDA_ERROR_INVALID_VALUE;
  if (hirc_checks_allocations())
    return free_in_order(stream, pointer);
  if (hirc_others_are_busy(stream)) { // a command that waits for them, for the position to count
    struct hirc_command *command;
    if (hirc_command_begin(stream, 0, &command) == 0)
      hirc_command_end(stream, command);
  }
  pthread_mutex_lock(&stream->lock);
  entry.position = atomic_load(&stream->enqueued);
  bool noted = note_free(stream, entry);
  pthread_mutex_unlock(&stream->lock);
  if (!noted) {
    hirc_cpu_device_wait();
    hirc_allocation_free(pointer, HIRC_MEMORY_RETIRED, true);
  }
  return 0;
}

int cudaMallocAsync(void **pointer, size_t bytes, cuda_stream stream) {
  return hirc_report(malloc_async(pointer, bytes, stream));
}

int cudaFreeAsync(void *pointer, cuda_stream stream) {
  return hirc_report(free_async(pointer, stream));
}
