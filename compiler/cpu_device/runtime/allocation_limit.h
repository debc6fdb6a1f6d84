// How much device memory there is.
#ifndef HIRC_ALLOCATION_LIMIT_H
#define HIRC_ALLOCATION_LIMIT_H

#include <stddef.h>

// Bytes; the same for the whole life of the process.
size_t hirc_memory_limit(void);

#endif
