// Checking what CUDA calls return, and what comes of one that failed.
//
// In a call of a library's program a failure goes back to the caller (calls.c). CUDA's own note of
// the last error is cleared then, as it is the process's and not the library's to leave behind.
//
// A command, or a function that is no program, ends by _exit with code 1, after flushing C's
// streams. Not by exit(): once a kernel has failed the context is lost, and the destructors that
// exit() runs (the CUDA runtime's, the module registration's, the user's) would call into it, from
// whatever thread failed, while other threads still run. Not by abort(): a failed launch is an
// error of the program or of the machine, and a core dump of it tells nothing.
//
// The device is synchronised once more on that way out, because that is what delivers the text of
// printf and assert in kernels that ran before the failure. After an execution error this returns
// at once and comes first, so that the kernel's text precedes this one; otherwise it may wait for
// kernels that still run, and comes after this message.

#include "amd_device.h"
#include "check.h"
#include "failure.h"
#include "world.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
  hirc_error_add("\nnote: this program needs an NVIDIA driver for CUDA %d or newer; ",
                 runtime / 1000);
  if (driver == 0)
    hirc_error_add("none is installed on this machine, or it could not be loaded");
  else
    hirc_error_add("this machine's is for CUDA %d.%d", driver / 1000, driver % 1000 / 10);
}

static void advise_on_architecture(void) {
  int device = 0;
  int capability = compute_capability(&device);
  if (capability == 0)
    hirc_error_add("\nnote: rebuild with --offload-arch=native on this machine, or with the "
                   "--offload-arch of its GPU");
  else
    hirc_error_add("\nnote: device %d has compute capability %d.%d; rebuild with "
                   "--offload-arch=sm_%d, alone or beside the others",
                   device, capability / 10, capability % 10, capability);
}

static void advise_on_ptx(void) {
  int device = 0;
  int capability = compute_capability(&device);
  hirc_error_add("\nnote: the driver cannot compile this program's PTX; install a newer driver, or "
                 "rebuild with machine code for this GPU");
  if (capability)
    hirc_error_add(": --offload-arch=sm_%d", capability);
}

static void advise_on_amd(int rc) {
  int count = 0;
  switch (rc) {
  case CUDA_ERROR_INSUFFICIENT_DRIVER:
    hirc_error_add("\nnote: this program needs AMD's driver and HIP runtime, libamdhip64 of ROCm 5.2 "
                   "or newer");
    if (*hirc_hip_fault())
      hirc_error_add("; HIRC_HIP names it where the loader does not find it: %s",
                     hirc_hip_fault());
    break;
  case CUDA_ERROR_NO_DEVICE:
  case CUDA_ERROR_INVALID_DEVICE:
    if (rc == CUDA_ERROR_INVALID_DEVICE && (cudaGetDeviceCount(&count) || count))
      break;
    hirc_error_add("\nnote: the driver shows no GPU to this program; see what rocminfo lists and "
                   "what HIP_VISIBLE_DEVICES holds");
    break;
  case CUDA_ERROR_INVALID_DEVICE_FUNCTION:
  case CUDA_ERROR_INVALID_KERNEL_IMAGE:
  case CUDA_ERROR_NO_KERNEL_IMAGE_FOR_DEVICE:
    hirc_error_add("\nnote: rebuild with the --offload-arch of this machine's GPU, which rocminfo "
                   "names, alone or beside the others");
    break;
  case CUDA_ERROR_NOT_SUPPORTED:
    hirc_error_add("\nnote: this machine's HIP runtime cannot do it; ROCm 6 is the oldest that "
                   "hirc uses all of");
    break;
  default:
    break;
  }
}

static void advise(int rc) {
  if (on_amd_device()) {
    advise_on_amd(rc);
    return;
  }
  switch (rc) {
  case CUDA_ERROR_INSUFFICIENT_DRIVER:
  case CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER:
    advise_on_driver();
    break;
  case CUDA_ERROR_NO_DEVICE:
    hirc_error_add("\nnote: the driver shows no GPU to this program; see what nvidia-smi lists and "
                   "what CUDA_VISIBLE_DEVICES holds");
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

static int is_execution_error(int rc) {
  return rc >= CUDA_ERROR_FIRST_OF_EXECUTION && rc <= CUDA_ERROR_LAST_OF_EXECUTION;
}

void hirc_end_after_device(void) {
  int rc = hirc_error()->cuda, executing = is_execution_error(rc);
  fflush(stdout);
  int rest = executing ? cudaDeviceSynchronize() : 0;
  hirc_error_print();
  if (!executing)
    rest = cudaDeviceSynchronize();
  if (rest != 0 && rest != rc)
    fprintf(stderr, "note: work launched before it failed too: %s (%d): %s\n",
            cudaGetErrorName(rest), rest, cudaGetErrorString(rest));
  fflush(NULL);
  _exit(1);
}

__attribute__((cold, noinline)) _Noreturn void hirc_check_failed(int rc, const char *call,
                                                                 const char *location,
                                                                 const char *note) {
  hirc_error_begin(location);
  bool is_hip = on_amd_device() && strncmp(call, "cuda", 4) == 0;
  hirc_error_add("%s%s failed: %s (%d): %s", is_hip ? "hip" : "", is_hip ? call + 4 : call,
                 cudaGetErrorName(rc), rc, cudaGetErrorString(rc));
  if (note)
    hirc_error_add("\nnote: %s", note);
  advise(rc);
  hirc_error()->cuda = rc;
  cudaGetLastError();
  hirc_fail(hirc_end_after_device);
}

// Fails unless `rc`, the result of the CUDA function named `call`, is cudaSuccess.
void hirc_check(int rc, const char *call, const char *location) { check(rc, call, location); }

void hirc_device_used(void) {
  __atomic_store_n(&hirc_state_wait_at_end_1, &hirc_wait_for_device, __ATOMIC_RELEASE);
  hirc_trace_gpus();
}

// Waits for everything that the program launched on the current device.
void hirc_wait_for_device(const char *location) {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize", location);
  if (hirc_communication_check)
    hirc_communication_check(location);
}
