// Times calls of the programs in allocation.mlir, and of the same integer code in C. Prints lines
// of a name and the seconds of each run. Arguments: runs, calls a run.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// DLTensor of the DLPack specification.
struct tensor {
  void *data;
  int32_t device, device_number, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t byte_offset;
};

int hirc_program_described(const struct tensor *const *inputs, struct tensor *const *outputs,
                           void *stream);
int hirc_program_many(const struct tensor *const *inputs, struct tensor *const *outputs,
                      void *stream);

// What the programs call of the CUDA runtime, as cheap as can be.
static char memory[64];
int cudaMallocAsync(void **address, size_t bytes, void *stream);
int cudaMallocAsync(void **address, size_t bytes, void *stream) {
  (void)bytes, (void)stream;
  *address = memory;
  return 0;
}
int cudaFreeAsync(void *address, void *stream);
int cudaFreeAsync(void *address, void *stream) {
  (void)stream;
  return address != memory;
}
int cudaMemsetAsync(void *start, int value, size_t bytes, void *stream);
int cudaMemsetAsync(void *start, int value, size_t bytes, void *stream) {
  (void)value, (void)bytes, (void)stream;
  return start != memory;
}
int cudaGetDevice(int *device);
int cudaGetDevice(int *device) {
  *device = 0;
  return 0;
}
// Everything else is called at the first call of all, or never.
#define STUB(name)                                                                                 \
  int name(void);                                                                                  \
  int name(void) { return 0; }
STUB(cudaDeviceGetDefaultMemPool)
STUB(cudaMemPoolSetAttribute)
STUB(cudaDeviceGetAttribute)
STUB(cudaGetDeviceCount)
STUB(cudaSetDevice)
STUB(cudaDeviceSynchronize)
STUB(cudaDriverGetVersion)
STUB(cudaRuntimeGetVersion)
STUB(cudaFree)
STUB(cudaFreeHost)
STUB(cudaGetErrorName)
STUB(cudaGetLastError)
STUB(cudaGetErrorString)
STUB(cudaMallocHost)
STUB(cudaMallocManaged)
STUB(cudaMemset2DAsync)
STUB(cudaPointerGetAttributes)
STUB(cudaStreamSynchronize)

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t at_least_one(int64_t a) { return a > 1 ? a : 1; }

// The code of `described`, without any check.
__attribute__((noinline)) static int by_hand(const int64_t *n, struct tensor *y) {
  int64_t channels = 32 * up(n[1], 32);
  int64_t bytes = 4 * up(n[0], 4) * 4 * n[2] * n[3] * channels;
  int64_t row = 32 * up(at_least_one(n[1]), 32);
  for (int i = 0; i < 4; ++i)
    y->sizes[i] = n[i];
  y->strides[0] = at_least_one(n[2]) * at_least_one(n[3]) * row;
  y->strides[1] = 1;
  y->strides[2] = at_least_one(n[3]) * row;
  y->strides[3] = row;
  return cudaMallocAsync(&y->data, (size_t)bytes, NULL) |
         cudaMemsetAsync(y->data, 0, (size_t)bytes, NULL);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int64_t sizes[4] = {8, 100, 14, 14};
static int64_t out_sizes[4], out_strides[4];
static struct tensor scalars[4], output = {.rank = 4, .sizes = out_sizes, .strides = out_strides};

static double call_described(long calls) {
  const struct tensor *inputs[4] = {&scalars[0], &scalars[1], &scalars[2], &scalars[3]};
  struct tensor *outputs[1] = {&output};
  int failed = 0;
  double start = now();
  for (long i = 0; i < calls; ++i) {
    output.data = NULL;
    sizes[0] = i & 15;
    failed |= hirc_program_described(inputs, outputs, NULL);
  }
  double end = now();
  return failed ? -1 : end - start;
}

static double call_many(long calls) {
  const struct tensor *inputs[4] = {&scalars[0], &scalars[1], &scalars[2], &scalars[3]};
  sizes[0] = calls;
  double start = now();
  int failed = hirc_program_many(inputs, NULL, NULL);
  double end = now();
  return failed ? -1 : end - start;
}

static double call_by_hand(long calls) {
  int failed = 0;
  double start = now();
  for (long i = 0; i < calls; ++i) {
    sizes[0] = i & 15;
    failed |= by_hand(sizes, &output) | cudaFreeAsync(output.data, NULL);
  }
  double end = now();
  return failed ? -1 : end - start;
}

int main(int count, char **words) {
  static const char *const names[] = {"described", "many", "by_hand"};
  static double (*const calls[])(long) = {call_described, call_many, call_by_hand};
  enum { PROGRAMS = 3, MOST_RUNS = 64 };
  int runs = count > 1 ? atoi(words[1]) : 3;
  long repetitions = count > 2 ? atol(words[2]) : 1000000;
  for (int i = 0; i < 4; ++i)
    scalars[i] = (struct tensor){
        .data = &sizes[i], .device = 1, .code = 0, .bits = 64, .lanes = 1}; // kDLCPU, kDLInt
  // The program and the C give the same strides.
  int64_t found[4];
  call_described(6);
  for (int i = 0; i < 4; ++i)
    found[i] = out_strides[i];
  call_by_hand(6);
  for (int i = 0; i < 4; ++i)
    if (found[i] != out_strides[i])
      return 1;
  double all[PROGRAMS][MOST_RUNS];
  for (int run = 0; run < runs && run < MOST_RUNS; ++run)
    for (int program = 0; program < PROGRAMS; ++program)
      if ((all[program][run] = calls[program](repetitions)) < 0)
        return 1;
  for (int program = 0; program < PROGRAMS; ++program) {
    printf("%s", names[program]);
    for (int run = 0; run < runs && run < MOST_RUNS; ++run)
      printf(" %.12f", all[program][run] / (double)repetitions);
    putchar('\n');
  }
}
