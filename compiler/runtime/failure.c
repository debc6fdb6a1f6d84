// The calling thread's last message. Free of CUDA.

#include "failure.h"
#include "hirc_runtime.h"
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// NULL until there is one. A pointer, because the thread-local memory of all libraries that a
// process opens has little room together.
__attribute__((weak, visibility("hidden"))) _Thread_local struct hirc_error *hirc_state_error_2;

static struct hirc_error no_memory = {.is_fixed = 1, .text = "no memory is left on the host"};

struct hirc_error *hirc_error(void) {
  struct hirc_error *error = hirc_state_error_2;
  if (error && !error->is_fixed)
    return error;
  error = calloc(1, sizeof *error);
  return hirc_state_error_2 = error ? error : &no_memory;
}

const char *hirc_error_text(void) { return hirc_state_error_2 ? hirc_state_error_2->text : ""; }

static void add(struct hirc_error *error, const char *format, va_list arguments) {
  if (error->is_fixed)
    return;
  size_t length = strlen(error->text);
  vsnprintf(error->text + length, HIRC_ERROR_BYTES - length, format, arguments);
  // Names from files and callers may contain control characters, which a terminal would interpret.
  for (char *each = error->text + length; *each; ++each)
    if (((unsigned char)*each < ' ' && *each != '\n' && *each != '\t') || *each == 0x7f)
      *each = '?';
}

static void clear(struct hirc_error *error) {
  if (!error->is_fixed)
    error->text[0] = 0;
  error->cuda = 0;
}

void hirc_error_add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(hirc_error(), format, arguments);
  va_end(arguments);
}

void hirc_error_begin(const char *location) {
  int located = location && location[0];
  clear(hirc_error());
  hirc_error_add("%s%serror: ", located ? location : "", located ? ": " : "");
}

// Keeps a message that is about no operation.
void hirc_error_say(const char *format, ...) {
  struct hirc_error *error = hirc_error();
  clear(error);
  va_list arguments;
  va_start(arguments, format);
  add(error, format, arguments);
  va_end(arguments);
}

void hirc_error_blame(int rc) { hirc_error()->cuda = rc; }

int hirc_error_status(void) {
  return hirc_state_error_2 && hirc_state_error_2->cuda ? HIRC_FAILED : HIRC_REFUSED;
}

void hirc_error_print(void) {
  fflush(stdout);
  fprintf(stderr, "%s\n", hirc_error_text());
}

void hirc_end_program(void) {
  hirc_error_print();
  fflush(NULL);
  _exit(1);
}
