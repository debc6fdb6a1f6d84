#ifndef HIRC_OPERATIONS_CLUSTER_H
#define HIRC_OPERATIONS_CLUSTER_H

#include "../device_abi.h"

// The rank of the block whose shared memory holds an address.
uint32_t hirc_block_of(const struct hirc_block *block, const void *address);

// The same variable in the shared memory of the cluster's block `rank`.
void *hirc_in_block(const struct hirc_block *block, const void *address, uint32_t rank);

#endif
