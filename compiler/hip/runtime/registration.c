// Registration of kernels and variables, as the code that clang's link makes does it before `main`:
// handed on to HIP's runtime. Without one nothing is registered, and the first call says so.

#include "hip.h"

#include <stdlib.h>

// A name is looked up at each call: there are few.
#define REGISTER(name, ...)                                                                        \
  static _Atomic(void *) place;                                                                    \
  void (*const function)(__VA_ARGS__) = (void (*)(__VA_ARGS__))hirc_hip_function(&place, name);    \
  if (function)                                                                                    \
  function

void **__hipRegisterFatBinary(const void *image);
void **__hipRegisterFatBinary(const void *image) {
  static _Atomic(void *) place;
  static void *none;
  void **(*function)(const void *) =
      (void **(*)(const void *))hirc_hip_function(&place, "__hipRegisterFatBinary");
  return function ? function(image) : &none;
}

void __hipUnregisterFatBinary(void **handle);
void __hipUnregisterFatBinary(void **handle) {
  REGISTER("__hipUnregisterFatBinary", void **)(handle);
}

// For code that no linker put together: what it registered is taken back where the library that it
// calls is unloaded, and at exit while HIP's runtime is still there.
static void **registered;

static void unregister(void) { __hipUnregisterFatBinary(registered); }

void hirc_hip_unregister_at_end(void **handle);
void hirc_hip_unregister_at_end(void **handle) {
  registered = handle;
  atexit(unregister);
}

void __hipRegisterFunction(void **handle, const void *stub, char *device_function,
                           const char *device_name, unsigned thread_limit, void *thread,
                           void *block, void *block_size, void *grid_size, int *warp_size);
void __hipRegisterFunction(void **handle, const void *stub, char *device_function,
                           const char *device_name, unsigned thread_limit, void *thread,
                           void *block, void *block_size, void *grid_size, int *warp_size) {
  REGISTER("__hipRegisterFunction", void **, const void *, char *, const char *, unsigned, void *,
           void *, void *, void *, int *)
  (handle, stub, device_function, device_name, thread_limit, thread, block, block_size, grid_size,
   warp_size);
}

void __hipRegisterVar(void **handle, void *symbol, char *device_address, const char *device_name,
                      int is_external, size_t bytes, int is_constant, int is_global);
void __hipRegisterVar(void **handle, void *symbol, char *device_address, const char *device_name,
                      int is_external, size_t bytes, int is_constant, int is_global) {
  REGISTER("__hipRegisterVar", void **, void *, char *, const char *, int, size_t, int, int)
  (handle, symbol, device_address, device_name, is_external, bytes, is_constant, is_global);
}

void __hipRegisterManagedVar(void *handle, void **pointer, void *value, const char *device_name,
                             size_t bytes, unsigned alignment);
void __hipRegisterManagedVar(void *handle, void **pointer, void *value, const char *device_name,
                             size_t bytes, unsigned alignment) {
  REGISTER("__hipRegisterManagedVar", void *, void **, void *, const char *, size_t, unsigned)
  (handle, pointer, value, device_name, bytes, alignment);
}

void __hipRegisterSurface(void **handle, void *symbol, char *device_address,
                          const char *device_name, int kind, int is_external);
void __hipRegisterSurface(void **handle, void *symbol, char *device_address,
                          const char *device_name, int kind, int is_external) {
  REGISTER("__hipRegisterSurface", void **, void *, char *, const char *, int, int)
  (handle, symbol, device_address, device_name, kind, is_external);
}

void __hipRegisterTexture(void **handle, void *symbol, char *device_address,
                          const char *device_name, int kind, int is_normalized, int is_external);
void __hipRegisterTexture(void **handle, void *symbol, char *device_address,
                          const char *device_name, int kind, int is_normalized, int is_external) {
  REGISTER("__hipRegisterTexture", void **, void *, char *, const char *, int, int, int)
  (handle, symbol, device_address, device_name, kind, is_normalized, is_external);
}
