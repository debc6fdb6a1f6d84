// cp.async and cp.async.bulk without tensor maps (PTX ISA, "Asynchronous copy"). A copy is made at
// once, which is one of the times it may be made.

#include "../alignment.h"
#include "../checks/checks.h"
#include "cluster.h"
#include "operations.h"

#include <string.h>

enum { BULK_ALIGNMENT = 16 };

// Copies `from_bytes` and fills the rest of `bytes` with zeros.
void hirc_copy_async(void *to, const void *from, uint32_t bytes, uint32_t from_bytes) {
  if (from_bytes > bytes)
    from_bytes = bytes;
  hirc_checks_access(from, from_bytes, HIRC_CHECKED_READ);
  hirc_checks_access(to, bytes, HIRC_CHECKED_WRITE);
  if (from_bytes)
    memcpy(to, from, from_bytes);
  memset((char *)to + from_bytes, 0, bytes - from_bytes);
}

void hirc_copy_bulk(void *to, const void *from, uint32_t bytes) {
  hirc_checks_access(from, bytes, HIRC_CHECKED_READ);
  hirc_checks_access(to, bytes, HIRC_CHECKED_WRITE);
  memcpy(to, from, bytes);
}

// Copies to shared memory, of the blocks of `mask` where it is a multicast, and tells the mbarrier
// of each.
void hirc_copy_bulk_to_shared(struct hirc_block *block, uint32_t thread, void *to, void *barrier,
                              const void *from, uint32_t bytes, uint32_t mask, uint32_t multicast) {
  hirc_need_alignment(block, thread, "a bulk copy", to, BULK_ALIGNMENT);
  hirc_checks_access(from, bytes, HIRC_CHECKED_READ);
  if (!multicast) {
    hirc_checks_access(to, bytes, HIRC_CHECKED_WRITE);
    memcpy(to, from, bytes);
    hirc_mbarrier_complete_tx(barrier, bytes);
    return;
  }
  for (uint32_t rank = 0; rank < block->blocks_in_cluster; ++rank)
    if (mask >> rank & 1) {
      hirc_checks_access(hirc_in_block(block, to, rank), bytes, HIRC_CHECKED_WRITE);
      memcpy(hirc_in_block(block, to, rank), from, bytes);
      hirc_mbarrier_complete_tx(hirc_in_block(block, barrier, rank), bytes);
    }
}

// Bit i of the mask says whether byte i of each 16 is copied.
void hirc_copy_bulk_masked(void *to, const void *from, uint32_t bytes, uint32_t byte_mask) {
  for (uint32_t i = 0; i < bytes; ++i)
    if (byte_mask >> (i % 16) & 1) {
      hirc_checks_access((const char *)from + i, 1, HIRC_CHECKED_READ);
      hirc_checks_access((char *)to + i, 1, HIRC_CHECKED_WRITE);
      ((char *)to)[i] = ((const char *)from)[i];
    }
}

void hirc_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
