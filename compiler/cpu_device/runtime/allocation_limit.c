// How much device memory there is: HIRC_CPU_MEMORY (bytes, or with K, M or G), otherwise all that
// the machine has.

#include "allocation_limit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

// 0 if the text is no size.
static size_t parse(const char *text) {
  char *end;
  unsigned long long value = strtoull(text, &end, 10);
  if (end == text)
    return 0;
  switch (*end) {
  case 'k':
  case 'K':
    value <<= 10;
    break;
  case 'm':
  case 'M':
    value <<= 20;
    break;
  case 'g':
  case 'G':
    value <<= 30;
    break;
  default:
    break;
  }
  return (size_t)value;
}

size_t hirc_memory_limit(void) {
  static _Atomic size_t known;
  size_t limit = atomic_load_explicit(&known, memory_order_relaxed);
  if (limit != 0)
    return limit;
  const char *text = getenv("HIRC_CPU_MEMORY");
  limit = text ? parse(text) : 0;
  if (limit == 0)
    limit = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  atomic_store_explicit(&known, limit, memory_order_relaxed);
  return limit;
}
