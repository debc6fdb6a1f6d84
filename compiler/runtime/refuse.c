// A value that a host program cannot go on with. Free of CUDA.

#include "failure.h"
#include "hirc_runtime.h"

// Fails with a message. `format` is printf's, with %lld for the first number, and another one for
// the second, where it shows them.
__attribute__((cold, noinline)) _Noreturn void
hirc_refuse(const char *format, int64_t first, int64_t second, const char *location) {
  hirc_error_begin(location);
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
#pragma clang diagnostic ignored "-Wformat-security"
  hirc_error_add(format, (long long)first, (long long)second);
#pragma clang diagnostic pop
  hirc_fail(hirc_end_program);
}
