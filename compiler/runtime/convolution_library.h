// cuDNN, loaded when the first convolution by it runs.
#ifndef HIRC_CONVOLUTION_LIBRARY_H
#define HIRC_CONVOLUTION_LIBRARY_H

#include "cudnn_abi.h"

// A handle, and the stream that it was told last. One thread uses it at a time.
struct convolution_handle {
  cudnn_handle handle;
  cuda_stream stream;
};

// Returns the library's functions. Fails, and says what to install, where it cannot be loaded.
const struct cudnn *hirc_cudnn(const char *location);

// Returns a handle of the current device, for the stream. It is the call's (calls.h) until
// hirc_cudnn_handle_done.
struct convolution_handle *hirc_cudnn_handle(const struct cudnn *library, int device,
                                             void *stream, const char *location);

void hirc_cudnn_handle_done(struct convolution_handle *handle, int device);

// Fails because `call` returned `status`.
_Noreturn void hirc_cudnn_failed(const struct cudnn *library, int status, const char *call,
                                 const char *location);

static inline void cudnn_check(const struct cudnn *library, int status, const char *call,
                               const char *location) {
  if (__builtin_expect(status != CUDNN_SUCCESS, 0))
    hirc_cudnn_failed(library, status, call, location);
}

#endif
