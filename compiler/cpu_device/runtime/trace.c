// A trace of what streams do, which Perfetto and Chrome show: HIRC_TRACE=FILE.
//
// The file is in the array form of the Trace Event Format, an event a line, and without its end: any
// process may append at any time. hirc writes such lines of what it compiles (compiler/trace.py). A
// stream is a row.

#define _GNU_SOURCE
#include "trace.h"
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAME_BYTES = 512, LINE_BYTES = 2048 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int file = -1;

// One call, so that lines of several threads and processes do not mix.
static void append(const char *line, int bytes) {
  if (bytes > 0 && bytes < LINE_BYTES && write(file, line, (size_t)bytes) < 0) {
    // A disk that is full ends no program.
  }
}

// The text as JSON has it between quotes; what is left of a long one.
static const char *quoted(char *room, const char *text) {
  char *to = room, *end = room + NAME_BYTES - 8;
  for (; *text && to < end; ++text) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      *to++ = '\\';
    }
    if (c < ' ') {
      to += snprintf(to, 7, "\\u%04x", c);
    } else {
      *to++ = (char)c;
    }
  }
  *to = 0;
  return room;
}

// A row's name, or a process's.
static void append_name(const char *kind, unsigned row, const char *name) {
  char line[LINE_BYTES], room[NAME_BYTES];
  append(line, snprintf(line, sizeof line,
                        "{\"name\": \"%s\", \"ph\": \"M\", \"pid\": %d, \"tid\": %u, "
                        "\"args\": {\"name\": \"%s\"}},\n",
                        kind, getpid(), row, quoted(room, name)));
}

static void open_file(void) {
  const char *path = getenv("HIRC_TRACE");
  if (!path || !*path) {
    return;
  }
  int flags = O_WRONLY | O_APPEND | O_CLOEXEC;
  file = open(path, flags | O_CREAT | O_EXCL, 0666);
  if (file >= 0) {
    append("[\n", 2);
  } else if (errno == EEXIST) {
    file = open(path, flags);
  }
  if (file < 0) {
    fprintf(stderr, "warning: HIRC_TRACE=%s cannot be written: %s\n", path, strerror(errno));
    return;
  }
  append_name("process_name", 0, program_invocation_short_name);
}

bool hirc_traces(void) {
  pthread_once(&once, open_file);
  return file >= 0;
}

uint64_t hirc_trace_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const char *kind_of(const struct hirc_command *command) {
  switch (command->type) {
  case HIRC_NODE_KERNEL:
    return "kernel";
  case HIRC_NODE_MEMCPY:
    return "copy";
  case HIRC_NODE_MEMSET:
    return "fill";
  case HIRC_NODE_HOST:
    return "host function";
  case HIRC_NODE_GRAPH:
    return "graph";
  case HIRC_NODE_COMMUNICATION:
    return "communication";
  default:
    return NULL;
  }
}

void hirc_trace_command(struct hirc_stream *stream, const struct hirc_command *command,
                        uint64_t began) {
  uint64_t ended = hirc_trace_time();
  const char *kind = kind_of(command), *name = kind;
  if (!kind) {
    return;
  }
  // Of several libraries in one process each has its own streams.
  unsigned row = (unsigned)((uintptr_t)stream >> 6) & 0x7fffffff;
  char line[LINE_BYTES], room[NAME_BYTES], source[NAME_BYTES], details[LINE_BYTES / 2] = "";
  if (stream->traced_id != stream->id + 1) {
    stream->traced_id = stream->id + 1;
    snprintf(line, sizeof line, "stream %llu", (unsigned long long)stream->id);
    append_name("thread_name", row, line);
  }
  if (command->type == HIRC_NODE_KERNEL) {
    const struct hirc_grid *grid = hirc_launch_grid(command);
    name = hirc_title(grid->kernel);
    snprintf(details, sizeof details,
             ", \"args\": {\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"source\": \"%s\"}",
             grid->grid.x, grid->grid.y, grid->grid.z, grid->block.x, grid->block.y,
             grid->block.z, quoted(source, grid->kernel->source));
  }
  append(line, snprintf(line, sizeof line,
                        "{\"name\": \"%s\", \"cat\": \"%s\", \"ph\": \"X\", \"pid\": %d, "
                        "\"tid\": %u, \"ts\": %.3f, \"dur\": %.3f%s},\n",
                        quoted(room, name), kind, getpid(), row, (double)began / 1e3,
                        (double)(ended - began) / 1e3, details));
}

void hirc_trace_end(void) {
  if (file >= 0) {
    close(file);
    file = -1;
  }
}
