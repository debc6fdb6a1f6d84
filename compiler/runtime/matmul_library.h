// cuBLASLt, loaded when the first matrix product runs.
#ifndef HIRC_MATMUL_LIBRARY_H
#define HIRC_MATMUL_LIBRARY_H

#include "cublaslt_abi.h"

// The library's functions. Fails, and says what to install, where it cannot be loaded.
const struct cublaslt *hirc_cublaslt(const char *location);

// The device's handle, of the current device.
cublaslt_handle hirc_cublaslt_handle(const struct cublaslt *library, int device,
                                     const char *location);

// Fails because `call` returned `status`, with a note where it is not NULL.
_Noreturn void hirc_cublaslt_failed(const struct cublaslt *library, int status, const char *call,
                                    const char *note, const char *location);

static inline void cublaslt_check(const struct cublaslt *library, int status, const char *call,
                                  const char *location) {
  if (__builtin_expect(status != CUBLASLT_SUCCESS, 0))
    hirc_cublaslt_failed(library, status, call, NULL, location);
}

#endif
