// What launches and barriers cost, in nanoseconds: a table for people.
#include "kernels.h"
#include "pool.h"

#include <time.h>

REGION(nothing) { return HIRC_STATE_END; }

enum { BARRIERS = 1000 };

REGION(count_from_0) {
  for EACH(thread) {
    U32(frames, 0, thread) = 0;
    at_barrier(block, thread, 0, 0);
  }
  return 1;
}

REGION(count_on) {
  for EACH(thread) {
    at_barrier(block, thread, 0, 0);
    block->next[thread] = ++U32(frames, 0, thread) < BARRIERS ? 1 : HIRC_STATE_END;
  }
  return ends(block, first, last);
}

static hirc_region *const empty_regions[] = {nothing}, *const count_regions[] = {count_from_0,
                                                                                 count_on};
static const struct hirc_stop count_stops[] = {{0}, BARRIER_AT("")};

static void measure(const char *what, const struct hirc_kernel *kernel, uint32_t blocks,
                    uint32_t threads, unsigned rounds, double divisor) {
  double best = 1e30;
  for (unsigned repeat = 0; repeat < 5; repeat++) {
    uint64_t start = hirc_nanoseconds();
    for (unsigned round = 0; round < rounds; round++) {
      CHECK(launch(kernel, blocks, threads, NULL) == 0);
    }
    double time = (double)(hirc_nanoseconds() - start) / rounds / divisor;
    best = time < best ? time : best;
  }
  printf("%-48s %10.2f ns\n", what, best);
}

int main(void) {
  struct hirc_kernel empty = KERNEL("empty", empty_regions, NULL, 0);
  struct hirc_kernel count = KERNEL("count", count_regions, count_stops, 0);
  measure("launch, 1 block of 1 thread", &empty, 1, 1, 100000, 1);
  measure("launch, 1 block of 1024 threads", &empty, 1, 1024, 100000, 1);
  measure("launch, 2 blocks of 1 thread", &empty, 2, 1, 10000, 1);
  measure("block of a launch of 65,535", &empty, 65535, 1, 20, 65535);
  measure("thread at a barrier, 256 threads, whole", &count, 1, 256, 2, 256. * BARRIERS);
  count.flags = HIRC_KERNEL_WARP_STOPS;
  measure("thread at a barrier, 256 threads, by warps", &count, 1, 256, 2, 256. * BARRIERS);
  return 0;
}
