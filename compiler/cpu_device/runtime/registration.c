// Registration of kernels and variables, as the code that clang and nvcc generate does it, and
// finding them by address.
//
// A name is looked up among what this program's device code defines (hirc_cpu_kernels and
// hirc_cpu_variables); a stub without a kernel of that name stays unknown, and launching it is
// cudaErrorInvalidDeviceFunction. Images themselves are ignored: they are for other devices.
//
// The table is read without a lock. It has open addressing and is never changed but by adding; one
// that becomes too full is copied to a larger one and stays valid for those who read it.

#include "registration.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  _Atomic(const void *) address; // NULL: free
  union {
    struct hirc_function *function;
    const struct hirc_variable *variable;
  };
};

struct table {
  size_t room; // a power of two
  size_t count;
  struct entry entries[];
};

extern struct hirc_kernel *const __start_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern struct hirc_kernel *const __stop_hirc_cpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern struct hirc_variable *const __start_hirc_cpu_variables[]
    __attribute__((weak, visibility("hidden")));
extern struct hirc_variable *const __stop_hirc_cpu_variables[]
    __attribute__((weak, visibility("hidden")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct table *) functions, variables;

static size_t slot_of(const void *address, size_t room) {
  return ((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (room - 1);
}

// The entry of the address, or the free one where it belongs.
static struct entry *probe(struct table *table, const void *address) {
  for (size_t slot = slot_of(address, table->room);; slot = (slot + 1) & (table->room - 1)) {
    const void *there =
        atomic_load_explicit(&table->entries[slot].address, memory_order_acquire);
    if (there == address || !there)
      return &table->entries[slot];
  }
}

static struct entry *find(_Atomic(struct table *) *place, const void *address) {
  struct table *table = atomic_load_explicit(place, memory_order_acquire);
  if (__builtin_expect(!table || !address, 0))
    return NULL;
  struct entry *entry = probe(table, address);
  return atomic_load_explicit(&entry->address, memory_order_relaxed) ? entry : NULL;
}

static void enter(_Atomic(struct table *) *place, const void *address, void *value) {
  pthread_mutex_lock(&lock);
  struct table *table = atomic_load(place);
  if (!table || 2 * table->count >= table->room) {
    size_t room = table ? 2 * table->room : 256;
    struct table *grown = calloc(1, sizeof *grown + room * sizeof *grown->entries);
    if (!grown)
      abort();
    grown->room = room;
    grown->count = table ? table->count : 0;
    for (size_t i = 0; table && i < table->room; ++i)
      if (table->entries[i].address) {
        struct entry *entry = probe(grown, table->entries[i].address);
        entry->function = table->entries[i].function;
        entry->address = table->entries[i].address;
      }
    table = grown;
    atomic_store_explicit(place, table, memory_order_release);
  }
  struct entry *entry = probe(table, address);
  if (!entry->address) {
    ++table->count;
    entry->function = value;
    atomic_store_explicit(&entry->address, address, memory_order_release);
  }
  pthread_mutex_unlock(&lock);
}

struct hirc_function *hirc_function_of(const void *stub) {
  struct entry *entry = find(&functions, stub);
  return entry ? entry->function : NULL;
}

const struct hirc_variable *hirc_variable_of(const void *symbol) {
  struct entry *entry = find(&variables, symbol);
  return entry ? entry->variable : NULL;
}

static void release(struct table *table, bool owns_values) {
  for (size_t i = 0; table && i < table->room; ++i)
    if (owns_values)
      free(table->entries[i].function);
  free(table);
}

void hirc_registration_release(void) {
  release(atomic_load(&functions), true);
  release(atomic_load(&variables), false);
}

// The sections' ends as numbers: the symbols are weak, and comparing addresses of different
// objects is undefined.
static size_t count_between(const void *start, const void *stop) {
  return ((uintptr_t)stop - (uintptr_t)start) / sizeof(void *);
}

static struct hirc_kernel *const *given_kernels;
static struct hirc_variable *const *given_variables;
static size_t given_kernel_count, given_variable_count;

struct hirc_kernel *const *hirc_kernels(size_t *count) {
  *count = given_kernels ? given_kernel_count
                         : count_between(__start_hirc_cpu_kernels, __stop_hirc_cpu_kernels);
  return given_kernels ? given_kernels : __start_hirc_cpu_kernels;
}

static struct hirc_variable *const *all_variables(size_t *count) {
  *count = given_variables ? given_variable_count
                           : count_between(__start_hirc_cpu_variables, __stop_hirc_cpu_variables);
  return given_variables ? given_variables : __start_hirc_cpu_variables;
}

void hirc_cpu_device_give(struct hirc_kernel *const *kernels, size_t kernel_count,
                          struct hirc_variable *const *variables, size_t variable_count) {
  given_kernels = kernels;
  given_kernel_count = kernel_count;
  given_variables = variables;
  given_variable_count = variable_count;
  hirc_choose_regions();
}

static const struct hirc_variable *variable_named(const char *name) {
  size_t count;
  struct hirc_variable *const *all = all_variables(&count);
  for (size_t i = 0; i < count; ++i)
    if (all[i] && !strcmp(all[i]->name, name))
      return all[i];
  return NULL;
}

const struct hirc_variable *hirc_variable_at(const void *address) {
  size_t count;
  struct hirc_variable *const *all = all_variables(&count);
  for (size_t i = 0; i < count; ++i) {
    const struct hirc_variable *variable = all[i];
    if (variable && (uintptr_t)address - (uintptr_t)variable->address < variable->bytes)
      return variable;
  }
  return NULL;
}

static const struct hirc_kernel *kernel_named(const char *name) {
  size_t count;
  struct hirc_kernel *const *all = hirc_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    if (all[i] && !strcmp(all[i]->name, name))
      return all[i];
  return NULL;
}

// --- what generated code calls -------------------------------------------------------------------

void **__cudaRegisterFatBinary(void *image) {
  void **handle = malloc(sizeof *handle);
  if (handle)
    *handle = image;
  return handle;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

// What was registered stays: the program ends, or its code is unloaded and not called any more.
void __cudaUnregisterFatBinary(void **handle) { free(handle); }

char __cudaInitModule(void **handle) {
  (void)handle;
  return 1;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            void *block_size, void *grid_size, int *warp_size) {
  (void)handle, (void)device_function, (void)thread_limit, (void)thread, (void)block;
  (void)block_size, (void)grid_size;
  if (warp_size)
    *warp_size = HIRC_WARP_SIZE;
  const struct hirc_kernel *kernel = device_name ? kernel_named(device_name) : NULL;
  if (!kernel || hirc_function_of(stub))
    return;
  struct hirc_function *function = calloc(1, sizeof *function);
  if (!function)
    abort();
  function->kernel = kernel;
  function->max_dynamic_shared = -1;
  function->carveout = -1;
  enter(&functions, stub, function);
}

void __cudaRegisterVar(void **handle, char *symbol, char *device_address, const char *device_name,
                       int is_external, size_t bytes, int is_constant, int is_global) {
  (void)handle, (void)device_address, (void)is_external, (void)bytes, (void)is_constant;
  (void)is_global;
  const struct hirc_variable *variable = device_name ? variable_named(device_name) : NULL;
  if (variable)
    enter(&variables, symbol, (void *)variable);
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address,
                              const char *device_name, int is_external, size_t bytes,
                              int is_constant, int is_global) {
  (void)handle, (void)device_address, (void)is_external, (void)bytes, (void)is_constant;
  (void)is_global;
  const struct hirc_variable *variable = device_name ? variable_named(device_name) : NULL;
  if (!variable)
    return;
  *pointer = variable->address;
  enter(&variables, pointer, (void *)variable);
}
