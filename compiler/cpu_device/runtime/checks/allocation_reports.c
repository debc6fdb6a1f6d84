// Allocations in words.

#include "checked_allocation.h"

static const char *call_of(const struct hirc_checked_block *block) {
  switch (block->memory) {
  case HIRC_MEMORY_MANAGED:
    return "cudaMallocManaged";
  case HIRC_MEMORY_HOST:
    return "cudaMallocHost";
  case HIRC_MEMORY_ORDERED:
    return "cudaMallocAsync";
  case HIRC_MEMORY_HEAP:
    return "malloc in a kernel";
  default:
    return "cudaMalloc";
  }
}

void hirc_checked_describe_block(struct hirc_report *report,
                                 const struct hirc_checked_block *block) {
  hirc_report_add(report, "%s of %zu byte%s (%s", block->live && !block->retired
                                                     ? "an allocation"
                                                     : "a freed allocation",
                  block->bytes, block->bytes == 1 ? "" : "s", call_of(block));
  if (block->number != 0) {
    hirc_report_add(report, ", the program's allocation %u", block->number);
  }
  hirc_report_add(report, ")");
}

void hirc_checked_describe(struct hirc_report *report, const void *address) {
  hirc_report_add(report, "address 0x%llx ", (unsigned long long)(uintptr_t)address);
  const struct hirc_checked_block *block = hirc_checked_near(address);
  if (block == NULL) {
    hirc_report_add(report, "is in no allocation");
    return;
  }
  const char *at = address, *end = block->start + block->bytes;
  if (at < block->start) {
    hirc_report_add(report, "is %zu bytes before ", (size_t)(block->start - at));
  } else if (at >= end) {
    hirc_report_add(report, "is %zu bytes after ", (size_t)(at - end));
  } else {
    hirc_report_add(report, "is at byte %zu of ", (size_t)(at - block->start));
  }
  hirc_checked_describe_block(report, block);
}
