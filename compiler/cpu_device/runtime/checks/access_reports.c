// What is wrong with an access, in words.

#include "block_state.h"
#include "checked_allocation.h"
#include "shadow.h"

enum { ILLEGAL_ADDRESS = 700, FIRST_PAGE = 4096 };

void hirc_report_add_place(struct hirc_report *report, const struct hirc_access *access) {
  const struct hirc_block *block = access->block;
  hirc_report_add(report, " in kernel %s", hirc_title(block->kernel));
  if (access->source != NULL && *access->source != '\0') {
    hirc_report_add(report, " at %s", access->source);
  }
  hirc_report_add_thread(report, block, access->thread);
}

static void add_bytes(struct hirc_report *report, size_t bytes) {
  hirc_report_add(report, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
}

// Where the first bad byte lies in relation to a variable of device code; false if near none.
static bool add_variable(struct hirc_report *report, const struct hirc_site_variable *variables,
                         const char *address) {
  enum { NEAR = 256 };
  const struct hirc_site_variable *best = NULL;
  for (const struct hirc_site_variable *it = variables; it->address != NULL; it++) {
    const char *end = it->address + it->bytes;
    if (address >= end && address - end < NEAR &&
        (best == NULL || end > best->address + best->bytes)) {
      best = it;
    }
  }
  if (best != NULL) {
    hirc_report_add(report, "is %zu bytes after the variable %s of ",
                    (size_t)(address - best->address - best->bytes), best->name);
    add_bytes(report, best->bytes);
  }
  return best != NULL;
}

void hirc_report_add_shared(struct hirc_report *report, const struct hirc_block *block,
                            const char *address) {
  size_t offset = (size_t)(address - block->shared), static_bytes;
  const struct hirc_shared_variable *variable = block->kernel->shared_variables, *best = NULL;
  for (; variable != NULL && variable->name != NULL && variable->offset <= offset; variable++) {
    best = variable;
  }
  static_bytes = block->kernel->static_shared_bytes;
  const char *what = "shared memory of";
  size_t start = 0, bytes = static_bytes + block->dynamic_shared_bytes;
  if (best != NULL && (offset < static_bytes || block->dynamic_shared_bytes == 0)) {
    what = "shared variable";
    start = best->offset;
    bytes = best->bytes;
  } else if (offset >= static_bytes && static_bytes != 0) {
    what = "dynamic shared memory of";
    start = static_bytes;
    bytes = block->dynamic_shared_bytes;
  }
  if (offset < start + bytes) {
    hirc_report_add(report, "is at byte %zu of the block's %s ", offset - start, what);
  } else {
    hirc_report_add(report, "is %zu bytes after the block's %s ", offset - start - bytes, what);
  }
  if (best != NULL && start == best->offset && bytes == best->bytes) {
    hirc_report_add(report, "%s of ", best->name);
  }
  add_bytes(report, bytes);
}

static void add_address(struct hirc_report *report, const struct hirc_access *access,
                        const char *bad) {
  struct hirc_block *owner = hirc_checks_owner(access->block, bad);
  if (hirc_shadow_has(bad)) {
    hirc_checked_describe(report, bad);
    return;
  }
  hirc_report_add(report, "address 0x%llx ", (unsigned long long)(uintptr_t)bad);
  if (owner != NULL) {
    hirc_report_add_shared(report, owner, bad);
  } else if (access->space == HIRC_SPACE_SHARED) {
    hirc_report_add(report, "is not in the block's shared memory of ");
    add_bytes(report, hirc_checks_shared_bytes(access->block));
  } else if ((uintptr_t)bad < FIRST_PAGE) {
    hirc_report_add(report, "is a null pointer's");
  } else if (!add_variable(report, access->variables, bad) && !hirc_lent_describe(report, bad)) {
    hirc_report_add(report, "is not memory of the device (memory of the host must be copied or "
                            "registered)");
  }
}

static bool is_freed(const char *address) {
  const struct hirc_checked_block *block =
      hirc_shadow_has(address) ? hirc_checked_near(address) : NULL;
  return block != NULL && !block->live && address >= block->start &&
         address < block->start + block->bytes;
}

_Noreturn void hirc_report_illegal(const struct hirc_access *access, bool writes, const char *bad) {
  const char *action = writes ? "write" : "read";
  struct hirc_report report = {0};
  if (hirc_report_is_new(access->source, 0)) {
    hirc_report_add(&report, "%s%s of ", is_freed(bad) ? "use after free: " : "out-of-bounds ",
                    action);
    add_bytes(&report, access->bytes);
    hirc_report_add_place(&report, access);
    hirc_report_add(&report, ": ");
    add_address(&report, access, bad);
    hirc_report_write(&report);
  }
  hirc_device_abort(access->block, access->thread, ILLEGAL_ADDRESS);
}

void hirc_report_unwritten(const struct hirc_access *access, const char *first) {
  struct hirc_report report = {0};
  if (!hirc_report_is_new(access->source, 1)) {
    return;
  }
  hirc_report_add(&report, "read of memory that nothing wrote: ");
  add_bytes(&report, access->bytes);
  hirc_report_add_place(&report, access);
  hirc_report_add(&report, ": ");
  add_address(&report, access, first);
  hirc_report_write(&report);
}

void hirc_report_bad_free(const struct hirc_access *access) {
  struct hirc_report report = {0};
  hirc_report_add(&report, "free of what malloc did not return");
  hirc_report_add_place(&report, access);
  hirc_report_add(&report, ": ");
  add_address(&report, access, access->address);
  hirc_report_write(&report);
  hirc_device_abort(access->block, access->thread, ILLEGAL_ADDRESS);
}
