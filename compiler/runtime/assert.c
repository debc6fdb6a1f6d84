// A failed assertion of host code. Free of CUDA: programs without a GPU op use it too.

#include "failure.h"
#include "hirc_runtime.h"

#include <stdio.h>
#include <stdlib.h>

// abort() itself flushes nothing, and what the program had printed into a pipe or a file would be
// lost.
static void end_by_abort(void) {
  hirc_error_print();
  fflush(NULL);
  abort();
}

// Fails with `message`; a command is aborted.
__attribute__((cold, noinline)) _Noreturn void hirc_assert_failed(const char *message,
                                                                  const char *location) {
  hirc_error_begin(location);
  hirc_error_add("assertion failed: %s", message);
  hirc_fail(end_by_abort);
}
