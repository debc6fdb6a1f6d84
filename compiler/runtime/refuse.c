// A value that a host program cannot go on with. Free of CUDA.

#include "hirc_runtime.h"

#include <stdio.h>
#include <unistd.h>

// Reports a message and ends the program with status 1. `format` is printf's, with %lld for the
// first number, and another one for the second, where it shows them.
__attribute__((cold, noinline)) _Noreturn void
hirc_refuse(const char *format, int64_t first, int64_t second, const char *location) {
  int located = location && location[0];
  fflush(stdout);
  fprintf(stderr, "%s%serror: ", located ? location : "", located ? ": " : "");
  fprintf(stderr, format, (long long)first, (long long)second);
  fputc('\n', stderr);
  fflush(NULL);
  _exit(1);
}
