// Stands for NVIDIA's runtime: registers kernels, and writes down what is launched. STAND_IN_GPUS is
// the number of GPUs, none at first; STAND_IN_CODE what cudaFuncGetAttributes returns. With
// STAND_IN_SHOWS it prints what is registered.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, INSUFFICIENT_DRIVER = 35, NO_DEVICE = 100, INVALID_DEVICE = 101 };

static const void *stubs[MOST];
static const char *names[MOST];
static int known;
static _Thread_local int current;

static int number(const char *variable) {
  const char *text = getenv(variable);
  return text ? atoi(text) : 0;
}

struct wrapper {
  unsigned magic, version;
  const unsigned *container;
};

static void show(const char *what, const struct wrapper *wrapper, const char *name, const char *again,
                 size_t bytes, int constant) {
  if (!number("STAND_IN_SHOWS"))
    return;
  printf("%s %#x %u %#x %u: %s %s %zu %d\n", what, wrapper->magic, wrapper->version,
         wrapper->container[0], wrapper->container[2], name, again, bytes, constant);
  fflush(stdout);
}

void **__cudaRegisterFatBinary(void *image) {
  show("container", image, "", "", 0, 0);
  return (void **)image;
}
void __cudaRegisterFatBinaryEnd(void **handle) { show("end", (void *)handle, "", "", 0, 0); }
void __cudaUnregisterFatBinary(void **handle) { show("no more", (void *)handle, "", "", 0, 0); }

void __cudaRegisterFunction(void **handle, const char *stub, char *function, const char *name) {
  show("function", (void *)handle, function, name, 0, stub == NULL);
  stubs[known] = stub;
  names[known++] = name;
}

void __cudaRegisterVar(void **handle, void *address, char *variable, const char *name, int external,
                       size_t bytes, int constant, int global) {
  if (!number("STAND_IN_SHOWS") || !address || external || global)
    abort(); // other tests' programs have no variables
  show("variable", (void *)handle, variable, name, bytes, constant);
}

// What is linked and not called: the tests' programs have no clusters.
int cudaLaunchKernelExC(void) { abort(); }
void __cudaRegisterManagedVar(void) { abort(); }
void __cudaRegisterSurface(void) { abort(); }
void __cudaRegisterTexture(void) { abort(); }

struct extent {
  unsigned x, y, z;
};

int cudaLaunchKernel(const void *stub, struct extent grid, struct extent block, void **arguments,
                     size_t shared, void *stream) {
  (void)arguments, (void)shared, (void)stream;
  for (int i = 0; i < known; ++i)
    if (stubs[i] == stub)
      printf("GPU %d: %s, %u blocks of %u threads\n", current, names[i], grid.x, block.x);
  return 0;
}

int cudaFuncGetAttributes(void *attributes, const void *stub) {
  memset(attributes, 0, 64);
  return stub ? number("STAND_IN_CODE") : 98;
}

int cudaFuncSetAttribute(const void *stub, int attribute, int value) {
  return (void)stub, (void)attribute, (void)value, 0;
}

int cudaGetDeviceCount(int *count) {
  *count = number("STAND_IN_GPUS");
  return getenv("STAND_IN_GPUS") ? *count ? 0 : NO_DEVICE : INSUFFICIENT_DRIVER;
}

int cudaSetDevice(int device) {
  if (device >= number("STAND_IN_GPUS"))
    return INVALID_DEVICE;
  current = device;
  return 0;
}

int cudaGetDevice(int *device) { return *device = current, 0; }
int cudaDriverGetVersion(int *version) { return *version = number("STAND_IN_DRIVER"), 0; }
int cudaRuntimeGetVersion(int *version) { return *version = 13000, 0; }
int cudaDeviceGetAttribute(int *value, int attribute, int device) {
  return *value = attribute + device, 0;
}
int cudaDeviceSynchronize(void) { return 0; }
int cudaStreamSynchronize(void *stream) { return (void)stream, 0; }
int cudaGetLastError(void) { return 0; }
const char *cudaGetErrorName(int error) { return error ? "cudaErrorOfStandIn" : "cudaSuccess"; }
const char *cudaGetErrorString(int error) { return error ? "the stand-in says no" : "no error"; }
