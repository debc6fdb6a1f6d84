// How much device memory there is: HIRC_CPU_MEMORY (bytes, or with K, M or G), otherwise all that
// the machine has and the process's control group allows.

#include "allocation_limit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// 0 if the text is no size.
static size_t parse(const char *text) {
  char *end;
  unsigned long long value = strtoull(text, &end, 10);
  unsigned shift = *end == 'k' || *end == 'K'   ? 10
                   : *end == 'm' || *end == 'M' ? 20
                   : *end == 'g' || *end == 'G' ? 30
                                                : 0;
  if (end == text || end[shift != 0] != 0)
    return 0;
  return (size_t)value << shift;
}

// The number in a control group's file; SIZE_MAX where there is no such file, or no limit in it.
static size_t read_limit(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    return SIZE_MAX;
  unsigned long long value;
  int count = fscanf(file, "%llu", &value);
  fclose(file);
  return count == 1 ? (size_t)value : SIZE_MAX;
}

static size_t machine_memory(void) {
  size_t limit = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  // As a container sees its own group: cgroup v2, then v1.
  static const char *const files[] = {"/sys/fs/cgroup/memory.max",
                                      "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    size_t allowed = read_limit(files[i]);
    if (allowed != 0 && allowed < limit)
      limit = allowed;
  }
  return limit;
}

size_t hirc_memory_limit(void) {
  static _Atomic size_t known;
  size_t limit = atomic_load_explicit(&known, memory_order_relaxed);
  if (limit != 0)
    return limit;
  const char *text = getenv("HIRC_CPU_MEMORY");
  limit = text ? parse(text) : 0;
  if (limit == 0) {
    limit = machine_memory();
    if (text && *text)
      fprintf(stderr, "warning: HIRC_CPU_MEMORY=%s is no size (8G, 512M); taking all memory\n",
              text);
  }
  atomic_store_explicit(&known, limit, memory_order_relaxed);
  return limit;
}
