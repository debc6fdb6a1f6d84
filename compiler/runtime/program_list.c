// The programs of a linked file.
//
// Every description's address is in a section of its own, whose ends the linker names after it.

#include "program.h"

#include <stddef.h>

__attribute__((weak, visibility("hidden"))) extern const struct hirc_program_info
    *const __start_hirc_listed[];
__attribute__((weak, visibility("hidden"))) extern const struct hirc_program_info
    *const __stop_hirc_listed[];

const struct hirc_program_info *const *hirc_program_list(int64_t *count) {
  *count = __stop_hirc_listed - __start_hirc_listed;
  return __start_hirc_listed;
}
