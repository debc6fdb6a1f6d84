// Checking what CUDA calls return, and ending the program when one fails.
//
// A failed program ends by _exit with code 1, after flushing C's streams. Not by exit(): once a
// kernel has failed the context is lost, and the destructors that exit() runs (the CUDA runtime's,
// the module registration's, the user's) would call into it, from whatever thread failed, while
// other threads still run. Not by abort(): a failed launch is an error of the program or of the
// machine, and a core dump of it tells nothing.
//
// The device is synchronised once more on the way out, because that is what delivers the text of
// printf and assert in kernels that ran before the failure. After an execution error this returns
// at once and comes first, so that the kernel's text precedes ours; otherwise it may wait for
// kernels that still run, and comes after our message.

#include "check.h"

#include <stdio.h>
#include <unistd.h>

static const char *prefix(const char *location) { return location ? location : ""; }

static const char *separator(const char *location) {
  return location && location[0] ? ": " : "";
}

// The current device's compute capability as in sm_<capability>, 0 when it cannot be found out.
static int compute_capability(int *device) {
  int major = 0, minor = 0;
  if (cudaGetDevice(device) ||
      cudaDeviceGetAttribute(&major, CUDA_DEVICE_COMPUTE_CAPABILITY_MAJOR, *device) ||
      cudaDeviceGetAttribute(&minor, CUDA_DEVICE_COMPUTE_CAPABILITY_MINOR, *device))
    return 0;
  return 10 * major + minor;
}

static void advise_on_driver(void) {
  int driver = 0, runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) || cudaDriverGetVersion(&driver))
    driver = 0;
  fprintf(stderr, "note: this program needs an NVIDIA driver for CUDA %d or newer; ",
          runtime / 1000);
  if (driver == 0)
    fputs("none is installed on this machine, or it could not be loaded\n", stderr);
  else
    fprintf(stderr, "this machine's is for CUDA %d.%d\n", driver / 1000, driver % 1000 / 10);
}

static void advise_on_architecture(void) {
  int device = 0;
  int capability = compute_capability(&device);
  if (capability == 0) {
    fputs("note: rebuild with --offload-arch=native on this machine, or with the --offload-arch of "
          "its GPU\n",
          stderr);
    return;
  }
  fprintf(stderr,
          "note: device %d has compute capability %d.%d; rebuild with --offload-arch=sm_%d, alone "
          "or beside the others\n",
          device, capability / 10, capability % 10, capability);
}

static void advise_on_ptx(void) {
  int device = 0;
  int capability = compute_capability(&device);
  fputs("note: the driver cannot compile this program's PTX; install a newer driver, or rebuild "
        "with machine code for this GPU",
        stderr);
  if (capability)
    fprintf(stderr, ": --offload-arch=sm_%d", capability);
  fputc('\n', stderr);
}

static void advise(int rc) {
  switch (rc) {
  case CUDA_ERROR_INSUFFICIENT_DRIVER:
  case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    advise_on_driver();
    break;
  case CUDA_ERROR_NO_DEVICE:
    fputs("note: the driver shows no GPU to this program; see what nvidia-smi lists and what "
          "CUDA_VISIBLE_DEVICES holds\n",
          stderr);
    break;
  case CUDA_ERROR_INVALID_DEVICE_FUNCTION:
  case CUDA_ERROR_INVALID_KERNEL_IMAGE:
  case CUDA_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE:
    advise_on_architecture();
    break;
  case CUDA_ERROR_INVALID_PTX:
  case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
  case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
  case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    advise_on_ptx();
    break;
  default:
    break;
  }
}

__attribute__((cold, noinline)) _Noreturn void hirc_check_failed(int rc, const char *call,
                                                                 const char *location,
                                                                 const char *note) {
  int executing = rc >= CUDA_ERROR_FIRST_OF_EXECUTION && rc <= CUDA_ERROR_LAST_OF_EXECUTION;
  fflush(stdout);
  int rest = executing ? cudaDeviceSynchronize() : 0;
  fprintf(stderr, "%s%serror: %s failed: %s (%d): %s\n", prefix(location), separator(location),
          call, cudaGetErrorName(rc), rc, cudaGetErrorString(rc));
  if (note)
    fprintf(stderr, "note: %s\n", note);
  advise(rc);
  if (!executing)
    rest = cudaDeviceSynchronize();
  if (rest != 0 && rest != rc)
    fprintf(stderr, "note: work launched before it failed too: %s (%d): %s\n",
            cudaGetErrorName(rest), rest, cudaGetErrorString(rest));
  fflush(NULL);
  _exit(1);
}

// Ends the program unless `rc`, the result of the CUDA function named `call`, is cudaSuccess.
void hirc_check(int rc, const char *call, const char *location) { check(rc, call, location); }

// Waits for everything that the program launched on the current device.
void hirc_wait_for_device(const char *location) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", location);
}
