// Registers the device code of the file, and the kernels and variables of its offload entries, with
// NVIDIA's runtime: before main, or when the library is loaded.
//
// Entries have the layout of clang 21 and newer (docs/offload-abi.md). They and the constructor's
// priority are as in what clang's linker wrapper makes.

#include <stdint.h>
#include <stdlib.h>

enum {
  KIND_CUDA = 2,
  FLAG_CONSTANT = 16,
  CONTAINER_MAGIC = 0x466243b1,
  CONTAINER_VERSION = 1,
  PRIORITY = 101,
};

struct offload_entry {
  uint64_t reserved;
  uint16_t version;
  uint16_t kind;
  uint32_t flags;
  void *address;
  char *name;
  uint64_t size; // 0: a kernel
  uint64_t data;
  void *auxiliary;
};

extern const struct offload_entry __start_llvm_offload_entries[] __attribute__((weak));
extern const struct offload_entry __stop_llvm_offload_entries[] __attribute__((weak));
extern const char hirc_device_code[];

#define OF_CUDA __attribute__((visibility("default")))
OF_CUDA void **__cudaRegisterFatBinary(const void *container);
OF_CUDA void __cudaRegisterFatBinaryEnd(void **handle);
OF_CUDA void __cudaUnregisterFatBinary(void **handle);
OF_CUDA int __cudaRegisterFunction(void **handle, const void *address, char *name,
                                   const char *device_name, int thread_limit, void *thread_id,
                                   void *block_id, void *block_dim, void *grid_dim,
                                   int *warp_size);
OF_CUDA void __cudaRegisterVar(void **handle, void *address, char *name, const char *device_name,
                               int external, size_t size, int constant, int global);

// __fatBinC_Wrapper_t of CUDA's fatbinary_section.h.
__attribute__((section(".nvFatBinSegment"), aligned(8))) static const struct {
  int magic;
  int version;
  const void *data;
  void *unused;
} container = {CONTAINER_MAGIC, CONTAINER_VERSION, hirc_device_code, NULL};

static void **handle;

static void unregister(void) { __cudaUnregisterFatBinary(handle); }

__attribute__((constructor(PRIORITY))) static void register_device_code(void) {
  handle = __cudaRegisterFatBinary(&container);
  size_t count =
      ((uintptr_t)__stop_llvm_offload_entries - (uintptr_t)__start_llvm_offload_entries) /
      sizeof(struct offload_entry);
  for (size_t i = 0; i < count; ++i) {
    const struct offload_entry *entry = &__start_llvm_offload_entries[i];
    if (entry->kind != KIND_CUDA)
      continue;
    if (entry->size == 0)
      __cudaRegisterFunction(handle, entry->address, entry->name, entry->name, -1, NULL, NULL, NULL,
                             NULL, NULL);
    else
      __cudaRegisterVar(handle, entry->address, entry->name, entry->name, 0, entry->size,
                        (entry->flags & FLAG_CONSTANT) != 0, 0);
  }
  __cudaRegisterFatBinaryEnd(handle);
  atexit(unregister);
}
