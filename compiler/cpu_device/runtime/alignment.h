#ifndef HIRC_ALIGNMENT_H
#define HIRC_ALIGNMENT_H

#include "device_abi.h"

// Ends the kernel, as a GPU does, where an operation's address in shared memory is no multiple of
// `needed` bytes. `what` is for the message: "a TMA copy".
void hirc_need_alignment(struct hirc_block *block, uint32_t thread, const char *what,
                         const void *shared, uint32_t needed);

#endif
