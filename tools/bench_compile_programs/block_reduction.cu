// The sum of each block of 256 numbers, halving in shared memory; prints the first block's.
#include <cstdio>
#include <cstdlib>

__global__ void sum_blocks(const float *in, float *sums) {
  __shared__ float slots[256];
  int thread = threadIdx.x;
  slots[thread] = in[blockIdx.x * (long)blockDim.x + thread];
  __syncthreads();
  for (int half = 128; half > 0; half >>= 1) {
    if (thread < half)
      slots[thread] += slots[thread + half];
    __syncthreads();
  }
  if (thread == 0)
    sums[blockIdx.x] = slots[0];
}

int main() {
  const long count = 1048576, block = 256, grid = count / block;
  float *in = (float *)malloc(count * sizeof(float));
  for (long i = 0; i < count; ++i)
    in[i] = (float)(int)i;
  float *device_in, *device_sums;
  cudaMalloc(&device_in, count * sizeof(float));
  cudaMalloc(&device_sums, grid * sizeof(float));
  cudaMemcpy(device_in, in, count * sizeof(float), cudaMemcpyHostToDevice);
  sum_blocks<<<grid, block>>>(device_in, device_sums);
  float *sums = (float *)malloc(grid * sizeof(float));
  cudaMemcpy(sums, device_sums, grid * sizeof(float), cudaMemcpyDeviceToHost);
  printf("%g\n", sums[0]);
  cudaFree(device_in);
  cudaFree(device_sums);
  free(in);
  free(sums);
}
