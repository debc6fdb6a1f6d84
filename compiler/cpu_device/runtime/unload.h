// Unloading the library that this runtime is part of: see unload.c.
#ifndef HIRC_UNLOAD_H
#define HIRC_UNLOAD_H

#include <stdbool.h>

// Whether the library is being unloaded while the process goes on.
bool hirc_is_unloaded(void);

#endif
