// Allocation: what is returned for good and bad requests, and what a pointer is said to be.

#include "show.h"

static void show_pointer(const char *what, const void *pointer) {
  struct cudaPointerAttributes attributes;
  cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
  printf("%s: %s type %d device %d, %s, %s\n", what, cudaGetErrorName(error), attributes.type,
         attributes.device,
         attributes.devicePointer == pointer ? "device pointer" : "no device pointer",
         attributes.hostPointer == pointer ? "host pointer" : "no host pointer");
}

static void plain(void) {
  void *p = (void *)1, *q;
  SHOW(cudaMalloc(&p, 0));
  SHOW_INT(p == NULL);
  SHOW(cudaFree(NULL));
  OK(cudaMalloc(&p, 1000));
  SHOW_INT((size_t)p % 512);
  OK(cudaMalloc(&q, 1));
  SHOW_INT((size_t)q % 512);
  SHOW(cudaFree((char *)p + 512));
  SHOW(cudaFree(p));
  SHOW(cudaFree(p));
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaFreeHost(q));
  SHOW(cudaFree(q));
  SHOW(cudaMalloc(NULL, 8));
  SHOW(cudaMalloc(&p, (size_t)1 << 46));
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaPeekAtLastError());
}

static void host(void) {
  void *p, *device;
  unsigned flags;
  char *own = malloc(1 << 20), *inside = own + 4096 - (size_t)own % 4096;
  SHOW(cudaMallocHost(&p, 0));
  SHOW(cudaMallocHost(&p, 100));
  SHOW(cudaHostGetDevicePointer(&device, p, 0));
  SHOW_INT(device == p);
  SHOW(cudaHostGetFlags(&flags, p));
  SHOW_INT(flags);
  show_pointer("page-locked", p);
  SHOW(cudaFree(p));
  SHOW(cudaFreeHost((char *)p + 1));
  SHOW(cudaFreeHost(p));
  SHOW(cudaFreeHost(NULL));
  SHOW(cudaFreeHost(own));
  SHOW(cudaHostAlloc(&p, 100, 64));
  SHOW(cudaHostRegister(NULL, 10, 0));
  SHOW(cudaHostRegister(inside, 0, 0));
  SHOW(cudaHostRegister(inside, 8192, 0));
  SHOW(cudaHostRegister(inside, 8192, 0));
  SHOW(cudaHostRegister(inside + 4096, 8192, 0));
  show_pointer("registered", inside);
  show_pointer("inside registered", inside + 100);
  SHOW(cudaHostUnregister(inside + 4096));
  SHOW(cudaHostUnregister(inside));
  SHOW(cudaHostUnregister(inside));
  free(own);
}

static void managed(void) {
  int *p;
  SHOW(cudaMallocManaged((void **)&p, 0, cudaMemAttachGlobal));
  SHOW(cudaMallocManaged((void **)&p, 64, 0));
  SHOW(cudaMallocManaged((void **)&p, 64, cudaMemAttachGlobal));
  show_pointer("managed", p);
  p[3] = 5;
  SHOW(cudaMemset(p, 0, 8));
  SHOW(cudaDeviceSynchronize());
  SHOW_INT(p[3] + p[0]);
  SHOW(cudaFree(p));
}

static void ordered(void) {
  cudaStream_t stream;
  cudaMemPool_t pool;
  void *p, *q;
  uint64_t value, before;
  OK(cudaStreamCreate(&stream));
  SHOW(cudaMallocAsync(&p, 0, stream));
  SHOW(cudaMallocAsync(&p, 1000, stream));
  SHOW_INT((size_t)p % 512);
  SHOW(cudaFreeAsync(p, stream));
  SHOW(cudaFreeAsync(NULL, stream));
  OK(cudaMalloc(&q, 100));
  SHOW(cudaFreeAsync(q, stream));
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaFree(q));
  SHOW(cudaFreeAsync(q, stream));
  OK(cudaMallocAsync(&p, 1 << 20, stream));
  SHOW(cudaFree(p));
  OK(cudaStreamSynchronize(stream));
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 0));
  SHOW(cudaDeviceGetDefaultMemPool(&pool, 1));
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  SHOW_INT(value);
  value = UINT64_MAX;
  SHOW(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  value = 0;
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
  SHOW_INT(value == UINT64_MAX);
  int reuse = 0;
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &reuse));
  SHOW_INT(reuse);
  SHOW(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)99, &value));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
  SHOW(cudaMallocFromPoolAsync(&p, 512, pool, stream));
  OK(cudaStreamSynchronize(stream));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
  SHOW_INT(value - before);
  show_pointer("from the pool", p);
  SHOW(cudaFreeAsync(p, stream));
  OK(cudaStreamSynchronize(stream));
  SHOW(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
  SHOW_INT(value - before);
  SHOW(cudaMemPoolTrimTo(pool, 0));
  SHOW(cudaStreamDestroy(stream));
}

// The heap of device code has at least 4 MB.
static void heap_limit(void) {
  size_t bytes = 0;
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 150));
  OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  SHOW_INT(bytes);
  SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  SHOW_INT(bytes);
}

int main(void) {
  OK(cudaSetDevice(0));
  plain();
  host();
  managed();
  ordered();
  size_t available, total;
  SHOW(cudaMemGetInfo(&available, &total));
  SHOW_INT(available <= total && available > 0);
  void *p;
  size_t pitch;
  SHOW(cudaMallocPitch(&p, &pitch, 1000, 10));
  SHOW_INT(pitch);
  show_pointer("device", p);
  show_pointer("inside device", (char *)p + 5000);
  show_pointer("stack", &pitch);
  show_pointer("null", NULL);
  OK(cudaFree(p));
  heap_limit();
  return 0;
}
