// Launches on the CPU device: hand-written kernel tables, registered as offload entries and as
// compiled code registers them. Each check ends the program when it fails.

#include "show.h"

#include "device_abi.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s\n", __LINE__, #condition);                                               \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#define RETURNS(call, code)                                                                        \
  do {                                                                                             \
    int returned = (call);                                                                         \
    if (returned != (code)) {                                                                      \
      printf("line %d: %s: %d\n", __LINE__, #call, returned);                                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

// --- kernels -------------------------------------------------------------------------------------

static int32_t add(struct hirc_block *block, void *const *arguments, uint32_t first,
                   uint32_t last) {
  int *numbers = *(int **)arguments[0];
  int amount = *(int *)arguments[1];
  for (uint32_t t = first; t < last; ++t)
    numbers[block->index.x * block->size.x + t] += amount;
  return HIRC_STATE_END;
}

static int32_t nothing(struct hirc_block *block, void *const *arguments, uint32_t first,
                       uint32_t last) {
  (void)block, (void)arguments, (void)first, (void)last;
  return HIRC_STATE_END;
}

static int32_t die(struct hirc_block *block, void *const *arguments, uint32_t first,
                   uint32_t last) {
  (void)arguments, (void)last;
  hirc_device_abort(block, first, 719);
}

static atomic_int arrived;

// Waits for a second kernel that runs beside it.
static int32_t meet(struct hirc_block *block, void *const *arguments, uint32_t first,
                    uint32_t last) {
  (void)block, (void)first, (void)last;
  atomic_fetch_add(&arrived, 1);
  for (int i = 0; i < 20000 && arrived < 2; ++i)
    usleep(100);
  *(int *)*(void **)arguments[0] = arrived;
  return HIRC_STATE_END;
}

static struct hirc_extent cluster_seen;

static int32_t look(struct hirc_block *block, void *const *arguments, uint32_t first,
                    uint32_t last) {
  (void)arguments, (void)first, (void)last;
  if (!(block->index.x | block->index.y | block->index.z))
    cluster_seen = block->cluster_size;
  return HIRC_STATE_END;
}

// The sum of the last argument's bytes: it is passed by value and larger than any register.
struct large {
  _Alignas(16) unsigned char bytes[2000];
};

static int32_t sum(struct hirc_block *block, void *const *arguments, uint32_t first,
                   uint32_t last) {
  (void)block, (void)first, (void)last;
  const struct large *large = arguments[2];
  int result = *(char *)arguments[0];
  for (size_t i = 0; i < sizeof large->bytes; ++i)
    result += large->bytes[i];
  **(int **)arguments[1] = (uintptr_t)large % 16 == 0 ? result : -1;
  return HIRC_STATE_END;
}

static const struct hirc_stop no_stops[1];
static const struct hirc_argument add_arguments[] = {{8, 8}, {4, 4}};
static const struct hirc_argument sum_arguments[] = {{1, 1}, {8, 8}, {2000, 16}};

#define KERNEL(symbol, ...)                                                                        \
  static hirc_region *const symbol##_regions[] = {symbol};                                         \
  static const struct hirc_kernel symbol##_kernel = {.name = #symbol,                              \
                                                     .source = "",                                 \
                                                     .state_count = 1,                             \
                                                     .regions = symbol##_regions,                  \
                                                     .stops = no_stops,                            \
                                                     .shared_align = 16,                           \
                                                     __VA_ARGS__};                                 \
  __attribute__((used, section("hirc_cpu_kernels"))) static const struct hirc_kernel               \
      *const symbol##_entry = &symbol##_kernel;                                                    \
  static const char symbol##_stub

KERNEL(add, .argument_count = 2, .arguments = add_arguments, .max_threads = 256);
KERNEL(nothing, .static_shared_bytes = 40000);
KERNEL(die, .argument_count = 0);
KERNEL(meet, .argument_count = 1, .arguments = add_arguments);
KERNEL(look, .required_block = {32, 1, 1});
KERNEL(sum, .argument_count = 3, .arguments = sum_arguments);

static int device_numbers[64] = {1, 2, 3};
static int host_numbers, unknown_numbers;
static const struct hirc_variable numbers = {"numbers", device_numbers, sizeof device_numbers, 0, 0};
__attribute__((used, section("hirc_cpu_variables"))) static const struct hirc_variable
    *const numbers_entry = &numbers;

// clang's layout of an offload entry; kind 2 is CUDA.
struct offload_entry {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  const void *address;
  const char *name;
  uint64_t size, data;
  void *auxiliary;
};

#define ENTRY(name, address, size)                                                                 \
  __attribute__((used, section("llvm_offload_entries"), aligned(8))) static const struct           \
      offload_entry name##_offload = {0, 1, 2, 0, address, #name, size, 0, NULL}

ENTRY(add, &add_stub, 0);
ENTRY(nothing, &nothing_stub, 0);
ENTRY(meet, &meet_stub, 0);
ENTRY(look, &look_stub, 0);
ENTRY(sum, &sum_stub, 0);
ENTRY(numbers, &host_numbers, sizeof device_numbers);

// --- checks --------------------------------------------------------------------------------------

static const dim3 one = {1, 1, 1};

static int launch(const void *stub, dim3 grid, dim3 block, size_t shared) {
  static int *memory;
  int amount = 0;
  if (!memory)
    OK(cudaMalloc((void **)&memory, 1 << 16));
  void *arguments[] = {&memory, &amount, &amount};
  cudaGetLastError();
  int error = cudaLaunchKernel(stub, grid, block, arguments, shared, NULL);
  CHECK(cudaGetLastError() == (cudaError_t)error);
  return error;
}

static void bad_launches(void) {
  int invalid = cudaErrorInvalidValue;
  RETURNS(launch(&add_stub, one, one, 0), 0);
  RETURNS(launch(&invalid, one, one, 0), cudaErrorInvalidDeviceFunction);
  RETURNS(launch(NULL, one, one, 0), cudaErrorInvalidDeviceFunction);
  RETURNS(launch(&die_stub, one, one, 0), cudaErrorInvalidDeviceFunction); // not yet registered
  RETURNS(launch(&nothing_stub, (dim3){0, 1, 1}, one, 0), invalid);
  RETURNS(launch(&nothing_stub, (dim3){1, 0, 1}, one, 0), invalid);
  RETURNS(launch(&nothing_stub, (dim3){0x80000000u, 1, 1}, one, 0), invalid);
  RETURNS(launch(&nothing_stub, (dim3){1, 65536, 1}, one, 0), invalid);
  RETURNS(launch(&nothing_stub, (dim3){1, 1, 65536}, one, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){0, 1, 1}, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){1025, 1, 1}, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){1, 1025, 1}, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){1, 1, 65}, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){64, 32, 1}, 0), invalid);
  RETURNS(launch(&nothing_stub, one, (dim3){1024, 1, 1}, 0), 0);
  RETURNS(launch(&add_stub, one, (dim3){257, 1, 1}, 0), invalid); // more than the kernel allows
  RETURNS(launch(&look_stub, one, (dim3){64, 1, 1}, 0), invalid); // not what the kernel requires
  RETURNS(launch(&look_stub, one, (dim3){32, 1, 1}, 0), 0);
  OK(cudaDeviceSynchronize());
}

