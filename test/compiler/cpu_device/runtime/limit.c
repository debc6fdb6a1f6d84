// The limit of device memory, with HIRC_CPU_MEMORY=8M.

#include "show.h"

#include <unistd.h>

static void pause_briefly(void *data) {
  (void)data;
  usleep(20000);
}

int main(void) {
  size_t available, total, million = 1 << 20;
  void *first, *second;
  cudaStream_t stream, other;
  OK(cudaMemGetInfo(&available, &total));
  SHOW_INT(total);
  SHOW_INT(available);
  SHOW(cudaMalloc(&first, 8 * million + 1));
  SHOW(cudaMalloc(&first, 5 * million));
  SHOW(cudaMalloc(&second, 4 * million));
  SHOW(cudaGetLastError());
  SHOW(cudaMallocManaged(&second, 4 * million, cudaMemAttachGlobal));
  SHOW(cudaMallocHost(&second, 4 * million)); // the host's memory is not limited
  OK(cudaMemGetInfo(&available, &total));
  SHOW_INT(available);
  SHOW(cudaFree(first));
  SHOW(cudaMalloc(&first, 8 * million));
  SHOW(cudaFree(first));

  // Memory freed in a stream goes to another when its turn has passed, and is waited for.
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  SHOW(cudaMallocAsync(&first, 6 * million, stream));
  OK(cudaLaunchHostFunc(stream, pause_briefly, NULL));
  SHOW(cudaFreeAsync(first, stream));
  SHOW(cudaFreeAsync(first, stream));
  SHOW(cudaMallocAsync(&second, 7 * million, other));
  SHOW(cudaFreeAsync(second, other));
  SHOW(cudaMallocAsync(&first, 7 * million, other));
  SHOW_INT(first == second); // the same stream takes it at once
  SHOW(cudaFreeAsync(first, other));

  // Work that is still pending when the program ends is dropped.
  OK(cudaLaunchHostFunc(stream, pause_briefly, NULL));
  return 0;
}
