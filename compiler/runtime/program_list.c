// The programs of a linked file.
//
// Every description's address is in a section of its own, whose ends the linker names after it. What
// is loaded without a linker (compiler/loader_code.py) gives its list.

#include "program.h"

#include <stddef.h>

__attribute__((weak, visibility("hidden"))) extern const struct hirc_program_info
    *const __start_hirc_listed[];
__attribute__((weak, visibility("hidden"))) extern const struct hirc_program_info
    *const __stop_hirc_listed[];

static const struct hirc_program_info *const *given;
static int64_t given_count;

// Called before anything else.
void hirc_program_list_give(const struct hirc_program_info *const *programs, int64_t count) {
  given = programs;
  given_count = count;
}

const struct hirc_program_info *const *hirc_program_list(int64_t *count) {
  if (given) {
    *count = given_count;
    return given;
  }
  *count = __stop_hirc_listed - __start_hirc_listed;
  return __start_hirc_listed;
}
