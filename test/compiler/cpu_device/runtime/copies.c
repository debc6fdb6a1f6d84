// Copies and fills: results, and what is returned for what does not fit.

#include "show.h"

enum { SIZE = 4096 };

static unsigned char host[SIZE], back[SIZE];
static unsigned char *device, *other, *locked;

static void reset(void) {
  for (int i = 0; i < SIZE; ++i)
    host[i] = (unsigned char)(i * 7 + i / 256);
  memset(back, 0, sizeof back);
  OK(cudaMemset(device, 0, SIZE));
  OK(cudaMemset(other, 0, SIZE));
  OK(cudaDeviceSynchronize());
}

// A checksum that notices where bytes are.
static unsigned sum(const unsigned char *bytes) {
  unsigned result = 1;
  for (int i = 0; i < SIZE; ++i)
    result = result * 31 + bytes[i];
  return result;
}

static unsigned device_sum(const unsigned char *bytes) {
  static unsigned char copy[SIZE];
  OK(cudaMemcpy(copy, bytes, SIZE, cudaMemcpyDefault));
  return sum(copy);
}

static void lines(void) {
  reset();
  SHOW(cudaMemcpy(device, host, SIZE, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(other, device, SIZE, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(back, other, SIZE, cudaMemcpyDeviceToHost));
  SHOW_INT(memcmp(host, back, SIZE));
  SHOW(cudaMemcpy(locked, device + 3, 17, cudaMemcpyDefault));
  SHOW_INT(memcmp(host + 3, locked, 17));
  SHOW(cudaMemcpy(back, host + 1, 100, cudaMemcpyHostToHost));
  SHOW_INT(memcmp(host + 1, back, 100));
  SHOW(cudaMemcpy(device, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(NULL, host, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(NULL, host, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, NULL, 4, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, host, 4, (enum cudaMemcpyKind)5));
  SHOW(cudaMemcpy(device, host, 4, (enum cudaMemcpyKind)-1));
  SHOW(cudaMemcpy(device + 8, host, SIZE, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(back, device + 8, SIZE, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(device, other, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(device, other, 16, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(device, locked, 16, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(back, host, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(back, host, 16, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpy(back, host, 16, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(device, host, 16, cudaMemcpyDeviceToDevice));
  SHOW(cudaMemcpy(back, device, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(back, device, 16, cudaMemcpyHostToHost));
  SHOW(cudaMemcpyAsync(device, host, 16, cudaMemcpyHostToDevice, (cudaStream_t)cudaStreamLegacy));
  SHOW(cudaMemcpyAsync(back, device, 16, cudaMemcpyDeviceToHost, cudaStreamPerThread));
}

static void planes(void) {
  reset();
  SHOW(cudaMemcpy2D(device, 61, host, 53, 37, 29, cudaMemcpyHostToDevice));
  SHOW_INT(device_sum(device));
  SHOW(cudaMemcpy2D(back, 41, device, 61, 37, 29, cudaMemcpyDeviceToHost));
  SHOW_INT(sum(back));
  SHOW(cudaMemcpy2D(other, 37, device, 61, 37, 29, cudaMemcpyDeviceToDevice));
  SHOW_INT(device_sum(other));
  SHOW(cudaMemcpy2D(device, 36, host, 53, 37, 29, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 61, host, 36, 37, 29, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 61, host, 61, 0, 29, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 61, host, 61, 37, 0, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 0x80000000, host, 53, 37, 29, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 4096, host, 53, 37, 2, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy2D(device, 61, host, 53, 37, 29, (enum cudaMemcpyKind)7));
  SHOW(cudaMemcpy2DAsync(other, 64, locked, 64, 33, 3, cudaMemcpyDefault, NULL));
  SHOW(cudaDeviceSynchronize());
  SHOW_INT(device_sum(other));
}

static void boxes(void) {
  reset();
  struct cudaMemcpy3DParms box = {
      .srcPtr = {host, 23, 23, 11},
      .srcPos = {1, 2, 3},
      .dstPtr = {device, 19, 19, 7},
      .dstPos = {2, 1, 1},
      .extent = {13, 5, 4},
      .kind = cudaMemcpyHostToDevice,
  };
  SHOW(cudaMemcpy3D(&box));
  SHOW_INT(device_sum(device));
  box.extent.width = 30;
  SHOW(cudaMemcpy3D(&box));
  box.extent = (struct cudaExtent){0, 5, 4};
  SHOW(cudaMemcpy3D(&box));
  SHOW(cudaMemcpy3D(NULL));
}

static void fills(void) {
  reset();
  SHOW(cudaMemset(device + 5, 0x1ab, 77));
  SHOW(cudaMemset2D(device + 500, 31, 3, 17, 9));
  struct cudaPitchedPtr pitched = {device + 2000, 20, 20, 6};
  SHOW(cudaMemset3D(pitched, 9, (struct cudaExtent){7, 4, 3}));
  SHOW_INT(device_sum(device));
  SHOW(cudaMemset(device, 0, 0));
  SHOW(cudaMemset(NULL, 0, 0));
  SHOW(cudaMemset(NULL, 0, 1));
  SHOW(cudaMemset(device, 0, SIZE + 1));
  SHOW(cudaMemset(locked, 7, 10));
  SHOW_INT(locked[9]);
  SHOW(cudaMemset2D(device, 16, 0, 17, 2));
}

int main(void) {
  OK(cudaMalloc((void **)&device, SIZE));
  OK(cudaMalloc((void **)&other, SIZE));
  OK(cudaMallocHost((void **)&locked, SIZE));
  memset(locked, 1, SIZE);
  lines();
  planes();
  boxes();
  fills();
  return 0;
}
