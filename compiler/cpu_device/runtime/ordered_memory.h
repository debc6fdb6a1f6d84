// Stream-ordered memory: see ordered_memory.c.
#ifndef HIRC_ORDERED_MEMORY_H
#define HIRC_ORDERED_MEMORY_H

#include "stream.h"

// Gives memory freed in streams that have got past the call back to all.
void hirc_settle_frees(void);

// Allocates memory, if need be after waiting for what is enqueued to free some.
void *hirc_allocate_waiting(int memory, size_t bytes, unsigned flags);

// Forgets all frees: the memory has been freed otherwise.
void hirc_forget_frees(void);

#endif
