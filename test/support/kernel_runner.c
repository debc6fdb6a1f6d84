// Launches kernels of the CPU device as standard input says, and prints what their buffers hold.
//
// A launch is the name's length and the name, grid, block, bytes of dynamic shared memory, the
// number of arguments, and each of these: whether it is a buffer, its bytes, its contents.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct extent {
  unsigned x, y, z;
};

void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                            void *, void *, int *);
int cudaMalloc(void **, size_t);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaLaunchKernel(const void *, struct extent, struct extent, void **, size_t, void *);
int cudaDeviceSynchronize(void);
const char *cudaGetErrorName(int);

enum { MAX_ARGUMENTS = 32, TO_DEVICE = 1, FROM_DEVICE = 2 };

static void check(int error) {
  if (error) {
    fprintf(stderr, "%s\n", cudaGetErrorName(error));
    exit(1);
  }
}

static int take(void *data, size_t bytes) { return bytes == 0 || fread(data, bytes, 1, stdin) == 1; }

static void launch(uint32_t name_bytes) {
  char *name = calloc(1, name_bytes + 1);
  struct extent grid, block;
  uint32_t shared, count;
  void *arguments[MAX_ARGUMENTS], *memory[MAX_ARGUMENTS];
  uint32_t kinds[MAX_ARGUMENTS];
  uint64_t bytes[MAX_ARGUMENTS];
  if (!take(name, name_bytes) || !take(&grid, sizeof grid) || !take(&block, sizeof block) ||
      !take(&shared, sizeof shared) || !take(&count, sizeof count) || count > MAX_ARGUMENTS)
    exit(2);
  for (uint32_t i = 0; i < count; ++i) {
    if (!take(&kinds[i], sizeof kinds[i]) || !take(&bytes[i], sizeof bytes[i]))
      exit(2);
    char *data = aligned_alloc(64, (bytes[i] + 127) / 64 * 64);
    if (!take(data, bytes[i]))
      exit(2);
    arguments[i] = data;
    if (kinds[i]) {
      check(cudaMalloc(&memory[i], bytes[i]));
      check(cudaMemcpy(memory[i], data, bytes[i], TO_DEVICE));
      arguments[i] = &memory[i];
    }
  }
  __cudaRegisterFunction(NULL, name, name, name, -1, NULL, NULL, NULL, NULL, NULL);
  check(cudaLaunchKernel(name, grid, block, arguments, shared, NULL));
  check(cudaDeviceSynchronize());
  fflush(stdout);
  for (uint32_t i = 0; i < count; ++i)
    if (kinds[i]) {
      char *data = malloc(bytes[i] + 1);
      check(cudaMemcpy(data, memory[i], bytes[i], FROM_DEVICE));
      fwrite(data, bytes[i], 1, stdout);
      free(data);
    }
}

int main(void) {
  for (uint32_t name_bytes; take(&name_bytes, sizeof name_bytes);)
    launch(name_bytes);
  return 0;
}
