// Loading cuDNN, its handles, and what its calls return.

#include "convolution_library.h"
#include "calls.h"
#include "current_device.h"
#include "failure.h"
#include "hirc_runtime.h"
#include "loaded_library.h"

#include <stdlib.h>

// Handles that no call uses; others are destroyed.
enum { HANDLES = 8 };

struct convolution_handles {
  _Atomic(struct convolution_handle *) of[MAX_DEVICES][HANDLES];
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct convolution_handles
    hirc_state_convolution_handles_1;

// The names of the versions that cudnn_abi.h is of, newest first.
static const char *const names[] = {"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so",
                                    "/usr/local/cuda/lib64/libcudnn.so"};

static struct cudnn functions;

static const struct symbol symbols[] = {
#define SYMBOL(name) {"cudnn" #name, offsetof(struct cudnn, name), false}
    SYMBOL(GetVersion),
    SYMBOL(GetErrorString),
    {"cudnnGetLastErrorString", offsetof(struct cudnn, GetLastErrorString), true},
    SYMBOL(Create),
    SYMBOL(Destroy),
    SYMBOL(SetStream),
    SYMBOL(CreateTensorDescriptor),
    SYMBOL(DestroyTensorDescriptor),
    SYMBOL(SetTensorNdDescriptor),
    SYMBOL(CreateFilterDescriptor),
    SYMBOL(DestroyFilterDescriptor),
    SYMBOL(SetFilterNdDescriptor),
    SYMBOL(CreateConvolutionDescriptor),
    SYMBOL(DestroyConvolutionDescriptor),
    SYMBOL(SetConvolutionNdDescriptor),
    SYMBOL(SetConvolutionMathType),
    SYMBOL(SetConvolutionGroupCount),
    SYMBOL(GetConvolutionForwardAlgorithm_v7),
    SYMBOL(GetConvolutionForwardWorkspaceSize),
    SYMBOL(ConvolutionForward),
    SYMBOL(GetConvolutionBackwardDataAlgorithm_v7),
    SYMBOL(GetConvolutionBackwardDataWorkspaceSize),
    SYMBOL(ConvolutionBackwardData),
#undef SYMBOL
};

__attribute__((cold, noinline)) static _Noreturn void refuse_library(const char *what,
                                                                     const char *why,
                                                                     const char *location) {
  hirc_error_begin(location);
  hirc_error_add("this program calls cuDNN for its convolutions, and %s: %s\n"
                 "note: install cuDNN 9, for one by 'pip install nvidia-cudnn-cu13', and set "
                 "HIRC_CUDNN to the path of its libcudnn.so.9 where the loader does not find it; "
                 "or build the program with --convolutions=own",
                 what, why);
  hirc_fail(hirc_end_program);
}

__attribute__((cold, noinline)) _Noreturn void hirc_cudnn_failed(const struct cudnn *library,
                                                                 int status, const char *call,
                                                                 const char *location) {
  hirc_error_begin(location);
  hirc_error_add("%s failed: %s (%d), of cuDNN %zu", call, library->GetErrorString(status), status,
                 library->GetVersion());
  if (library->GetLastErrorString) {
    char message[512] = "";
    library->GetLastErrorString(message, sizeof message);
    message[sizeof message - 1] = 0;
    if (message[0])
      hirc_error_add(": %s", message);
  }
  hirc_fail(hirc_end_after_device);
}

enum { NAMES = sizeof names / sizeof *names, SYMBOLS = sizeof symbols / sizeof *symbols };

static struct loaded_library loaded = {
    .variable = "HIRC_CUDNN",
    .not_loaded = "what HIRC_CUDNN names cannot be loaded",
    .lacking = "the one found lacks a function",
    .functions = &functions,
    .symbols = symbols,
    .symbol_count = SYMBOLS,
    .refuse = refuse_library,
};

int hirc_has_cudnn(void) { return hirc_has_library(&loaded, names, NAMES); }

const struct cudnn *hirc_cudnn(const char *location) {
  if (__builtin_expect(!hirc_library_is_loaded(&loaded), 0))
    hirc_load_library(&loaded, names, NAMES, location);
  return &functions;
}

// Of a call that failed, or beyond those that are kept.
static void release_handle(void *object, void *stream) {
  (void)stream;
  struct convolution_handle *handle = object;
  if (handle->handle)
    functions.Destroy(handle->handle);
  free(handle);
}

__attribute__((cold, noinline)) static struct convolution_handle *
create_handle(const struct cudnn *library, const char *location) {
  struct convolution_handle *created = calloc(1, sizeof *created);
  if (!created)
    hirc_refuse("no memory is left on the host", 0, 0, location);
  hirc_own(created, release_handle, HIRC_OBJECT, location);
  cudnn_check(library, library->Create(&created->handle), "cudnnCreate", location);
  return created;
}

struct convolution_handle *hirc_cudnn_handle(const struct cudnn *library, int device, void *stream,
                                             const char *location) {
  struct convolution_handle *handle = NULL;
  for (int i = 0; i < HANDLES && !handle; ++i)
    handle = atomic_exchange_explicit(&hirc_state_convolution_handles_1.of[device][i], NULL,
                                      memory_order_acquire);
  if (handle)
    hirc_own(handle, release_handle, HIRC_OBJECT, location);
  else
    handle = create_handle(library, location);
  if (handle->stream != stream) {
    cudnn_check(library, library->SetStream(handle->handle, stream), "cudnnSetStream", location);
    handle->stream = stream;
  }
  return handle;
}

void hirc_cudnn_handle_done(struct convolution_handle *handle, int device) {
  hirc_disown(handle, HIRC_OBJECT);
  for (int i = 0; i < HANDLES; ++i) {
    struct convolution_handle *empty = NULL;
    if (atomic_compare_exchange_strong_explicit(&hirc_state_convolution_handles_1.of[device][i],
                                                &empty, handle, memory_order_release,
                                                memory_order_relaxed))
      return;
  }
  release_handle(handle, NULL);
}
