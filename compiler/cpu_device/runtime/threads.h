// How the pool's threads are made: see threads.c.
#ifndef HIRC_THREADS_H
#define HIRC_THREADS_H

#include <pthread.h>
#include <stdbool.h>

// As many as HIRC_CPU_THREADS says, or as this process may use processors; at least 1.
unsigned hirc_threads_wanted(void);

// Starts a thread for device code, to be joined; false if the system has none.
bool hirc_thread_start(void *(*main)(void *), pthread_t *thread);

#endif
