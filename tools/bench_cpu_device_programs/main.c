// Times the launches of kernels.mlir against plain C loops on the same data. Prints one line a
// measurement: its name, then seconds of each repetition.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ELEMENTS = 1 << 24, LAUNCHES = 10000, BLOCK = 256, MAX_THREADS = 256 };

int cudaMalloc(void **pointer, size_t bytes);

// A memref<?xf32> is passed as its descriptor's fields.
#define MEMREF float *, float *, int64_t, int64_t, int64_t
#define PASS(pointer, size) pointer, pointer, 0, size, 1
void empty_queued(int64_t count);
void empty_waited(int64_t count);
void saxpy(float a, MEMREF, MEMREF);
void block_sums(MEMREF, MEMREF);

static float *x, *y, *sums;
static int thread_count;
static volatile float sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

__attribute__((noinline)) static void saxpy_loop(float a, const float *restrict from,
                                                 float *restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = a * from[i] + to[i];
}

static void *saxpy_part(void *argument) {
  int64_t part = (int64_t)(intptr_t)argument;
  int64_t first = ELEMENTS * part / thread_count, last = ELEMENTS * (part + 1) / thread_count;
  saxpy_loop(2.0f, x + first, y + first, last - first);
  return NULL;
}

// One thread fewer than asked for is started: the caller takes a part too.
static void saxpy_threads(void) {
  pthread_t threads[MAX_THREADS];
  for (int i = 1; i < thread_count; ++i)
    pthread_create(&threads[i], NULL, saxpy_part, (void *)(intptr_t)i);
  saxpy_part(NULL);
  for (int i = 1; i < thread_count; ++i)
    pthread_join(threads[i], NULL);
}

// The block reduction as a serial program has it: one sum after the other.
__attribute__((noinline)) static void block_sums_loop(void) {
  for (int64_t block = 0; block < ELEMENTS / BLOCK; ++block) {
    float sum = 0;
    for (int64_t i = 0; i < BLOCK; ++i)
      sum += x[block * BLOCK + i];
    sums[block] = sum;
  }
}

static void run_empty_queued(void) { empty_queued(LAUNCHES); }
static void run_empty_waited(void) { empty_waited(LAUNCHES); }
static void run_saxpy(void) { saxpy(2.0f, PASS(x, ELEMENTS), PASS(y, ELEMENTS)); }
static void run_block_sums(void) {
  block_sums(PASS(x, ELEMENTS), PASS(sums, ELEMENTS / BLOCK));
}

static const struct {
  const char *name;
  void (*run)(void);
} measurements[] = {
    {"empty_queued", run_empty_queued}, {"empty_waited", run_empty_waited},
    {"saxpy", run_saxpy},               {"saxpy_loop", saxpy_threads},
    {"block_sums", run_block_sums},     {"block_sums_loop", block_sums_loop},
};
enum { MEASUREMENTS = sizeof measurements / sizeof *measurements };

int main(int count, char **arguments) {
  int repetitions = count > 1 ? atoi(arguments[1]) : 9;
  thread_count = count > 2 ? atoi(arguments[2]) : 1;
  if (thread_count < 1 || thread_count > MAX_THREADS)
    return 2;
  cudaMalloc((void **)&x, ELEMENTS * sizeof *x);
  cudaMalloc((void **)&y, ELEMENTS * sizeof *y);
  cudaMalloc((void **)&sums, ELEMENTS / BLOCK * sizeof *sums);
  for (int64_t i = 0; i < ELEMENTS; ++i) {
    x[i] = (float)(i % 17);
    y[i] = 0;
  }
  double *seconds = calloc((size_t)(MEASUREMENTS * repetitions), sizeof *seconds);
  // In turn, so that what disturbs the machine disturbs all alike; the first round warms up.
  for (int turn = -1; turn < repetitions; ++turn)
    for (int i = 0; i < MEASUREMENTS; ++i) {
      double start = now();
      measurements[i].run();
      if (turn >= 0)
        seconds[i * repetitions + turn] = now() - start;
    }
  sink = y[ELEMENTS - 1] + sums[0];
  for (int i = 0; i < MEASUREMENTS; ++i) {
    printf("%s", measurements[i].name);
    for (int turn = 0; turn < repetitions; ++turn)
      printf(" %.9f", seconds[i * repetitions + turn]);
    printf("\n");
  }
  return 0;
}
