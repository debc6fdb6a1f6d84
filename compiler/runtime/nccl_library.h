// NCCL, loaded when a program first communicates.
#ifndef HIRC_NCCL_LIBRARY_H
#define HIRC_NCCL_LIBRARY_H

#include "nccl_abi.h"

// The library's functions. Fails, and says what to install, where it cannot be loaded.
const struct nccl *hirc_nccl(const char *location);

#endif
