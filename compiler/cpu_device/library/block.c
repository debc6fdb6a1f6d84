// What needs the running block: address spaces, the cluster's memory, and sizes. Device code puts
// the block and the thread's number before the operation's own operands.
#include "device_library.h"

#include "../runtime/device_abi.h"

INLINE uint32_t shared_bytes(const struct hirc_block *block) {
  return block->kernel->static_shared_bytes + block->dynamic_shared_bytes;
}

INLINE bool is_in(const void *pointer, const char *start, uint64_t bytes) {
  return (uint64_t)((const char *)pointer - start) < bytes;
}

// The cluster's block whose shared memory an address lies in, or NULL.
INLINE const struct hirc_block *shared_owner(const struct hirc_block *block, const void *pointer) {
  if (is_in(pointer, block->shared, shared_bytes(block))) {
    return block;
  }
  for (uint32_t rank = 0; block->cluster != NULL && rank < block->blocks_in_cluster; rank++) {
    const struct hirc_block *other = block->cluster[rank];
    if (is_in(pointer, other->shared, shared_bytes(other))) {
      return other;
    }
  }
  return NULL;
}

// What a thread allocates lies in the block's frames, or on the stack of the host's thread.
INLINE bool is_local(const struct hirc_block *block, const void *pointer) {
  const uint64_t stack_bytes = UINT64_C(1) << 20;
  uint64_t frames = (uint64_t)block->kernel->frame_bytes * block->padded_threads;
  const char *frame = __builtin_frame_address(0);
  return is_in(pointer, block->frames, frames) ||
         is_in(pointer, frame - stack_bytes, 2 * stack_bytes);
}

DEVICE bool hirc_nvvm_isspacep_shared(struct hirc_block *block, uint32_t thread, void *pointer) {
  (void)thread;
  return is_in(pointer, block->shared, shared_bytes(block));
}

DEVICE bool hirc_nvvm_isspacep_shared_cluster(struct hirc_block *block, uint32_t thread,
                                              void *pointer) {
  (void)thread;
  return shared_owner(block, pointer) != NULL;
}

DEVICE bool hirc_nvvm_isspacep_local(struct hirc_block *block, uint32_t thread, void *pointer) {
  (void)thread;
  return is_local(block, pointer);
}

DEVICE bool hirc_nvvm_isspacep_global(struct hirc_block *block, uint32_t thread, void *pointer) {
  (void)thread;
  return shared_owner(block, pointer) == NULL && !is_local(block, pointer);
}

// The rank of the block whose shared memory an address lies in.
DEVICE uint32_t hirc_nvvm_getctarank(struct hirc_block *block, uint32_t thread, void *pointer) {
  (void)thread;
  const struct hirc_block *owner = shared_owner(block, pointer);
  return owner != NULL ? owner->rank_in_cluster : block->rank_in_cluster;
}

DEVICE uint32_t hirc_nvvm_getctarank_shared_cluster(struct hirc_block *block, uint32_t thread,
                                                    void *pointer) {
  return hirc_nvvm_getctarank(block, thread, pointer);
}

// The address in another block's shared memory that corresponds to one in shared memory.
DEVICE void *hirc_nvvm_mapa(struct hirc_block *block, uint32_t thread, void *pointer,
                            uint32_t rank) {
  (void)thread;
  const struct hirc_block *owner = shared_owner(block, pointer);
  if (owner == NULL || block->cluster == NULL || rank >= block->blocks_in_cluster) {
    return pointer;
  }
  return block->cluster[rank]->shared + ((char *)pointer - owner->shared);
}

DEVICE void *hirc_nvvm_mapa_shared_cluster(struct hirc_block *block, uint32_t thread,
                                           void *pointer, uint32_t rank) {
  return hirc_nvvm_mapa(block, thread, pointer, rank);
}

DEVICE uint32_t hirc_nvvm_read_ptx_sreg_total_smem_size(struct hirc_block *block,
                                                        uint32_t thread) {
  (void)thread;
  return shared_bytes(block);
}

DEVICE uint32_t hirc_nvvm_read_ptx_sreg_aggr_smem_size(struct hirc_block *block, uint32_t thread) {
  (void)thread;
  return shared_bytes(block);
}

DEVICE bool hirc_nvvm_is_explicit_cluster(struct hirc_block *block, uint32_t thread) {
  (void)thread;
  return block->blocks_in_cluster > 1 || block->kernel->required_cluster.x != 0;
}
