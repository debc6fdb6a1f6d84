// Kernels and variables of device code, found by the host's addresses for them. See registration.c.
#ifndef HIRC_REGISTRATION_H
#define HIRC_REGISTRATION_H

#include "errors.h"

// A registered kernel and what has been set for it.
struct hirc_function {
  const struct hirc_kernel *kernel;
  _Atomic int max_dynamic_shared; // as cudaFuncSetAttribute allowed
  _Atomic int non_portable_cluster;
  _Atomic int carveout;
  _Atomic int cluster_scheduling;
};

// The kernel registered under the stub's address, NULL if there is none.
struct hirc_function *hirc_function_of(const void *stub);

// The variable registered under the host's address, or that the device address lies in.
const struct hirc_variable *hirc_variable_of(const void *symbol);
const struct hirc_variable *hirc_variable_at(const void *address);

// The device code's kernels and how many there are: of the linked file, or those that were given.
struct hirc_kernel *const *hirc_kernels(size_t *count);

// For code that no linker put beside this: its kernels and variables, before they are registered.
void hirc_cpu_device_give(struct hirc_kernel *const *kernels, size_t kernel_count,
                          struct hirc_variable *const *variables, size_t variable_count);

// wide_regions.c
void hirc_choose_regions(void);

// Forgets everything that was registered, for a library that is being unloaded.
void hirc_registration_release(void);

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            void *block_size, void *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *symbol, char *device_address, const char *device_name,
                       int is_external, size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address,
                              const char *device_name, int is_external, size_t bytes,
                              int is_constant, int is_global);

#endif
