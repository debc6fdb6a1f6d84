// The product of two 256x256 matrices of ones, by 16x16 tiles in shared memory; prints an element.
#include <cstdio>
#include <cstdlib>

__global__ void multiply(const float *a, const float *b, float *c) {
  __shared__ float a_tile[16][16], b_tile[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int tile = 0; tile < 256; tile += 16) {
    a_tile[ty][tx] = a[row * 256 + tile + tx];
    b_tile[ty][tx] = b[(tile + ty) * 256 + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum = fmaf(a_tile[ty][k], b_tile[k][tx], sum);
    __syncthreads();
  }
  c[row * 256 + column] = sum;
}

int main() {
  const int bytes = 256 * 256 * sizeof(float);
  float *ones = (float *)malloc(bytes);
  for (int i = 0; i < 256 * 256; ++i)
    ones[i] = 1;
  float *a, *b, *c;
  cudaMalloc(&a, bytes);
  cudaMalloc(&b, bytes);
  cudaMalloc(&c, bytes);
  cudaMemcpy(a, ones, bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(b, ones, bytes, cudaMemcpyHostToDevice);
  multiply<<<dim3(16, 16), dim3(16, 16)>>>(a, b, c);
  cudaMemcpy(ones, c, bytes, cudaMemcpyDeviceToHost);
  printf("%g\n", ones[1]);
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  free(ones);
}
