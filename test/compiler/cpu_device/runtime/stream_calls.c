// Streams and events: what calls return, order, and times, with functions of the host as the work.

#include "show.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static char trace[64];
static atomic_int traced, open_gate;

static void reset_trace(void) {
  memset(trace, 0, sizeof trace);
  traced = 0;
}

// Data: the letter to write, after a pause.
static void slowly(void *letter) {
  usleep(20000);
  trace[traced++] = (char)(size_t)letter;
}

static void at_once(void *letter) { trace[traced++] = (char)(size_t)letter; }

static void wait_for_gate(void *data) {
  (void)data;
  while (!open_gate)
    usleep(100);
}

static void callback(cudaStream_t stream, cudaError_t status, void *data) {
  (void)stream;
  trace[traced++] = status == cudaSuccess ? (char)(size_t)data : '!';
}

static void handles(void) {
  cudaStream_t stream;
  cudaEvent_t event;
  unsigned flags;
  int value, least, greatest;
  SHOW(cudaStreamCreateWithFlags(&stream, 2));
  SHOW(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SHOW(cudaStreamGetFlags(stream, &flags));
  SHOW_INT(flags);
  SHOW(cudaStreamGetDevice(stream, &value));
  SHOW_INT(value);
  SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  SHOW_INT(least);
  SHOW_INT(greatest);
  SHOW(cudaStreamQuery(stream));
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaStreamDestroy(NULL));
  SHOW(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, greatest));
  SHOW(cudaStreamGetPriority(stream, &value));
  SHOW_INT(value);
  SHOW(cudaLaunchHostFunc(stream, NULL, NULL));
  SHOW(cudaStreamAddCallback(stream, callback, NULL, 1));
  SHOW(cudaEventCreateWithFlags(&event, 8));
  SHOW(cudaEventCreateWithFlags(&event, cudaEventInterprocess));
  SHOW(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  SHOW(cudaEventQuery(event));
  SHOW(cudaEventSynchronize(event));
  SHOW(cudaStreamWaitEvent(stream, event, 0));
  SHOW(cudaStreamWaitEvent(stream, event, 4));
  SHOW(cudaEventRecord(NULL, stream));
  SHOW(cudaEventQuery(NULL));
  SHOW(cudaEventDestroy(NULL));
  SHOW(cudaEventDestroy(event));
  SHOW(cudaStreamDestroy(stream));
}

static void times(void) {
  cudaStream_t stream;
  cudaEvent_t start, end, untimed;
  float milliseconds = -1;
  OK(cudaStreamCreate(&stream));
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&end));
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  SHOW(cudaEventElapsedTime(&milliseconds, start, end));
  OK(cudaEventRecord(start, stream));
  OK(cudaLaunchHostFunc(stream, slowly, (void *)'t'));
  OK(cudaEventRecord(end, stream));
  OK(cudaEventRecord(untimed, stream));
  SHOW(cudaEventQuery(end));
  SHOW(cudaEventElapsedTime(&milliseconds, start, end));
  SHOW(cudaStreamQuery(stream));
  SHOW(cudaGetLastError());
  SHOW(cudaEventSynchronize(end));
  SHOW(cudaEventElapsedTime(&milliseconds, start, end));
  SHOW_INT(milliseconds >= 19.9 && milliseconds < 2000);
  SHOW(cudaEventElapsedTime(&milliseconds, end, start));
  SHOW_INT(milliseconds <= -19.9);
  OK(cudaEventSynchronize(untimed));
  SHOW(cudaEventElapsedTime(&milliseconds, start, untimed));
  SHOW(cudaEventElapsedTime(NULL, start, end));
  OK(cudaStreamDestroy(stream));
}

