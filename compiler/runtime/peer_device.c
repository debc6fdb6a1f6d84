// Memory of NVIDIA's GPUs that processes of a machine share, and flags in the host's memory, at which
// streams wait.

#include "peer_device.h"
#include "check.h"
#include "driver.h"

#include <unistd.h>

enum {
  LAZY_PEER_ACCESS = 1,
  PEER_ACCESS_ALREADY_ENABLED = 704,
  REGISTER_FOR_DEVICES = 3, // portable and mapped
  AT_LEAST = 0,
  WHOLE_PAGE = 2 << 20, // of the device: what is smaller would share one, and all of it be shared
};

// The driver's own.
struct handle {
  char bytes[HIRC_PEER_HANDLE_BYTES];
};

static struct {
  int (*get_handle)(struct handle *handle, void *memory);
  int (*close_handle)(void *memory);
  int (*open_handle)(void **memory, struct handle handle, unsigned flags);
  int (*retain_context)(void **context, int device);
  int (*enable_access)(void *context, unsigned flags);
  int (*write_value)(void *stream, void *address, uint64_t value, unsigned flags);
  int (*wait_value)(void *stream, void *address, uint64_t value, unsigned flags);
} driver;

static int share(void **memory, size_t bytes, struct hirc_peer_handle *handle) {
  size_t whole = (bytes + WHOLE_PAGE - 1) / WHOLE_PAGE * WHOLE_PAGE;
  int rc = cudaMalloc(memory, whole);
  rc = rc ? rc : cudaGetDevice(&handle->device);
  handle->address = *memory;
  handle->process = (int)getpid();
  return rc ? rc : driver.get_handle((struct handle *)handle->bytes, *memory);
}

// A process cannot open what is its own: its devices reach each other where they are let.
static int open_own(void **memory, const struct hirc_peer_handle *handle) {
  void *context = NULL;
  int device = 0, rc = cudaGetDevice(&device);
  *memory = handle->address;
  if (rc || device == handle->device)
    return rc;
  rc = driver.retain_context(&context, handle->device);
  rc = rc ? rc : driver.enable_access(context, 0);
  return rc == PEER_ACCESS_ALREADY_ENABLED ? 0 : rc;
}

static int open_memory(void **memory, size_t bytes, const struct hirc_peer_handle *handle) {
  (void)bytes;
  if (handle->process == (int)getpid())
    return open_own(memory, handle);
  return driver.open_handle(memory, *(const struct handle *)handle->bytes, LAZY_PEER_ACCESS);
}

static int close_memory(void *memory, const struct hirc_peer_handle *handle) {
  return handle->process == (int)getpid() ? 0 : driver.close_handle(memory);
}

static int take_flags(_Atomic uint64_t *flags, size_t bytes, _Atomic uint64_t **known) {
  int rc = cudaHostRegister((void *)flags, bytes, REGISTER_FOR_DEVICES);
  return rc ? rc : cudaHostGetDevicePointer((void **)known, (void *)flags, 0);
}

static int copy(void *to, const void *from, size_t bytes, void *stream) {
  return cudaMemcpyAsync(to, from, bytes, CUDA_MEMCPY_DEFAULT, stream);
}

// What the stream wrote before is there before the flag is.
static int signal_peer(_Atomic uint64_t *flag, uint64_t value, void *stream) {
  return driver.write_value(stream, (void *)flag, value, 0);
}

static int wait_for(const struct hirc_peer_wait *wait, void *stream) {
  return driver.wait_value(stream, (void *)wait->flag, wait->value, AT_LEAST);
}

// The first of the driver's functions that it lacks, or NULL.
static const char *find_all(void) {
  const struct {
    const char *name;
    void *function;
  } wanted[] = {
      {"cuIpcGetMemHandle", &driver.get_handle},
      {"cuIpcOpenMemHandle", &driver.open_handle},
      {"cuIpcCloseMemHandle", &driver.close_handle},
      {"cuDevicePrimaryCtxRetain", &driver.retain_context},
      {"cuCtxEnablePeerAccess", &driver.enable_access},
      {"cuStreamWriteValue64", &driver.write_value},
      {"cuStreamWaitValue64", &driver.wait_value},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i)
    if (!hirc_driver_find(wanted[i].name, wanted[i].function))
      return wanted[i].name;
  return NULL;
}

static const struct hirc_peer_device functions = {
    .share = share,
    .open = open_memory,
    .close = close_memory,
    .take_flags = take_flags,
    .copy = copy,
    .signal = signal_peer,
    .wait = wait_for,
};

const struct hirc_peer_device *hirc_gpu_peers_or_null(void) {
  return find_all() ? NULL : &functions;
}

const struct hirc_peer_device *hirc_gpu_peers(const char *location) {
  const char *lacking = find_all();
  if (lacking)
    hirc_check_failed(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, lacking, location,
                      "memory that devices share needs a driver of CUDA 12 or newer");
  return &functions;
}
