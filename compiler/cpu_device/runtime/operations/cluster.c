// Shared memory of the other blocks of a cluster: addresses are the host's own, so that of another
// block is as far from its beginning as one of ours is from ours.

#include "cluster.h"

#include "operations.h"

uint32_t hirc_block_of(const struct hirc_block *block, const void *address) {
  uint32_t found = block->rank_in_cluster;
  if (!block->cluster)
    return found;
  // Blocks' shared memories do not overlap: the last that begins before the address holds it.
  const char *nearest = NULL;
  for (uint32_t rank = 0; rank < block->blocks_in_cluster; ++rank) {
    const char *start = block->cluster[rank]->shared;
    if (start <= (const char *)address && start >= nearest) {
      nearest = start;
      found = rank;
    }
  }
  return found;
}

void *hirc_in_block(const struct hirc_block *block, const void *address, uint32_t rank) {
  if (!block->cluster || rank >= block->blocks_in_cluster)
    return (void *)(uintptr_t)address;
  const struct hirc_block *owner = block->cluster[hirc_block_of(block, address)];
  return block->cluster[rank]->shared + ((const char *)address - owner->shared);
}

void *hirc_map_shared_rank(struct hirc_block *block, uint32_t thread, void *address,
                           uint32_t rank) {
  (void)thread;
  return hirc_in_block(block, address, rank);
}

uint32_t hirc_shared_rank(struct hirc_block *block, uint32_t thread, void *address) {
  (void)thread;
  return hirc_block_of(block, address);
}