static void shared_memory(void) {
  enum { LARGEST = 227 * 1024 - 40000 };
  struct cudaFuncAttributes attributes;
  enum cudaFuncAttribute limit = cudaFuncAttributeMaxDynamicSharedMemorySize;
  RETURNS(cudaFuncGetAttributes(&attributes, &nothing_stub), 0);
  CHECK(attributes.sharedSizeBytes == 40000 && attributes.maxDynamicSharedSizeBytes == 9152);
  CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.binaryVersion == 90);
  RETURNS(launch(&nothing_stub, one, one, 9152), 0);
  RETURNS(launch(&nothing_stub, one, one, 9153), cudaErrorInvalidValue);
  RETURNS(cudaFuncSetAttribute(&nothing_stub, limit, LARGEST + 1), cudaErrorInvalidValue);
  RETURNS(cudaFuncSetAttribute(&nothing_stub, limit, -1), cudaErrorInvalidValue);
  RETURNS(cudaFuncSetAttribute(&nothing_stub, limit, LARGEST), 0);
  RETURNS(cudaFuncSetAttribute(&attributes, limit, 1), cudaErrorInvalidDeviceFunction);
  RETURNS(launch(&nothing_stub, one, one, LARGEST), 0);
  RETURNS(launch(&nothing_stub, one, one, LARGEST + 1), cudaErrorInvalidValue);
  RETURNS(cudaFuncGetAttributes(&attributes, &nothing_stub), 0);
  CHECK(attributes.maxDynamicSharedSizeBytes == LARGEST);
  int blocks = -1;
  RETURNS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &nothing_stub, 256, 100), 0);
  CHECK(blocks == 5); // as on an H200
  OK(cudaDeviceSynchronize());
}

