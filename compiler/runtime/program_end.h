// What the end of a program waits for: set by the first use of the device, one a linked file.
#ifndef HIRC_PROGRAM_END_H
#define HIRC_PROGRAM_END_H

typedef void wait_function(const char *location);

extern __attribute__((visibility("hidden"))) wait_function *hirc_state_wait_at_end_1;

// What frees memory that was kept for later calls, once the device is done; set by its first use.
extern __attribute__((visibility("hidden"))) wait_function *hirc_state_free_at_end_1;

#endif
