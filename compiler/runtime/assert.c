// A failed assertion of host code. Free of CUDA: programs without a GPU op use it too.

#include "hirc_runtime.h"

#include <stdio.h>
#include <stdlib.h>

// Reports `message` and aborts. abort() itself flushes nothing, and what the program had printed
// into a pipe or a file would be lost.
__attribute__((cold, noinline)) _Noreturn void hirc_assert_failed(const char *message,
                                                                  const char *location) {
  int located = location && location[0];
  fflush(stdout);
  fprintf(stderr, "%s%serror: assertion failed: %s\n", located ? location : "",
          located ? ": " : "", message);
  fflush(NULL);
  abort();
}
