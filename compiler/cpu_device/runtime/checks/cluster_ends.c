// Blocks of a cluster that may end before others access their shared memory.
//
// An access to another block's shared memory, an arrival at an mbarrier or a copy, takes its time.
// Nothing keeps that memory until then but what the block waits for: the phase of an mbarrier that
// tells of the access, or after it a barrier of the cluster, at which a relaxed arrival orders
// nothing. On a GPU the block may have gone, and the kernel fails now and then.
//
// Whatever can order a block's end after an access is taken to do so: all that other blocks did
// before an arrival that is seen, and all that a block did before any of its threads released it.

#include "block_state.h"

#include <stdlib.h>
#include <string.h>

// An access to a block's shared memory by another block, which nothing has ordered yet.
struct hirc_remote_access {
  struct hirc_access from; // of no bytes: an arrival at an mbarrier
  bool is_told;            // something was released since
};

// Forgets some of the accesses to a block's memory.
static void forget(struct hirc_block_checks *checks, uint32_t first, uint32_t count) {
  checks->remote_count -= count;
  memmove(checks->remote + first, checks->remote + first + count,
          (checks->remote_count - first) * sizeof *checks->remote);
}

static void report(const struct hirc_block *block, const struct hirc_access *from) {
  uintptr_t pair = (uintptr_t)from->source * 31 ^ (uintptr_t)block->kernel;
  struct hirc_report report = {0};
  if (!hirc_report_is_new((const void *)pair, 5)) {
    return;
  }
  hirc_report_add(&report, "race: access to the shared memory of another block of the cluster");
  hirc_report_add_place(&report, from);
  hirc_report_add(&report,
                  ", and the end of block (%u,%u,%u) with nothing that orders them: ",
                  block->index.x, block->index.y, block->index.z);
  hirc_report_add(&report, "address 0x%llx ", (unsigned long long)(uintptr_t)from->address);
  hirc_report_add_shared(&report, block, from->address);
  hirc_report_write(&report);
}

// Of each place in the source the last is enough, and the last arrival at each mbarrier.
static bool is_repeated(const struct hirc_access *one, const struct hirc_access *other) {
  return one->block == other->block && one->source == other->source && one->bytes == other->bytes &&
         (one->bytes != 0 || one->address == other->address);
}

void hirc_remote_accessed(const struct hirc_access *access) {
  if (access->block->blocks_in_cluster < 2) {
    return;
  }
  struct hirc_block *owner = hirc_checks_owner(access->block, access->address);
  if (owner == NULL || owner == access->block) {
    return;
  }
  if (((struct hirc_running_block *)owner)->ended == owner->threads) {
    report(owner, access);
    return;
  }
  struct hirc_block_checks *checks = hirc_checks_of(owner);
  for (uint32_t i = checks->remote_count; i-- > 0;) {
    if (is_repeated(access, &checks->remote[i].from)) {
      forget(checks, i, 1);
      break;
    }
  }
  if (checks->remote_count == checks->remote_room) {
    checks->remote_room = checks->remote_room != 0 ? 2 * checks->remote_room : 64;
    checks->remote = realloc(checks->remote, checks->remote_room * sizeof *checks->remote);
    if (checks->remote == NULL) {
      abort();
    }
  }
  checks->remote[checks->remote_count++] = (struct hirc_remote_access){.from = *access};
}

void hirc_remote_seen(const struct hirc_block *block, const void *object) {
  struct hirc_block_checks *checks = hirc_checks_of(block);
  for (uint32_t i = checks->remote_count; i-- > 0;) {
    if (checks->remote[i].from.address == object || checks->remote[i].is_told) {
      forget(checks, 0, i + 1);
      return;
    }
  }
}

// The thread releases to the cluster what it knows: a fence, or an arrival that is not relaxed.
void hirc_check_told(struct hirc_block *block, uint32_t thread, const struct hirc_site *site) {
  (void)thread;
  (void)site;
  for (uint32_t rank = 0; hirc_checks_race() && rank < block->blocks_in_cluster; rank++) {
    struct hirc_block_checks *checks = hirc_checks_of(block->cluster[rank]);
    for (uint32_t i = 0; i < checks->remote_count; i++) {
      checks->remote[i].is_told |= checks->remote[i].from.block == block;
    }
  }
}

void hirc_checks_cluster_met(struct hirc_block *block) {
  struct hirc_block_checks *checks = hirc_checks_of(block);
  for (uint32_t i = hirc_checks_race() ? checks->remote_count : 0; i-- > 0;) {
    if (checks->remote[i].is_told) {
      forget(checks, i, 1);
    }
  }
}

void hirc_checks_block_ended(struct hirc_block *block) {
  const struct hirc_block_checks *checks = hirc_checks_of(block);
  for (uint32_t i = 0; hirc_checks_race() && i < checks->remote_count; i++) {
    report(block, &checks->remote[i].from);
  }
}
