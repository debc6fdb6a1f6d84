// How a command ends when something is wrong, and memory that cannot be missing.

#include "command.h"
#include "failure.h"
#include "hirc_runtime.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *command = "program";

void hirc_command_name(const char *path) {
  const char *slash = path ? strrchr(path, '/') : NULL;
  if (path && path[0])
    command = slash ? slash + 1 : path;
}

// Ends the command before the program has run.
void hirc_command_fail(int status, const char *format, ...) {
  fflush(stdout);
  fprintf(stderr, "%s: error: ", command);
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  if (status == HIRC_EXIT_USAGE)
    fprintf(stderr, "%s: note: --help lists the inputs, the outputs and what can be said of them\n",
            command);
  exit(status);
}

// Ends the command where the status is not 0, and there is a message.
void hirc_command_require(int status) {
  if (status == HIRC_FAILED)
    hirc_error()->end();
  if (status != 0)
    hirc_command_fail(HIRC_EXIT_INPUT, "%s", hirc_error_text());
}

// Ends the command where what it printed was not written.
void hirc_command_printed(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  // Where SIGPIPE is ignored, the command ends as by that signal: who reads has seen enough.
  if (errno == EPIPE)
    exit(128 + SIGPIPE);
  hirc_command_fail(HIRC_EXIT_INPUT, "cannot write to the standard output: %s", strerror(errno));
}

// Zeroed memory of the host.
void *hirc_command_memory(int64_t count, int64_t bytes_each) {
  void *memory = calloc(count > 0 ? (size_t)count : 1, (size_t)bytes_each);
  if (!memory)
    hirc_command_fail(HIRC_EXIT_INPUT, "there is no memory for %lld bytes",
                      (long long)count * (long long)bytes_each);
  return memory;
}

int64_t hirc_count_of(const struct hirc_array *array) {
  int64_t count = 1;
  for (int64_t axis = 0; axis < array->rank; ++axis)
    count *= array->sizes[axis];
  return count;
}