static int launch_cluster(const void *stub, dim3 grid, dim3 cluster, int cooperative) {
  cudaLaunchAttribute attributes[2] = {{.id = cudaLaunchAttributeClusterDimension},
                                       {.id = cudaLaunchAttributeCooperative}};
  attributes[0].val.clusterDim.x = cluster.x;
  attributes[0].val.clusterDim.y = cluster.y;
  attributes[0].val.clusterDim.z = cluster.z;
  attributes[1].val.cooperative = cooperative;
  cudaLaunchConfig_t configuration = {.gridDim = grid, .blockDim = {32, 1, 1}, .attrs = attributes,
                                      .numAttrs = 2};
  return cudaLaunchKernelExC(&configuration, stub, NULL);
}

static void clusters(void) {
  int wrong = cudaErrorInvalidClusterSize;
  RETURNS(launch_cluster(&look_stub, (dim3){4, 2, 1}, (dim3){2, 2, 1}, 0), 0);
  OK(cudaDeviceSynchronize());
  CHECK(cluster_seen.x == 2 && cluster_seen.y == 2 && cluster_seen.z == 1);
  RETURNS(launch_cluster(&look_stub, (dim3){5, 1, 1}, (dim3){2, 1, 1}, 0), wrong);
  RETURNS(launch_cluster(&look_stub, (dim3){4, 1, 1}, (dim3){2, 0, 1}, 0), wrong);
  RETURNS(launch_cluster(&look_stub, (dim3){16, 1, 1}, (dim3){16, 1, 1}, 0), wrong);
  OK(cudaFuncSetAttribute(&look_stub, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  RETURNS(launch_cluster(&look_stub, (dim3){16, 1, 1}, (dim3){16, 1, 1}, 0), 0);
  RETURNS(launch_cluster(&look_stub, (dim3){32, 1, 1}, (dim3){32, 1, 1}, 0), wrong);
  RETURNS(launch_cluster(&look_stub, (dim3){100000, 1, 1}, one, 1),
          cudaErrorCooperativeLaunchTooLarge);
  RETURNS(launch_cluster(&look_stub, (dim3){64, 1, 1}, one, 1), 0);
  OK(cudaDeviceSynchronize());
}

static void arguments_are_copied(void) {
  int *memory, result[256], amount = 5;
  OK(cudaMalloc((void **)&memory, sizeof result));
  OK(cudaMemset(memory, 0, sizeof result));
  void *arguments[] = {&memory, &amount};
  for (int i = 0; i < 100; ++i) {
    amount = i;
    OK(cudaLaunchKernel(&add_stub, (dim3){4, 1, 1}, (dim3){64, 1, 1}, arguments, 0, NULL));
    amount = -1000;
  }
  OK(cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 256; ++i)
    CHECK(result[i] == 4950);

  struct large large;
  char first = 7;
  memset(&large, 3, sizeof large);
  void *others[] = {&first, &memory, &large};
  OK(cudaLaunchKernel(&sum_stub, one, one, others, 0, NULL));
  memset(&large, 0, sizeof large);
  OK(cudaMemcpy(result, memory, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(result[0] == 6007);
  OK(cudaFree(memory));
}

// Two kernels in two streams run at the same time; a graph replays a launch.
static void streams(void) {
  cudaStream_t first, second;
  int *seen, *memory, amount = 3, result = 0;
  OK(cudaMallocHost((void **)&seen, 2 * sizeof *seen));
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreate(&second));
  int *second_seen = seen + 1;
  void *arguments[] = {&seen}, *second_arguments[] = {&second_seen};
  OK(cudaLaunchKernel(&meet_stub, one, one, arguments, 0, first));
  OK(cudaLaunchKernel(&meet_stub, one, one, second_arguments, 0, second));
  OK(cudaDeviceSynchronize());
  CHECK(seen[0] == 2 && seen[1] == 2);

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  OK(cudaMalloc((void **)&memory, sizeof *memory));
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(memory, 0, sizeof *memory, first));
  void *captured[] = {&memory, &amount};
  for (int i = 0; i < 5; ++i)
    OK(cudaLaunchKernel(&add_stub, one, one, captured, 0, first));
  amount = 100;
  OK(cudaStreamEndCapture(first, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 10; ++i)
    OK(cudaGraphLaunch(exec, second));
  OK(cudaStreamSynchronize(second));
  OK(cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result == 15);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// CUDA_KERNEL_NODE_PARAMS_v2.
struct driver_parameters {
  void *function;
  dim3 grid, block;
  unsigned dynamic_shared_bytes;
  void **arguments, **others;
  void *kernel, *context;
};

// The driver's functions tell a captured node's kernel, and change its launches to come.
static void driver_changes(void) {
  int (*get)(cudaGraphNode_t, struct driver_parameters *) = NULL;
  int (*get_function)(void **, void *) = NULL;
  int (*change)(cudaGraphExec_t, cudaGraphNode_t, const struct driver_parameters *) = NULL;
  enum cudaDriverEntryPointQueryResult found;
  OK(cudaGetDriverEntryPointByVersion("cuGraphKernelNodeGetParams", (void **)&get, 11000, 0,
                                      &found));
  CHECK(found == cudaDriverEntryPointVersionNotSufficent && !get);
  OK(cudaGetDriverEntryPointByVersion("cuGraphKernelNodeGetParams", (void **)&get, 12000, 0,
                                      &found));
  OK(cudaGetDriverEntryPointByVersion("cuKernelGetFunction", (void **)&get_function, 12000, 0,
                                      &found));
  OK(cudaGetDriverEntryPointByVersion("cuGraphExecKernelNodeSetParams", (void **)&change, 12000, 0,
                                      &found));
  CHECK(get && get_function && change);

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t nodes[2];
  size_t count = 2;
  int *memory, amount = 3, result[4];
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc((void **)&memory, sizeof result));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(memory, 0, sizeof result, stream));
  void *arguments[] = {&memory, &amount};
  OK(cudaLaunchKernel(&add_stub, one, one, arguments, 0, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphGetNodes(graph, nodes, &count));

  struct driver_parameters told;
  void *function = NULL;
  CHECK(get(nodes[0], &told) == cudaErrorInvalidValue);
  CHECK(get(nodes[1], &told) == 0);
  CHECK(told.grid.x == 1 && told.block.z == 1 && told.dynamic_shared_bytes == 0);
  CHECK(**(int ***)told.arguments == memory && *(int *)told.arguments[1] == 3);
  CHECK(!told.function && told.kernel);
  CHECK(get_function(&function, told.kernel) == 0 && function);

  struct driver_parameters wanted = {function, {2, 1, 1}, {2, 1, 1}, 0, arguments};
  amount = 5;
  CHECK(change(exec, nodes[1], &wanted) == 0);
  amount = 7;
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 5 && result[3] == 5);
  // The kernel does as well as its function.
  wanted = (struct driver_parameters){NULL, one, one, 0, arguments, NULL, told.kernel};
  CHECK(change(exec, nodes[1], &wanted) == 0);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(result, memory, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 7 && result[3] == 0);
  // Errors are returned, and not the runtime's last.
  cudaGetLastError();
  CHECK(change(exec, nodes[0], &wanted) == cudaErrorInvalidValue);
  wanted.block.x = 2000;
  CHECK(change(exec, nodes[1], &wanted) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == 0);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(memory));
}

static void symbols(void) {
  int result[3], *address;
  size_t bytes;
  OK(cudaGetSymbolAddress((void **)&address, &host_numbers));
  CHECK(address == device_numbers);
  OK(cudaGetSymbolSize(&bytes, &host_numbers));
  CHECK(bytes == sizeof device_numbers);
  OK(cudaMemcpyFromSymbol(result, &host_numbers, 8, 4, cudaMemcpyDeviceToHost));
  CHECK(result[0] == 2 && result[1] == 3);
  result[0] = 9;
  OK(cudaMemcpyToSymbol(&host_numbers, result, 4, 252, cudaMemcpyHostToDevice));
  CHECK(device_numbers[63] == 9);
  RETURNS(cudaMemcpyToSymbol(&host_numbers, result, 4, 253, cudaMemcpyHostToDevice),
          cudaErrorInvalidValue);
  RETURNS(cudaMemcpyToSymbol(&host_numbers, result, 4, 0, cudaMemcpyDeviceToHost),
          cudaErrorInvalidMemcpyDirection);
  RETURNS(cudaGetSymbolAddress((void **)&address, &unknown_numbers), cudaErrorInvalidSymbol);
  OK(cudaMemcpy(result, device_numbers, 4, cudaMemcpyDeviceToHost));
  RETURNS(cudaMemcpy(result, device_numbers, 257, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
}

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            void *block_size, void *grid_size, int *warp_size);

static void ran(void *flag) { *(atomic_int *)flag = 1; }

static void wait_for_flag(void *flag) {
  while (*(atomic_int *)flag == 0)
    usleep(100);
}

static void note_status(cudaStream_t stream, cudaError_t status, void *data) {
  (void)stream;
  *(atomic_int *)data = status;
}

static void *elsewhere(void *data) {
  (void)data;
  CHECK(cudaGetLastError() == cudaSuccess);
  RETURNS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  return NULL;
}

static void sticky_errors(void) {
  void **handle = __cudaRegisterFatBinary(NULL);
  __cudaRegisterFunction(handle, &die_stub, "die", "die", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFunction(handle, (const char *)&one, "absent", "absent", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterFatBinaryEnd(handle);
  atomic_int host_ran = 0, status = -1, count;
  cudaEvent_t event;
  void *p;
  OK(cudaEventCreate(&event));
  RETURNS(launch(&one, one, one, 0), cudaErrorInvalidDeviceFunction);
  atomic_int gate = 0;
  OK(cudaLaunchHostFunc(NULL, wait_for_flag, &gate));
  RETURNS(launch(&die_stub, one, one, 0), 0);
  OK(cudaLaunchHostFunc(NULL, ran, &host_ran));
  OK(cudaStreamAddCallback(NULL, note_status, &status, 0));
  gate = 1;
  RETURNS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  while (status == -1)
    usleep(100);
  CHECK(!host_ran);
  RETURNS(cudaPeekAtLastError(), cudaErrorLaunchFailure);
  RETURNS(cudaGetLastError(), cudaErrorLaunchFailure);
  RETURNS(cudaGetLastError(), 0);
  RETURNS(cudaMalloc(&p, 10), cudaErrorLaunchFailure);
  RETURNS(cudaMalloc(NULL, 10), cudaErrorInvalidValue);
  RETURNS(launch(&nothing_stub, one, one, 0), cudaErrorLaunchFailure);
  RETURNS(launch(&nothing_stub, (dim3){0, 1, 1}, one, 0), cudaErrorLaunchFailure);
  RETURNS(cudaFree(NULL), cudaErrorLaunchFailure);
  RETURNS(cudaEventQuery(event), cudaErrorLaunchFailure);
  RETURNS(cudaStreamSynchronize(NULL), cudaErrorLaunchFailure);
  RETURNS(cudaGetDeviceCount((int *)&count), 0);
  RETURNS(cudaSetDevice(0), 0);
  pthread_t thread;
  pthread_create(&thread, NULL, elsewhere, NULL);
  pthread_join(thread, NULL);
  RETURNS(cudaDeviceReset(), 0);
  RETURNS(cudaDeviceSynchronize(), 0);
  RETURNS(cudaMalloc(&p, 10), 0);
  RETURNS(cudaEventDestroy(event), 0);
  __cudaUnregisterFatBinary(handle);
}

// --- the process ---------------------------------------------------------------------------------

static pthread_t main_thread;
static atomic_int handled;

static void handle(int number) {
  (void)number;
  handled = pthread_equal(pthread_self(), main_thread) ? 1 : 2;
}

// A signal to the process never comes to a thread of the device.
static void signals(void) {
  sigset_t set, before;
  main_thread = pthread_self();
  signal(SIGUSR1, handle);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  kill(getpid(), SIGUSR1);
  usleep(5000);
  CHECK(handled == 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  CHECK(handled == 1);
}

// A child does not wait for what its parent has not executed.
static void child(void) {
  atomic_int gate = 0;
  int status = -1;
  OK(cudaLaunchHostFunc(NULL, wait_for_flag, &gate));
  OK(cudaLaunchKernel(&nothing_stub, one, one, NULL, 0, NULL));
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    OK(cudaLaunchKernel(&nothing_stub, (dim3){100, 1, 1}, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  gate = 1;
  OK(cudaDeviceSynchronize());
}

static void *begin_capture(void *stream) {
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  return NULL;
}

// A child of fork() knows nothing of a capture that another thread of the parent's began.
static void child_during_a_capture(void) {
  cudaStream_t stream;
  cudaGraph_t graph;
  enum cudaStreamCaptureStatus capturing;
  pthread_t thread;
  int status = -1;
  OK(cudaStreamCreate(&stream));
  CHECK(pthread_create(&thread, NULL, begin_capture, stream) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    OK(cudaStreamIsCapturing(stream, &capturing));
    CHECK(capturing == cudaStreamCaptureStatusNone);
    OK(cudaLaunchKernel(&nothing_stub, (dim3){100, 1, 1}, one, NULL, 0, stream));
    OK(cudaLaunchKernel(&nothing_stub, one, one, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    begin_capture(stream);
    OK(cudaStreamEndCapture(stream, &graph));
    _exit(0);
  }
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  OK(cudaStreamIsCapturing(stream, &capturing));
  CHECK(capturing == cudaStreamCaptureStatusActive);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureWrongThread);
  OK(cudaStreamDestroy(stream));
  cudaGetLastError();
}

// More functions of the host wait at a time than there are threads for blocks.
static void waiting_functions(void) {
  enum { STREAMS = 8 };
  cudaStream_t streams[STREAMS], last;
  atomic_int gate = 0;
  for (int i = 0; i < STREAMS; ++i) {
    OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    OK(cudaLaunchHostFunc(streams[i], wait_for_flag, &gate));
  }
  OK(cudaStreamCreateWithFlags(&last, cudaStreamNonBlocking));
  OK(cudaLaunchKernel(&nothing_stub, one, one, NULL, 0, last));
  OK(cudaStreamSynchronize(last));
  gate = 1;
  OK(cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
  (void)argv;
  bad_launches();
  shared_memory();
  clusters();
  arguments_are_copied();
  streams();
  driver_changes();
  symbols();
  signals();
  waiting_functions();
  if (argc == 1) { // a sanitizer for threads does not follow fork()
    child();
    child_during_a_capture();
  }
  sticky_errors();
  puts("ok");
  return 0;
}
