// Stream capture and graphs: what is captured, replay, and what a capture forbids.

#include "show.h"

#include <pthread.h>

static int count;

static void add(void *amount) { count += (int)(size_t)amount; }

static cudaStream_t first, second;
static int *device;

static void replay(void) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  enum cudaStreamCaptureStatus status;
  int *locked, result = 0;
  size_t nodes = 0;
  OK(cudaMallocHost((void **)&locked, sizeof *locked));
  SHOW(cudaStreamIsCapturing(first, &status));
  SHOW_INT(status);
  SHOW(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamIsCapturing(first, &status));
  SHOW_INT(status);
  SHOW(cudaLaunchHostFunc(first, add, (void *)1));
  SHOW(cudaMemcpyAsync(device, locked, sizeof *device, cudaMemcpyHostToDevice, first));
  SHOW(cudaMemsetAsync((char *)device + 2, 0, 2, first));
  SHOW_INT(count);
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW_INT(count);
  SHOW(cudaGraphGetNodes(graph, NULL, &nodes));
  SHOW_INT(nodes);
  cudaGraphNode_t node[3];
  enum cudaGraphNodeType type;
  OK(cudaGraphGetNodes(graph, node, &nodes));
  for (size_t i = 0; i < nodes; ++i) {
    OK(cudaGraphNodeGetType(node[i], &type));
    SHOW_INT(type);
  }
  SHOW(cudaGraphInstantiate(&exec, graph, 0));
  SHOW(cudaGraphUpload(exec, first));
  SHOW(cudaGraphDestroy(graph));
  *locked = 0x55667788;
  SHOW(cudaGraphLaunch(exec, first));
  SHOW(cudaGraphLaunch(exec, first));
  SHOW(cudaGraphLaunch(exec, second));
  SHOW(cudaStreamSynchronize(first));
  SHOW(cudaStreamSynchronize(second));
  SHOW_INT(count);
  OK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  printf("%x\n", (unsigned)result);
  SHOW(cudaGraphLaunch(exec, first));
  SHOW(cudaGraphExecDestroy(exec));
  SHOW(cudaStreamSynchronize(first));
  SHOW_INT(count);
}

static void fork_and_join(void) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaEvent_t fork, done;
  enum cudaStreamCaptureStatus status;
  size_t nodes = 0;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&done));
  count = 0;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaLaunchHostFunc(first, add, (void *)1));
  SHOW(cudaEventRecord(fork, first));
  SHOW(cudaStreamWaitEvent(second, fork, 0));
  SHOW(cudaStreamIsCapturing(second, &status));
  SHOW_INT(status);
  OK(cudaLaunchHostFunc(second, add, (void *)10));
  OK(cudaLaunchHostFunc(first, add, (void *)100));
  SHOW(cudaEventRecord(done, second));
  SHOW(cudaStreamWaitEvent(first, done, 0));
  OK(cudaLaunchHostFunc(first, add, (void *)1000));
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW(cudaStreamIsCapturing(second, &status));
  SHOW_INT(status);
  OK(cudaGraphGetNodes(graph, NULL, &nodes));
  SHOW_INT(nodes);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, first));
  OK(cudaStreamSynchronize(first));
  SHOW_INT(count);

  // A branch that does not come back.
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, first));
  OK(cudaStreamWaitEvent(second, fork, 0));
  OK(cudaLaunchHostFunc(second, add, (void *)10));
  SHOW(cudaStreamEndCapture(second, &graph));
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW_INT(graph == NULL);
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(fork, first));
  OK(cudaStreamWaitEvent(second, fork, 0));
  OK(cudaLaunchHostFunc(second, add, (void *)10));
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW(cudaEventQuery(fork));
  SHOW(cudaStreamWaitEvent(second, fork, 0));
}

static void *end_elsewhere(void *data) {
  cudaGraph_t graph;
  (void)data;
  SHOW(cudaStreamEndCapture(first, &graph));
  return NULL;
}

static void forbidden(void) {
  cudaGraph_t graph;
  cudaEvent_t event;
  void *p;
  int value = 0;
  OK(cudaEventCreate(&event));
  cudaGetLastError();
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamSynchronize(first));
  SHOW(cudaLaunchHostFunc(first, add, (void *)10));
  SHOW(cudaStreamEndCapture(first, &graph));
  SHOW_INT(graph == NULL);

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamQuery(first));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaMalloc(&p, 100));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  SHOW(cudaMalloc(&p, 100));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed));
  SHOW(cudaLaunchHostFunc(NULL, add, (void *)10));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(event, first));
  SHOW(cudaEventQuery(event));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaEventRecord(event, second));
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamWaitEvent(first, event, 0));
  SHOW(cudaStreamEndCapture(first, &graph));

  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaStreamAddCallback(first, NULL, NULL, 0));
  SHOW(cudaStreamEndCapture(first, &graph));

  pthread_t thread;
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  pthread_create(&thread, NULL, end_elsewhere, NULL);
  pthread_join(thread, NULL);
  SHOW(cudaStreamEndCapture(first, &graph));
}

static void memory(void) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  void *p;
  int value = 0;
  size_t nodes;
  cudaGetLastError();
  OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  SHOW(cudaMallocAsync(&p, 64, first));
  OK(cudaMemsetAsync(p, 5, 64, first));
  OK(cudaMemcpyAsync(device, p, 4, cudaMemcpyDeviceToDevice, first));
  SHOW(cudaFreeAsync(p, first));
  SHOW(cudaStreamEndCapture(first, &graph));
  OK(cudaGraphGetNodes(graph, NULL, &nodes));
  SHOW_INT(nodes);
  OK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i)
    SHOW(cudaGraphLaunch(exec, first));
  SHOW(cudaStreamSynchronize(first));
  OK(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost));
  printf("%x\n", (unsigned)value);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

// What is captured is lost with the stream that the capture began in.
static void destroyed(void) {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaDeviceSynchronize());
  OK(cudaStreamCreate(&stream));
  SHOW(cudaMemsetAsync(device, 0, 64, stream));
  SHOW(cudaStreamSynchronize(stream));
}

int main(void) {
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  OK(cudaMalloc((void **)&device, 64));
  replay();
  fork_and_join();
  forbidden();
  memory();
  destroyed();
  return 0;
}
