// Registers the kernels and variables of the program's offload entries before main.
//
// The entries are those that clang's offload linking walks (section llvm_offload_entries); where a
// host object was compiled for clang's linker wrapper but linked without it, this is all the
// registration there is.

#include "registration.h"

enum {
  KIND_CUDA = 2,
  KIND_HIP = 4, // in files for AMD's GPUs too
  FLAG_KIND = 7, // 0 a variable, 1 a managed one; textures and surfaces are not for this device
  FLAG_MANAGED = 1,
  FLAG_CONSTANT = 16,
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

extern const struct offload_entry __start_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));
extern const struct offload_entry __stop_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));

__attribute__((constructor)) static void register_offload_entries(void) {
  size_t count =
      ((uintptr_t)__stop_llvm_offload_entries - (uintptr_t)__start_llvm_offload_entries) /
      sizeof(struct offload_entry);
  for (size_t i = 0; i < count; ++i) {
    const struct offload_entry *entry = &__start_llvm_offload_entries[i];
    if ((entry->kind != KIND_CUDA && entry->kind != KIND_HIP) || !entry->address)
      continue;
    int constant = (entry->flags & FLAG_CONSTANT) != 0;
    if (entry->size == 0)
      __cudaRegisterFunction(NULL, entry->address, entry->name, entry->name, -1, NULL, NULL, NULL,
                             NULL, NULL);
    else if ((entry->flags & FLAG_KIND) == FLAG_MANAGED)
      __cudaRegisterManagedVar(NULL, entry->auxiliary, entry->address, entry->name, 0, entry->size,
                               constant, 0);
    else if ((entry->flags & FLAG_KIND) == 0)
      __cudaRegisterVar(NULL, entry->address, entry->name, entry->name, 0, entry->size, constant,
                        0);
  }
}
