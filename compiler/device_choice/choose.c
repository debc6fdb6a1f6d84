// Which device a file that is built for GPUs and the CPU device uses: chosen once, at its first call
// of CUDA, for the whole process.
//
// The calls go through hirc_device_slots, an array of functions (dispatch.py). Each slot begins with
// one that chooses, and holds NVIDIA's runtime or the CPU device's from then on. HIRC_DEVICE says
// which; without it GPUs are used where there is one that the file has code for.
//
// A library never ends its process: where HIRC_DEVICE cannot be followed, every call fails.

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The file's own names for functions of NVIDIA's runtime: the link wraps the plain ones.
int __real_cudaGetDeviceCount(int *count);
int __real_cudaSetDevice(int device);
int __real_cudaDriverGetVersion(int *version);
int __real_cudaRuntimeGetVersion(int *version);
int __real_cudaFuncGetAttributes(void *attributes, const void *stub);
int __real_cudaGetLastError(void);
const char *__real_cudaGetErrorString(int error);

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  INSUFFICIENT_DRIVER = 35,
  NO_DEVICE = 100,
};

// cudaFuncGetAttributes of a kernel without code for the GPU: no function, an invalid image, no
// image; and PTX that the driver cannot compile, for lack of a compiler or of a newer one.
static const int without_code[] = {98, 200, 209, 218, 221, 222, 223};

// dispatch.py: a function of each device for each slot. Those of the third array go to NVIDIA's
// runtime after hirc_device_select.
extern _Atomic(void *) hirc_device_slots[];
extern void *const hirc_device_of_gpus[], *const hirc_device_of_cpu[], *const hirc_device_selecting[];
extern const size_t hirc_device_slot_count;

// See docs/offload-abi.md; the section is bounded by the linker.
struct entry {
  uint64_t reserved;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  char *name;
  uint64_t size; // 0: a kernel
  uint64_t data;
  void *auxiliary;
};
enum { KIND_CUDA = 2 };
extern const struct entry __start_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));
extern const struct entry __stop_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_cpu, is_refused;
static int number; // of the GPU that HIRC_DEVICE names

// Whether the first kernel has code that this thread's GPU runs, or the driver makes such.
static bool has_code(void) {
  size_t count =
      ((uintptr_t)__stop_llvm_offload_entries - (uintptr_t)__start_llvm_offload_entries) /
      sizeof(struct entry);
  for (size_t i = 0; i < count; ++i) {
    const struct entry *entry = &__start_llvm_offload_entries[i];
    if (entry->kind != KIND_CUDA || !entry->address || entry->size != 0)
      continue;
    _Alignas(16) char attributes[1024];
    int rc = __real_cudaFuncGetAttributes(attributes, entry->address);
    for (size_t k = 0; k < sizeof without_code / sizeof *without_code; ++k)
      if (rc == without_code[k])
        return false;
    return true;
  }
  return true;
}

// Why there is no GPU to use; NULL if there is, or if what is wrong with it should be heard.
static const char *missing(char *text, size_t room) {
  int count = 0, rc = __real_cudaGetDeviceCount(&count);
  if (rc == NO_DEVICE || (rc == SUCCESS && count == 0))
    return "the NVIDIA driver finds no GPU";
  if (rc == INSUFFICIENT_DRIVER) {
    int driver = 0, runtime = 0;
    if (__real_cudaDriverGetVersion(&driver) != SUCCESS || driver == 0)
      return "there is no NVIDIA driver";
    if (__real_cudaRuntimeGetVersion(&runtime) != SUCCESS)
      runtime = driver;
    snprintf(text, room, "the NVIDIA driver is for CUDA %d.%d, and CUDA %d is needed",
             driver / 1000, driver % 1000 / 10, runtime / 1000);
    return text;
  }
  return rc == SUCCESS && !has_code() ? "the program has no code for this GPU" : NULL;
}

static void use(void *const *functions) {
  for (size_t i = 0; i < hirc_device_slot_count; ++i)
    atomic_store_explicit(&hirc_device_slots[i], functions[i], memory_order_release);
}

static void follow(const char *asked) {
  if (strcmp(asked, "cuda") == 0) {
    use(hirc_device_of_gpus);
    return;
  }
  char *end = NULL;
  long given = -1;
  if (strncmp(asked, "cuda:", 5) == 0 && asked[5] >= '0' && asked[5] <= '9')
    given = strtol(asked + 5, &end, 10);
  is_refused = !end || *end != '\0' || given > INT32_MAX;
  if (is_refused)
    fprintf(stderr, "hirc: error: HIRC_DEVICE is '%s'; it may be cuda, cuda:1 or cpu\n", asked);
  number = (int)given;
  use(hirc_device_selecting);
}

static void choose(void) {
  char text[128];
  const char *asked = getenv("HIRC_DEVICE"), *why = NULL;
  bool is_asked = asked && *asked;
  if (is_asked && strcmp(asked, "cpu") != 0) {
    follow(asked);
    return;
  }
  if (!is_asked && !(why = missing(text, sizeof text))) {
    use(hirc_device_of_gpus);
    return;
  }
  __real_cudaGetLastError();
  if (why)
    fprintf(stderr, "hirc: note: running on the CPU device: %s\n", why);
  is_cpu = true;
  use(hirc_device_of_cpu);
}

void hirc_device_choose(void) { pthread_once(&once, choose); }

int hirc_device_is_cpu(void);
int hirc_device_is_cpu(void) {
  hirc_device_choose();
  return is_cpu;
}

// Before a thread's first call: the GPU that HIRC_DEVICE names. Returns what that gives.
int hirc_device_select(void) {
  static _Thread_local bool is_selected;
  static atomic_bool is_told;
  if (is_selected)
    return SUCCESS;
  if (is_refused)
    return INVALID_VALUE;
  int rc = __real_cudaSetDevice(number);
  is_selected = rc == SUCCESS;
  if (!is_selected && !atomic_exchange(&is_told, true))
    fprintf(stderr, "hirc: error: HIRC_DEVICE is 'cuda:%d': %s\n", number,
            __real_cudaGetErrorString(rc));
  return rc;
}
