// Times programs of 1, 10 and 100 kernels as C functions on a GPU, and the same launches in C: one by
// one, and as a graph made by hand. Prints lines of
//
//     kernels who outputs shapes first median p99 wall
//
// of microseconds: the host's time of the first call, the median and the 99th percentile of those
// after it, and the median with the wait for the stream. Shapes are fixed, changing, which is sixteen
// sizes in turn, or new: a thousand in turn, more than have graphs of their own; the graph made by
// hand has each of its launches changed then. All who do the same take turns, as a processor's speed
// changes within a second. Arguments: calls, PTX of the kernel.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, THREADS = 256, BLOCK_ARGUMENTS = 10, MOST_KERNELS = 100 };
// Of the sizes that change in turn, from MOST down.
enum { SIZES = 16, STEP = 8 };

// DLTensor of the DLPack specification.
struct tensor {
  void *data;
  int32_t device, device_number, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *sizes, *strides;
  uint64_t byte_offset;
};

typedef int program(const struct tensor *const *inputs, struct tensor *const *outputs,
                    void *stream);
program hirc_program_chain1, hirc_program_chain10, hirc_program_chain100;

// Of the CUDA Runtime API.
struct extent {
  unsigned x, y, z;
};
int cudaMalloc(void **memory, size_t bytes);
int cudaMemset(void *memory, int value, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMallocAsync(void **memory, size_t bytes, void *stream);
int cudaFreeAsync(void *memory, void *stream);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags);
int cudaGraphLaunch(void *made, void *stream);
int cudaLibraryLoadData(void **library, const void *code, void *jit, void **jit_values,
                        unsigned jit_count, void *options, void **option_values, unsigned count);
int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
int cudaGraphGetNodes(void *graph, void **nodes, size_t *count);
int cudaGraphGetRootNodes(void *graph, void **nodes, size_t *count);
int cudaGetDriverEntryPointByVersion(const char *name, void **found, unsigned version,
                                     unsigned long long flags, int *status);
int cudaLaunchKernel(const void *kernel, struct extent grid, struct extent block, void **arguments,
                     size_t shared_bytes, void *stream);


// CUDA_KERNEL_NODE_PARAMS_v2 of the CUDA Driver API, and its functions for that.
struct node_parameters {
  void *function;
  struct extent grid, block;
  unsigned shared_bytes;
  void **arguments, **others;
  void *kernel, *context;
};
static int (*get_parameters)(void *node, struct node_parameters *parameters);
static int (*change)(void *made, void *node, const struct node_parameters *parameters);

static void *stream, *kernel, *graphs[SIZES], *nodes[MOST_KERNELS];
static struct node_parameters of_nodes[MOST_KERNELS];
static float *x, *y;
static int64_t size, out_size, out_stride;
static struct tensor input, output;
static int kernels;
static program *ours;

