// out[i] = exp(sqrt(i)) over 2^20 numbers; prints one of them.
#include <cstdio>
#include <cstdlib>

__global__ void fill(float *out, long count) {
  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < count)
    out[i] = expf(sqrtf((float)(int)i));
}

int main() {
  const long count = 1048576, block = 256;
  float *device_out;
  cudaMalloc(&device_out, count * sizeof(float));
  fill<<<(count + block - 1) / block, block>>>(device_out, count);
  float *out = (float *)malloc(count * sizeof(float));
  cudaMemcpy(out, device_out, count * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", out[100]);
  cudaFree(device_out);
  free(out);
}
