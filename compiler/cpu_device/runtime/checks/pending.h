// Work that nobody has waited for yet: see pending.c.
#ifndef HIRC_CHECKS_PENDING_H
#define HIRC_CHECKS_PENDING_H

#include "report.h"

void hirc_pending_install(void);

struct hirc_checked_block;

// ", which kernel K (source) in stream 3 uses: it was never waited for", or nothing.
void hirc_pending_describe_user(struct hirc_report *report, const struct hirc_checked_block *block);

#endif
