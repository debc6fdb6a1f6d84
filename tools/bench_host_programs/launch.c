// Times calls of the program in launch.mlir on a GPU, and launches of its kernel in C. Prints lines
// of a name and the host's seconds a call in each run. Arguments: runs, batches a run, PTX of the
// kernel.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ELEMENTS = 1024, THREADS = 256, BATCH = 200, PROGRAMS = 4, MOST_RUNS = 64 };

// DLTensor of the DLPack specification.
struct tensor {
  void *data;
  int32_t device, device_number, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t byte_offset;
};

int hirc_program_double(const struct tensor *const *inputs, struct tensor *const *outputs,
                        void *stream);

// Of the CUDA Runtime API.
struct extent {
  unsigned x, y, z;
};
int cudaMalloc(void **memory, size_t bytes);
int cudaMallocAsync(void **memory, size_t bytes, void *stream);
int cudaFreeAsync(void *memory, void *stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamSynchronize(void *stream);
int cudaLibraryLoadData(void **library, const void *code, void *jit, void **jit_values,
                        unsigned jit_count, void *options, void **option_values, unsigned count);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaLaunchKernel(const void *kernel, struct extent grid, struct extent block, void **arguments,
                     size_t shared_bytes, void *stream);

static void *stream, *kernel;
static float *x, *y;
static int64_t size = ELEMENTS, out_size, out_stride;
static struct tensor input, output;

static void require(int ok, const char *what) {
  if (ok)
    return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void launch(float *to) {
  int64_t zero = 0, one = 1;
  void *arguments[] = {&x, &x, &zero, &size, &one, &to, &to, &zero, &size, &one};
  struct extent grid = {ELEMENTS / THREADS, 1, 1}, block = {THREADS, 1, 1};
  require(cudaLaunchKernel(kernel, grid, block, arguments, 0, stream) == 0, "cudaLaunchKernel");
}

static void call(void *to) {
  const struct tensor *inputs[] = {&input};
  struct tensor *outputs[] = {&output};
  output.data = to;
  require(hirc_program_double(inputs, outputs, stream) == 0, "the program");
}

static void program(void) { call(y); }
static void allocating(void) {
  call(NULL);
  require(cudaFreeAsync(output.data, stream) == 0, "cudaFreeAsync");
}
static void launch_alone(void) { launch(y); }
static void launch_allocating(void) {
  void *memory = NULL;
  require(cudaMallocAsync(&memory, ELEMENTS * sizeof(float), stream) == 0, "cudaMallocAsync");
  launch(memory);
  require(cudaFreeAsync(memory, stream) == 0, "cudaFreeAsync");
}

// The queue of a stream is finite: the host waits for it between batches, off the clock.
static double seconds(void (*one)(void), long batches) {
  double total = 0;
  for (long batch = 0; batch < batches; ++batch) {
    double start = now();
    for (int i = 0; i < BATCH; ++i)
      one();
    total += now() - start;
    require(cudaStreamSynchronize(stream) == 0, "cudaStreamSynchronize");
  }
  return total / ((double)batches * BATCH);
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "rb");
  require(file != NULL, path);
  size_t room = 1 << 20;
  char *text = calloc(room, 1);
  require(text && fread(text, 1, room - 1, file) > 0, path);
  fclose(file);
  return text;
}

static void load_kernel(const char *path) {
  char name[256] = "", *code = read_text(path);
  const char *entry = strstr(code, ".entry ");
  require(entry && sscanf(entry, ".entry %255[^( ]", name) == 1, "finding the kernel");
  void *library = NULL;
  require(cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0) == 0,
          "cudaLibraryLoadData");
  require(cudaLibraryGetKernel(&kernel, library, name) == 0, "cudaLibraryGetKernel");
}

int main(int count, char **words) {
  static const char *const names[PROGRAMS] = {"program", "launch", "allocating",
                                              "launch_allocating"};
  static void (*const calls[PROGRAMS])(void) = {program, launch_alone, allocating,
                                                launch_allocating};
  require(count == 4, "needs runs, batches and PTX: the start");
  int runs = atoi(words[1]);
  long batches = atol(words[2]);
  require(cudaStreamCreateWithFlags(&stream, 1) == 0, "cudaStreamCreateWithFlags");
  require(cudaMalloc((void **)&x, sizeof(float) * ELEMENTS) == 0, "cudaMalloc");
  require(cudaMalloc((void **)&y, sizeof(float) * ELEMENTS) == 0, "cudaMalloc");
  load_kernel(words[3]);
  input = (struct tensor){.data = x, .device = 2, .rank = 1, .code = 2, .bits = 32, .lanes = 1};
  output = input;
  input.sizes = &size;
  output.sizes = &out_size;
  output.strides = &out_stride;
  out_size = ELEMENTS;
  out_stride = 1;
  double all[PROGRAMS][MOST_RUNS];
  for (int each = 0; each < PROGRAMS; ++each)
    seconds(calls[each], 2);
  for (int run = 0; run < runs && run < MOST_RUNS; ++run)
    for (int each = 0; each < PROGRAMS; ++each)
      all[each][run] = seconds(calls[each], batches);
  for (int each = 0; each < PROGRAMS; ++each) {
    printf("%s", names[each]);
    for (int run = 0; run < runs && run < MOST_RUNS; ++run)
      printf(" %.12f", all[each][run]);
    putchar('\n');
  }
}
