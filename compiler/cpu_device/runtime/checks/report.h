// What the checks found, in words: see report.c.
#ifndef HIRC_CHECKS_REPORT_H
#define HIRC_CHECKS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hirc_block;

// A text that is cut off where its room ends. Appending needs no heap: for signal handlers.
struct hirc_report {
  size_t used;
  char text[1500];
};

__attribute__((format(printf, 2, 3))) void hirc_report_add(struct hirc_report *report,
                                                           const char *format, ...);
// ", block (0,0,0) thread (31,0,0)"
void hirc_report_add_thread(struct hirc_report *report, const struct hirc_block *block,
                            uint32_t thread);

// Writes the text and a newline to stderr after "error: ", and lets the program end with status 1.
void hirc_report_write(struct hirc_report *report);

// False for a place that has been told about before, or once too many have.
bool hirc_report_is_new(const void *place, unsigned kind);

// Lets the program's end have the right status.
void hirc_report_install(void);
// The library is being unloaded: the program still ends with failure if it is to.
void hirc_report_leave(void);

// Whether anything was reported.
bool hirc_report_any(void);

#endif
