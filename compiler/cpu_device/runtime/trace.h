// A trace of what streams do, for whoever asks by HIRC_TRACE=FILE. See trace.c.
#ifndef HIRC_TRACE_H
#define HIRC_TRACE_H

#include "stream.h"

// Whether somebody wants one.
bool hirc_traces(void);

// In nanoseconds, of CLOCK_MONOTONIC, which all processes have in common.
uint64_t hirc_trace_time(void);

// A stream has run a command, which began at that time.
void hirc_trace_command(struct hirc_stream *stream, const struct hirc_command *command,
                        uint64_t began);

// The library goes.
void hirc_trace_end(void);

#endif
