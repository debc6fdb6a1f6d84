// Functions of NVIDIA's driver: see driver.c.
#ifndef HIRC_DRIVER_H
#define HIRC_DRIVER_H

#include <stdbool.h>

// Writes the pointer to the driver's function `name`, as CUDA 12 declares it, to `function`, a pointer
// to such a pointer. Returns false where the driver lacks it, and leaves no error behind.
bool hirc_driver_find(const char *name, void *function);

#endif
