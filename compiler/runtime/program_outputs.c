// The memory of outputs that a program allocated, once the caller has it.

#include "check.h"
#include "cpu_device.h"
#include "memory_counts.h"
#include "program.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// What the tensors of one allocation share, and how many there are. `held` is a tensor of the
// caller's whose memory it is; then nothing is freed but that. `device` is the one whose stream it
// is, where the stream's handle does not say; else -1.
struct hirc_owner {
  _Atomic int64_t holders;
  void *memory;
  void *stream;
  struct dl_managed_tensor *held;
  int device;
};

// The greatest handle of those that stand for a stream of the current device.
enum { LAST_NUMBERED_STREAM = 2 };

// Who needs the library: whoever loaded it, until it leaves, and each owner.
static _Atomic int64_t holders = 1;
static void *handle; // from dlopen, of the one that left

// Whoever loaded the library needs it no more. Returns whether to close it now; else the last output
// does, or it stays: on a GPU its kernels may still run, and threads that CUDA's runtime knows call
// into that when they end.
int hirc_library_leave(void *library) {
  handle = library;
  return on_cpu_device() && atomic_fetch_sub(&holders, 1) == 1;
}

// The structs that a managed output is the first member of.
struct managed {
  struct dl_managed_tensor tensor;
  int64_t sizes_and_strides[];
};

struct versioned {
  struct dl_versioned_tensor tensor;
  int64_t sizes_and_strides[];
};

static int free_output(void *data, void *unused, void *stream) {
  struct cuda_pointer_attributes found;
  (void)unused;
  // Most are device memory, of which nothing need be asked.
  if (!memory_is_counted() && cudaFreeAsync(data, stream) == 0)
    return 0;
  cudaGetLastError();
  check(cudaPointerGetAttributes(&found, data), "cudaPointerGetAttributes", NULL);
  if (found.type == CUDA_MEMORY_UNREGISTERED)
    return 0; // a constant of the program's, or memory it keeps
  int kind = found.type == CUDA_MEMORY_HOST      ? HIRC_MEMORY_PINNED
             : found.type == CUDA_MEMORY_MANAGED ? HIRC_MEMORY_MANAGED
                                                 : HIRC_MEMORY_DEVICE;
  hirc_free(data, kind, stream, NULL);
  return 0;
}

// Frees an output's allocation, its `data`, in the order of a stream. Returns 0, or there is a
// message.
int hirc_output_free(void *data, void *stream) {
  return data ? hirc_guard(free_output, data, NULL, stream) : 0;
}

// The owner of an output's allocation, or of part of a tensor that is `held`; NULL where there is
// no memory, or CUDA answers no more. It is the caller's to release.
struct hirc_owner *hirc_output_own(void *data, void *stream, struct dl_managed_tensor *held) {
  int device = -1;
  if (!held && (uintptr_t)stream <= LAST_NUMBERED_STREAM && cudaGetDevice(&device) != 0) {
    cudaGetLastError();
    return NULL;
  }
  struct hirc_owner *owner = calloc(1, sizeof *owner);
  if (owner) {
    *owner = (struct hirc_owner){1, data, stream, held, device};
    atomic_fetch_add(&holders, 1);
  }
  return owner;
}

// Frees an output in the order of its stream, whatever device is current where it goes.
static void free_owned(const struct hirc_owner *owner) {
  int current = 0;
  bool is_elsewhere = owner->device >= 0 && cudaGetDevice(&current) == 0 &&
                      current != owner->device && cudaSetDevice(owner->device) == 0;
  hirc_output_free(owner->memory, owner->stream);
  if (is_elsewhere)
    cudaSetDevice(current);
}

// Returns whether that was all that the library was needed for.
int hirc_output_release(struct hirc_owner *owner) {
  if (atomic_fetch_sub(&owner->holders, 1) != 1)
    return 0;
  if (owner->held)
    owner->held->deleter(owner->held);
  else
    free_owned(owner);
  free(owner);
  return atomic_fetch_sub(&holders, 1) == 1;
}

// Closing the library is the last that they do: there is nothing to return to.
static void delete_managed(struct dl_managed_tensor *tensor) {
  struct hirc_owner *owner = tensor->owner;
  free(tensor);
  if (hirc_output_release(owner))
    __attribute__((musttail)) return ((void (*)(struct dl_managed_tensor *))(void *)dlclose)(handle);
}

static void delete_versioned(struct dl_versioned_tensor *tensor) {
  struct hirc_owner *owner = tensor->owner;
  free(tensor);
  if (hirc_output_release(owner))
    __attribute__((musttail)) return (
        (void (*)(struct dl_versioned_tensor *))(void *)dlclose)(handle);
}

// The output with sizes and strides of its own. Its data are its first element's address: not every
// reader looks at the offset.
static struct dl_tensor own_tensor(const struct dl_tensor *output, int64_t *sizes_and_strides) {
  struct dl_tensor tensor = *output;
  size_t bytes = (size_t)output->rank * sizeof(int64_t);
  tensor.data = (char *)output->data + output->byte_offset;
  tensor.byte_offset = 0;
  tensor.sizes = sizes_and_strides;
  tensor.strides = sizes_and_strides + output->rank;
  if (bytes) {
    memcpy(tensor.sizes, output->sizes, bytes);
    memcpy(tensor.strides, output->strides, bytes);
  }
  return tensor;
}

// A DLManagedTensor of an output that the program filled in, or with `is_versioned` a
// DLManagedTensorVersioned. It holds the owner. NULL where there is no memory.
void *hirc_output_manage(const struct dl_tensor *output, struct hirc_owner *owner,
                         int is_versioned) {
  size_t bytes = 2 * (size_t)output->rank * sizeof(int64_t);
  void *memory = malloc(bytes + (is_versioned ? sizeof(struct versioned) : sizeof(struct managed)));
  if (!memory)
    return NULL;
  atomic_fetch_add(&owner->holders, 1);
  if (is_versioned) {
    struct versioned *versioned = memory;
    struct dl_tensor tensor = own_tensor(output, versioned->sizes_and_strides);
    versioned->tensor = (struct dl_versioned_tensor){
        .major = 1, .owner = owner, .deleter = delete_versioned, .tensor = tensor};
  } else {
    struct managed *managed = memory;
    struct dl_tensor tensor = own_tensor(output, managed->sizes_and_strides);
    managed->tensor = (struct dl_managed_tensor){tensor, owner, delete_managed};
  }
  return memory;
}
