// Allocations of a checked program: what allocation.h offers, and more about each. See
// checked_allocation.c.
#ifndef HIRC_CHECKS_ALLOCATION_H
#define HIRC_CHECKS_ALLOCATION_H

#include "../allocation.h"
#include "report.h"

// Memory of device code's own malloc, in addition to enum hirc_memory.
enum { HIRC_MEMORY_HEAP = 64 };

// What the host may do with memory that it can access, while work that uses it is pending.
enum hirc_held { HIRC_HELD_NOT, HIRC_HELD_FROM_WRITING, HIRC_HELD };

struct hirc_checked_block {
  char *start;
  size_t bytes;    // as requested
  size_t room;     // up to the next block
  unsigned memory; // what it was allocated as
  unsigned flags;
  unsigned number; // counts the program's allocations
  bool live;
  bool retired;
  uint8_t held; // enum hirc_held
  struct hirc_checked_block *next; // in quarantine, then among the free
};

void *hirc_checked_create(unsigned memory, size_t bytes, unsigned flags);
bool hirc_checked_register(void *start, size_t bytes, unsigned flags);
bool hirc_checked_free(void *start, unsigned memory);
bool hirc_checked_retire(void *start);
bool hirc_checked_find(const void *address, struct hirc_allocation *found);
void hirc_checked_usage(struct hirc_memory_usage *usage);
void hirc_checked_reset_high(void);
void hirc_checked_free_all(unsigned memory);

// The bytes from the address on in memory that a library's caller brought along; 0: it lies in none.
size_t hirc_lent_from(const void *address);
// "is 4 bytes after a tensor of 32 bytes that the library was called with": false if none is near.
bool hirc_lent_describe(struct hirc_report *report, const void *address);

// Lets the memory of the device be accessed, or no more.
void hirc_checked_protect(bool accessible);
// Calls the function for each live block that the host may access; blocks do not change meanwhile.
void hirc_checked_for_each_shared(void (*function)(struct hirc_checked_block *block));

// The block whose room the address lies in, or that begins shortly after it, live or not; NULL if
// there is none. The answer is for messages: it may be outdated.
const struct hirc_checked_block *hirc_checked_near(const void *address);
// "address 0x... is 0 bytes after an allocation of 1024 bytes (cudaMalloc, ...)".
void hirc_checked_describe(struct hirc_report *report, const void *address);
// "an allocation of 1024 bytes (cudaMalloc, the program's allocation 2)".
void hirc_checked_describe_block(struct hirc_report *report,
                                 const struct hirc_checked_block *block);

#endif