static void require(int ok, const char *what) {
  if (ok)
    return;
  fprintf(stderr, "%s failed\n", what);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void launch_kernel(int i, struct extent grid, struct extent block, void **arguments) {
  (void)i;
  require(cudaLaunchKernel(kernel, grid, block, arguments, 0, stream) == 0, "cudaLaunchKernel");
}

// Of the graph, as the driver does it, which is faster than the runtime.
static void change_node(int i, struct extent grid, struct extent block, void **arguments) {
  struct node_parameters parameters = of_nodes[i];
  parameters.grid = grid;
  parameters.block = block;
  parameters.arguments = arguments;
  require(change(graphs[0], nodes[i], &parameters) == 0, "cuGraphExecKernelNodeSetParams");
}

// What a chain is, without any check.
static void chain_to(float *to, void (*kernel_of)(int i, struct extent grid, struct extent block,
                                                  void **arguments)) {
  float *from = x;
  for (int i = 0; i < kernels; ++i) {
    int64_t zero = 0, one = 1;
    void *arguments[BLOCK_ARGUMENTS] = {&from, &from, &zero, &size, &one,
                                        &to,   &to,   &zero, &size, &one};
    struct extent grid = {(unsigned)(size + THREADS - 1) / THREADS, 1, 1}, block = {THREADS, 1, 1};
    kernel_of(i, grid, block, arguments);
    from = to;
  }
}
static void launch_to(float *to) { chain_to(to, launch_kernel); }

static void floor_given(void) { launch_to(y); }
static void floor_allocated(void) {
  void *memory = NULL;
  require(cudaMallocAsync(&memory, MOST * sizeof(float), stream) == 0, "cudaMallocAsync");
  launch_to(memory);
  require(cudaFreeAsync(memory, stream) == 0, "cudaFreeAsync");
}
static void launch_graph(void *graph) {
  require(cudaGraphLaunch(graph, stream) == 0, "cudaGraphLaunch");
}

static void graph_given(void) { launch_graph(graphs[(MOST - size) / STEP]); }
static void graph_changed(void) {
  chain_to(y, change_node);
  launch_graph(graphs[0]);
}

static void call(void *to) {
  const struct tensor *inputs[] = {&input};
  struct tensor *outputs[] = {&output};
  output.data = to;
  out_size = size;
  out_stride = 1;
  require(ours(inputs, outputs, stream) == 0, "the program");
}
static void ours_given(void) { call(y); }
static void ours_allocated(void) {
  call(NULL);
  require(cudaFreeAsync(output.data, stream) == 0, "cudaFreeAsync");
}

static int compare(const void *first, const void *second) {
  double a = *(const double *)first, b = *(const double *)second;
  return a < b ? -1 : a > b;
}

static void wait(void) {
  require(cudaStreamSynchronize(stream) == 0, "cudaStreamSynchronize");
}

// Sizes that calls take in turn.
struct shapes {
  const char *name;
  long count, step;
};
static int64_t size_of(const struct shapes *shapes, long call) {
  return MOST - shapes->step * (call % shapes->count);
}

// Who does the same, and what it took.
struct contender {
  const char *who, *outputs;
  void (*one)(void);
  double first, *each, *whole;
};

// The queue of a stream is finite: the host waits for it now and then, off the clock.
static void time_calls(struct contender *contender, long start, long calls,
                       const struct shapes *shapes) {
  enum { BEFORE = 20 }; // calls that put the caches in order
  long between = kernels >= 100 ? 4 : 256 / kernels;
  wait();
  for (long i = -BEFORE; i < calls; ++i) {
    size = size_of(shapes, BEFORE + start + i);
    double before = now();
    contender->one();
    if (i >= 0)
      contender->each[start + i] = now() - before;
    if (i % between == 0)
      wait();
  }
  wait();
}

static void time_waits(struct contender *contender, long start, long calls,
                       const struct shapes *shapes) {
  for (long i = start; i < start + calls; ++i) {
    size = size_of(shapes, i);
    double before = now();
    contender->one();
    wait();
    contender->whole[i] = now() - before;
  }
}

static double *room_for(long numbers) {
  double *room = calloc((size_t)numbers, sizeof *room);
  require(room != NULL, "calloc");
  return room;
}

static void measure(struct contender *all, int count, long calls, const struct shapes *shapes) {
  enum { ROUNDS = 10 };
  long part = calls / ROUNDS, waits = part / ROUNDS + 1;
  for (int i = 0; i < count; ++i) {
    all[i].each = room_for(ROUNDS * part);
    all[i].whole = room_for(ROUNDS * waits);
    size = MOST;
    wait();
    double before = now();
    all[i].one();
    all[i].first = now() - before;
    // Untimed: graphs of all sizes are recorded then.
    time_calls(&all[i], 0, part, shapes);
  }
  for (long round = 0; round < ROUNDS; ++round)
    for (int i = 0; i < count; ++i) {
      time_calls(&all[i], round * part, part, shapes);
      time_waits(&all[i], round * waits, waits, shapes);
    }
  for (struct contender *each = all; each < all + count; ++each) {
    qsort(each->each, (size_t)(ROUNDS * part), sizeof *each->each, compare);
    qsort(each->whole, (size_t)(ROUNDS * waits), sizeof *each->whole, compare);
    printf("%d %s %s %s %.3f %.3f %.3f %.3f\n", kernels, each->who, each->outputs, shapes->name,
           each->first, each->each[ROUNDS * part / 2], each->each[ROUNDS * part * 99 / 100],
           each->whole[ROUNDS * waits / 2]);
    free(each->each);
    free(each->whole);
  }
}

// Each computes the same.
static void check(const struct contender *all, int count) {
  float found[MOST];
  for (int i = 0; i < count; ++i) {
    require(cudaMemset(y, 0, sizeof found) == 0, "cudaMemset");
    require(cudaDeviceSynchronize() == 0, "cudaDeviceSynchronize");
    size = MOST;
    all[i].one();
    wait();
    require(cudaMemcpy(found, y, sizeof found, 2) == 0, "cudaMemcpy");
    for (int k = 0; k < MOST; ++k)
      require(found[k] == (float)(k + kernels), all[i].who);
  }
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

// Makes the graph of the current size, and returns what it was made of.
static void *make_graph(void **made) {
  void *captured = NULL;
  require(cudaStreamBeginCapture(stream, 2) == 0, "cudaStreamBeginCapture");
  launch_to(y);
  require(cudaStreamEndCapture(stream, &captured) == 0, "cudaStreamEndCapture");
  require(cudaGraphInstantiateWithFlags(made, captured, 0) == 0, "cudaGraphInstantiate");
  return captured;
}

static void make_graphs(void) {
  for (int i = 1; i < SIZES; ++i) {
    size = MOST - STEP * i;
    make_graph(&graphs[i]);
  }
  size = MOST;
  void *captured = make_graph(&graphs[0]);
  size_t count = MOST_KERNELS, roots = 1;
  void *root = NULL;
  require(cudaGraphGetNodes(captured, nodes, &count) == 0 && count == (size_t)kernels,
          "cudaGraphGetNodes");
  require(cudaGraphGetRootNodes(captured, &root, &roots) == 0 && roots == 1,
          "cudaGraphGetRootNodes");
  // They come in any order, and are all alike but the first.
  for (int i = 1; i < kernels; ++i)
    if (nodes[i] == root) {
      nodes[i] = nodes[0];
      nodes[0] = root;
    }
  for (int i = 0; i < kernels; ++i)
    require(get_parameters(nodes[i], &of_nodes[i]) == 0, "cuGraphKernelNodeGetParams");
}

static void find_driver(const char *name, void *found) {
  int status = 0;
  require(cudaGetDriverEntryPointByVersion(name, found, 12000, 0, &status) == 0 && status == 0,
          name);
}

int main(int count, char **words) {
  static const int lengths[] = {1, 10, 100};
  static program *const programs[] = {hirc_program_chain1, hirc_program_chain10,
                                      hirc_program_chain100};
  static const struct shapes all[] = {{"fixed", 1, 0}, {"changing", SIZES, STEP}, {"new", 1000, 1}};
  require(count == 3, "needs calls and PTX: the start");
  long calls = atol(words[1]);
  require(calls >= 100, "needs 100 calls: the start");
  require(cudaStreamCreateWithFlags(&stream, 1) == 0, "cudaStreamCreateWithFlags");
  float numbers[MOST];
  for (int i = 0; i < MOST; ++i)
    numbers[i] = (float)i;
  require(cudaMalloc((void **)&x, sizeof numbers) == 0, "cudaMalloc");
  require(cudaMalloc((void **)&y, sizeof numbers) == 0, "cudaMalloc");
  require(cudaMemcpy(x, numbers, sizeof numbers, 1) == 0, "cudaMemcpy");
  load_kernel(words[2]);
  find_driver("cuGraphKernelNodeGetParams", &get_parameters);
  find_driver("cuGraphExecKernelNodeSetParams", &change);
  input = (struct tensor){.data = x, .device = 2, .rank = 1, .code = 2, .bits = 32, .lanes = 1};
  output = input;
  input.sizes = &size;
  output.sizes = &out_size;
  output.strides = &out_stride;
  for (int i = 0; i < 3; ++i) {
    kernels = lengths[i];
    ours = programs[i];
    long times = kernels == 100 ? calls / 4 : calls;
    make_graphs();
    struct contender given[] = {{.who = "ours", .outputs = "given", .one = ours_given},
                                {.who = "floor", .outputs = "given", .one = floor_given},
                                {.who = "graph", .outputs = "given", .one = graph_given}};
    struct contender allocated[] = {
        {.who = "ours", .outputs = "allocated", .one = ours_allocated},
        {.who = "floor", .outputs = "allocated", .one = floor_allocated}};
    for (const struct shapes *shapes = all; shapes < all + sizeof all / sizeof *all; ++shapes) {
      if (shapes->count > SIZES)
        given[2].one = graph_changed;
      measure(given, 3, times, shapes);
      check(given, 3);
      measure(allocated, 2, times, shapes);
    }
  }
  return 0;
}
