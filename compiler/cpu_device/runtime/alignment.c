#include "alignment.h"

#include "checks/block_state.h"
#include "checks/report.h"

enum { MISALIGNED_ADDRESS = 716 };

void hirc_need_alignment(struct hirc_block *block, uint32_t thread, const char *what,
                         const void *shared, uint32_t needed) {
  if ((uintptr_t)shared % needed == 0)
    return;
  struct hirc_report report = {0};
  size_t offset = (size_t)((const char *)shared - block->shared);
  size_t bytes = (size_t)block->kernel->static_shared_bytes + block->dynamic_shared_bytes;
  hirc_report_add(&report, "%s at a misaligned address: it ", what);
  if (offset < bytes)
    hirc_report_add_shared(&report, block, shared);
  else
    hirc_report_add(&report, "is 0x%llx", (unsigned long long)(uintptr_t)shared);
  hirc_report_add(&report, ", and must be at a multiple of %u,", needed);
  hirc_device_fail(block, thread, MISALIGNED_ADDRESS, report.text);
}
