// The limit of device code's own heap, for cudaDeviceSetLimit and cudaDeviceGetLimit.
#ifndef HIRC_DEVICE_HEAP_H
#define HIRC_DEVICE_HEAP_H

#include <stdint.h>

void hirc_device_heap_set_limit(uint64_t bytes);
uint64_t hirc_device_heap_limit(void);

#endif