static void order(void) {
  cudaStream_t first, second, free_running;
  cudaEvent_t event;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreate(&second));
  OK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));

  reset_trace();
  for (size_t i = 0; i < 20; ++i)
    OK(cudaLaunchHostFunc(first, at_once, (void *)('a' + i)));
  OK(cudaStreamSynchronize(first));
  printf("in one stream: %s\n", trace);

  reset_trace();
  OK(cudaLaunchHostFunc(first, slowly, (void *)'1'));
  OK(cudaEventRecord(event, first));
  OK(cudaStreamWaitEvent(second, event, 0));
  OK(cudaLaunchHostFunc(second, at_once, (void *)'2'));
  OK(cudaStreamAddCallback(second, callback, (void *)'3', 0));
  OK(cudaDeviceSynchronize());
  printf("over an event: %s\n", trace);

  reset_trace();
  OK(cudaLaunchHostFunc(first, slowly, (void *)'1'));
  OK(cudaLaunchHostFunc(NULL, slowly, (void *)'2'));
  OK(cudaLaunchHostFunc(second, at_once, (void *)'3'));
  OK(cudaStreamSynchronize(NULL));
  SHOW_INT(traced >= 2);
  OK(cudaDeviceSynchronize());
  printf("around the legacy stream: %s\n", trace);

  reset_trace();
  OK(cudaLaunchHostFunc(first, slowly, (void *)'1'));
  SHOW(cudaStreamSynchronize(cudaStreamLegacy));
  printf("waited for by the legacy stream: %s\n", trace);

  reset_trace();
  open_gate = 0;
  char *bytes;
  OK(cudaMalloc((void **)&bytes, 64));
  OK(cudaLaunchHostFunc(first, wait_for_gate, NULL));
  SHOW(cudaMemsetAsync(bytes, 1, 64, free_running));
  SHOW(cudaStreamSynchronize(free_running));
  SHOW(cudaStreamQuery(first));
  SHOW(cudaStreamQuery(NULL));
  open_gate = 1;
  OK(cudaDeviceSynchronize());
  cudaGetLastError();

  // The newest record before the wait is the one that counts.
  reset_trace();
  open_gate = 0;
  OK(cudaEventRecord(event, second));
  OK(cudaStreamWaitEvent(free_running, event, 0));
  OK(cudaLaunchHostFunc(first, wait_for_gate, NULL));
  OK(cudaEventRecord(event, first));
  SHOW(cudaStreamSynchronize(free_running));
  SHOW(cudaEventQuery(event));
  open_gate = 1;
  SHOW(cudaEventSynchronize(event));

  // A destroyed stream executes what it has; a destroyed event may still be waited for.
  reset_trace();
  OK(cudaLaunchHostFunc(first, slowly, (void *)'x'));
  OK(cudaEventRecord(event, first));
  OK(cudaStreamWaitEvent(second, event, 0));
  SHOW(cudaEventDestroy(event));
  SHOW(cudaStreamDestroy(first));
  OK(cudaLaunchHostFunc(second, at_once, (void *)'y'));
  OK(cudaStreamSynchronize(second));
  printf("after destruction: %s\n", trace);
  OK(cudaFree(bytes));
}

// A function in a stream may not call CUDA.
static void call_cuda(void *memory) {
  void *p;
  SHOW(cudaMalloc(&p, 8));
  SHOW(cudaFree(memory));
  SHOW(cudaMemcpy(memory, &p, 4, cudaMemcpyDefault));
  SHOW(cudaStreamQuery(NULL));
  SHOW(cudaStreamSynchronize(NULL));
  SHOW(cudaDeviceSynchronize());
}

static void calls_in_functions(void) {
  void *memory;
  OK(cudaMalloc(&memory, 64));
  OK(cudaLaunchHostFunc(NULL, call_cuda, memory));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaFree(memory));
}

// From pageable memory the source has been read when the call returns; from page-locked memory it
// is read when its turn comes.
static void asynchronous_copies(void) {
  cudaStream_t stream;
  int *device, *locked, pageable = 1, result = 0;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaMalloc((void **)&device, sizeof *device));
  OK(cudaMallocHost((void **)&locked, sizeof *locked));
  open_gate = 0;
  OK(cudaLaunchHostFunc(stream, wait_for_gate, NULL));
  OK(cudaMemcpyAsync(device, &pageable, sizeof pageable, cudaMemcpyHostToDevice, stream));
  pageable = 2;
  open_gate = 1;
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  SHOW_INT(result);
  open_gate = 0;
  *locked = 3;
  OK(cudaLaunchHostFunc(stream, wait_for_gate, NULL));
  OK(cudaMemcpyAsync(device, locked, sizeof *locked, cudaMemcpyHostToDevice, stream));
  *locked = 4;
  SHOW(cudaStreamQuery(stream));
  open_gate = 1;
  SHOW(cudaMemcpyAsync(&result, device, sizeof result, cudaMemcpyDeviceToHost, stream));
  SHOW_INT(result);
  OK(cudaStreamSynchronize(stream));
}

int main(void) {
  OK(cudaSetDevice(0));
  handles();
  times();
  order();
  calls_in_functions();
  asynchronous_copies();
  return 0;
}
