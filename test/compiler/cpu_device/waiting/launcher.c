// Launches the kernels that the arguments name, KERNEL:STREAM:BLOCKS:THREADS each, with one array
// of zeros; `host:STREAM` is a function of the host that sets the first element after a while.
// Waits for the first one's stream, then for all, and returns 1 where that fails.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct extent {
  unsigned x, y, z;
};

void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaStreamCreate(void **);
int cudaLaunchKernel(const void *, struct extent, struct extent, void **, size_t, void *);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaStreamSynchronize(void *);
int cudaDeviceSynchronize(void);
const char *cudaGetErrorName(int);

enum { STREAMS = 4, ELEMENTS = 1024, PAUSE = 1600000 };

static void set_late(void *data) {
  usleep(PAUSE);
  *(volatile int *)data = 1;
}

static int check(int error) {
  if (error)
    puts(cudaGetErrorName(error));
  fflush(stdout);
  return error != 0;
}

int main(int count, char **arguments) {
  void *streams[STREAMS], *data;
  int first = -1;
  if (check(cudaMallocManaged(&data, ELEMENTS * sizeof(int), 1)))
    return 2;
  memset(data, 0, ELEMENTS * sizeof(int));
  for (int i = 0; i < STREAMS; ++i)
    check(cudaStreamCreate(&streams[i]));
  for (int i = 1; i < count; ++i) {
    static char names[16][64];
    unsigned stream, blocks = 1, threads = 1;
    if (sscanf(arguments[i], "%63[^:]:%u:%u:%u", names[i], &stream, &blocks, &threads) < 2)
      return 2;
    if (first < 0)
      first = (int)stream;
    void *passed[] = {&data};
    if (!strcmp(names[i], "host")) {
      check(cudaLaunchHostFunc(streams[stream], set_late, data));
      continue;
    }
    __cudaRegisterFunction(NULL, names[i], names[i], names[i], -1, NULL, NULL, NULL, NULL, NULL);
    check(cudaLaunchKernel(names[i], (struct extent){blocks, 1, 1}, (struct extent){threads, 1, 1},
                           passed, 0, streams[stream]));
  }
  int failed = check(cudaStreamSynchronize(streams[first]));
  failed |= check(cudaDeviceSynchronize());
  return failed;
}
