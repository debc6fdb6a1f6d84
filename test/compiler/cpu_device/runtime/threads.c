// Several threads of the host use streams, memory, events and graphs at the same time.

#include "show.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, NUMBERS = 3000 };

static cudaStream_t shared_stream;
static int counter; // only work of the shared stream touches it

static void count(void *data) {
  (void)data;
  ++counter;
}

static void *work(void *data) {
  size_t self = (size_t)data;
  cudaStream_t first, second;
  cudaEvent_t event;
  int *locked;
  OK(cudaStreamCreateWithFlags(&first, self % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
  OK(cudaStreamCreate(&second));
  OK(cudaEventCreate(&event));
  OK(cudaMallocHost((void **)&locked, NUMBERS * sizeof *locked));
  for (int round = 0; round < ROUNDS; ++round) {
    unsigned char *bytes, *others;
    size_t size = NUMBERS * sizeof *locked;
    OK(cudaMallocAsync((void **)&bytes, size, first));
    OK(cudaMallocAsync((void **)&others, size, second));
    OK(cudaMemsetAsync(bytes, (int)self + round, size, first));
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event, 0));
    OK(cudaMemcpyAsync(others, bytes, size, cudaMemcpyDeviceToDevice, second));
    OK(cudaMemcpyAsync(locked, others, size, cudaMemcpyDeviceToHost, second));
    OK(cudaLaunchHostFunc(shared_stream, count, NULL));
    OK(cudaEventRecord(event, second));
    OK(cudaFreeAsync(others, second));
    OK(cudaStreamWaitEvent(first, event, 0));
    OK(cudaFreeAsync(bytes, first));
    if (round % 8 == 0)
      OK(cudaMemsetAsync(locked, 0, 0, NULL)); // nothing, in the legacy stream
    OK(cudaEventSynchronize(event));
    for (int i = 0; i < NUMBERS; ++i)
      if (locked[i] != (int)(0x01010101u * (unsigned char)(self + (size_t)round))) {
        printf("thread %zu, round %d: number %d is %x\n", self, round, i, (unsigned)locked[i]);
        exit(1);
      }
  }
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaEventDestroy(event));
  OK(cudaFreeHost(locked));
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  OK(cudaStreamCreate(&shared_stream));
  for (size_t i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (size_t i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  OK(cudaStreamSynchronize(shared_stream));
  SHOW_INT(counter);
  OK(cudaStreamDestroy(shared_stream));
  return 0;
}
