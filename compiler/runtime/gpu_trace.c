// A trace of what GPUs do, by CUPTI where the loader finds it: HIRC_TRACE=FILE. Kernels, copies and
// fills become lines of the file that hirc writes to (compiler/trace.py, and the CPU device's
// trace.c): the array form of the Trace Event Format, an event a line, without its end.
//
// Without HIRC_TRACE nothing is loaded and no call takes longer. Numbers and layouts are those of
// cupti_activity.h, which has kept them from CUDA 9 on, up to the last member that is named here.
#define _GNU_SOURCE

#include "amd_device.h"
#include "hirc_runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum activity { COPY = 1, FILL = 2, CONCURRENT_KERNEL = 10 };
enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGNMENT = 8, NAME_BYTES = 512, LINE_BYTES = 1024 };

// What each record begins with.
struct record {
  uint32_t kind;
};

struct kernel_record {
  uint32_t kind;
  uint8_t configuration[4];
  uint32_t cache[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t shared[2];
  uint32_t local[2];
  uint32_t correlation;
  int64_t number;
  const char *name;
};

struct memory_record {
  uint32_t kind;
  uint8_t what[4];
  uint64_t bytes, start, end;
  uint32_t device, context, stream;
};

typedef void request_buffer(uint8_t **buffer, size_t *bytes, size_t *most);
typedef void complete_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                             size_t valid);

static struct {
  int (*cuptiActivityRegisterCallbacks)(request_buffer *, complete_buffer *);
  int (*cuptiActivityRegisterTimestampCallback)(uint64_t (*)(void));
  int (*cuptiActivityEnable)(uint32_t);
  int (*cuptiActivityGetNextRecord)(uint8_t *, size_t, struct record **);
  int (*cuptiActivityFlushAll)(uint32_t);
} cupti;

static int file = -1;

static void append(const char *line, int bytes) {
  if (bytes > 0 && bytes < LINE_BYTES && write(file, line, (size_t)bytes) < 0) {
    // A disk that is full ends no program.
  }
}

// Nanoseconds of the clock that all that is traced has in common.
static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *most) {
  *buffer = aligned_alloc(BUFFER_ALIGNMENT, BUFFER_BYTES);
  *bytes = *buffer ? BUFFER_BYTES : 0;
  *most = 0;
}

// The row of a stream of a device, which is named when it is first used.
static unsigned row_of(uint32_t device, uint32_t stream) {
  enum { FIRST = 1 << 24, STREAMS = 1 << 12, NAMED_DEVICES = 16, NAMED_STREAMS = 256 };
  static _Atomic char is_named[NAMED_DEVICES][NAMED_STREAMS];
  unsigned row = FIRST + device * STREAMS + stream % STREAMS;
  if (device < NAMED_DEVICES && stream < NAMED_STREAMS && !is_named[device][stream]) {
    char line[LINE_BYTES];
    is_named[device][stream] = 1;
    append(line, snprintf(line, sizeof line,
                          "{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %u, "
                          "\"args\": {\"name\": \"GPU %u, stream %u\"}},\n",
                          getpid(), row, device, stream));
  }
  return row;
}

static void write_event(const char *name, const char *kind, unsigned row, uint64_t start,
                        uint64_t end, const char *details) {
  char line[LINE_BYTES];
  append(line, snprintf(line, sizeof line,
                        "{\"name\": \"%.*s\", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %d, "
                        "\"tid\": %u, \"ts\": %.3f, \"dur\": %.3f, \"args\": {%s}},\n",
                        NAME_BYTES, name, kind, getpid(), row, (double)start / 1e3,
                        (double)(end - start) / 1e3, details));
}

static void write_record(const struct record *record) {
  char details[LINE_BYTES / 4];
  if (record->kind == CONCURRENT_KERNEL) {
    const struct kernel_record *kernel = (const struct kernel_record *)record;
    snprintf(details, sizeof details, "\"grid\": [%d, %d, %d], \"block\": [%d, %d, %d]",
             kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
             kernel->block[1], kernel->block[2]);
    write_event(kernel->name ? kernel->name : "kernel", "kernel",
                row_of(kernel->device, kernel->stream), kernel->start, kernel->end, details);
  } else if (record->kind == COPY || record->kind == FILL) {
    const struct memory_record *memory = (const struct memory_record *)record;
    const char *kind = record->kind == COPY ? "copy" : "fill";
    snprintf(details, sizeof details, "\"bytes\": %llu", (unsigned long long)memory->bytes);
    write_event(kind, kind, row_of(memory->device, memory->stream), memory->start, memory->end,
                details);
  }
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
                        size_t valid) {
  struct record *record = NULL;
  (void)context, (void)stream, (void)bytes;
  while (valid && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
    write_record(record);
  free(buffer);
}

// Finds CUPTI's functions. False where one is missing.
static bool find_cupti(void) {
  static const char *const libraries[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  struct {
    const char *name;
    void *place;
  } functions[] = {
#define FUNCTION(name) {#name, &cupti.name}
      FUNCTION(cuptiActivityRegisterCallbacks), FUNCTION(cuptiActivityRegisterTimestampCallback),
      FUNCTION(cuptiActivityEnable),            FUNCTION(cuptiActivityGetNextRecord),
      FUNCTION(cuptiActivityFlushAll),
#undef FUNCTION
  };
  void *library = NULL;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !library; ++i)
    library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
    void *found = library ? dlsym(library, functions[i].name) : NULL;
    if (!found)
      return false;
    memcpy(functions[i].place, &found, sizeof found);
  }
  return true;
}

static bool open_file(const char *path) {
  int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
  file = open(path, flags | O_CREAT | O_EXCL, 0666);
  if (file >= 0)
    append("[\n", 2);
  else if (errno == EEXIST)
    file = open(path, flags);
  if (file < 0)
    fprintf(stderr, "warning: HIRC_TRACE=%s cannot be written: %s\n", path, strerror(errno));
  return file >= 0;
}

// Whether this is the first of the process's libraries that traces: CUPTI has one listener.
static bool is_first(void) {
  char process[32];
  const char *before = getenv("hirc_traces_gpus");
  snprintf(process, sizeof process, "%d", getpid());
  return !(before && strcmp(before, process) == 0) && setenv("hirc_traces_gpus", process, 1) == 0;
}

static void end_trace(void) {
  enum { FORCED = 1 };
  cupti.cuptiActivityFlushAll(FORCED);
}

// Begins a trace where one is wanted: before the device's first kernel.
void hirc_trace_gpus(void) {
  static _Atomic int is_decided;
  const char *path = getenv("HIRC_TRACE");
  if (!path || !*path || on_cpu_device() || atomic_exchange(&is_decided, 1) || !is_first() ||
      !open_file(path))
    return;
  bool is_traced = !on_amd_device() && find_cupti() && cupti.cuptiActivityRegisterTimestampCallback(now) == 0 &&
                   cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) == 0;
  static const uint32_t kinds[] = {CONCURRENT_KERNEL, COPY, FILL};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && is_traced; ++i)
    is_traced = cupti.cuptiActivityEnable(kinds[i]) == 0;
  if (is_traced && atexit(end_trace) == 0)
    return;
  fprintf(stderr, "warning: HIRC_TRACE has nothing of GPUs: %s\n",
          on_amd_device() ? "it knows NVIDIA's alone"
                          : "CUPTI of CUDA 12 or newer is not found, or in use");
  close(file);
  file = -1;
}
