// Which device a file that is built for several kinds of them uses: chosen once, at its first call
// of CUDA, for the whole process.
//
// The calls go through hirc_device_slots, an array of functions (dispatch.py). Each slot begins with
// one that chooses, and holds a function of one device's runtime from then on. HIRC_DEVICE says
// which device; without it NVIDIA's GPUs are used where there is one that the file has code for, else
// AMD's, else the CPU device.
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

enum {
  SUCCESS = 0,
  INSUFFICIENT_DRIVER = 35,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
};

// cudaFuncGetAttributes of a kernel without code for the GPU: no function, an invalid image, no
// image; and PTX that the driver cannot compile, for lack of a compiler or of a newer one. HIP's
// numbers are the same.
static const int without_code[] = {98, 200, 209, 218, 221, 222, 223};

// What is called of a kind of GPU before it is chosen; NULL in files that are not for it.
struct runtime {
  int (*device_count)(int *count);
  int (*set_device)(int device);
  int (*driver_version)(int *version);
  int (*runtime_version)(int *version);
  int (*function_attributes)(void *attributes, const void *stub);
  int (*last_error)(void);
  const char *(*error_string)(int error);
};

// dispatch.py: a function of each device for each slot. Those that select call hirc_device_select
// first.
extern _Atomic(void *) hirc_device_slots[];
extern void *const hirc_device_of_cuda[], *const hirc_device_selecting_cuda[];
extern void *const hirc_device_of_hip[], *const hirc_device_selecting_hip[];
extern void *const hirc_device_of_cpu[];
extern const size_t hirc_device_slot_count;
extern const struct runtime hirc_device_cuda, hirc_device_hip;

// hip/runtime/library.c: in files for AMD's GPUs.
__attribute__((weak, visibility("hidden"))) const char *hirc_hip_fault(void);
// cpu_device/runtime/: in files for the CPU device.
__attribute__((weak, visibility("hidden"))) void
hirc_cpu_device_program_ends(const char *location);

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
extern const struct entry __start_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));
extern const struct entry __stop_llvm_offload_entries[]
    __attribute__((weak, visibility("hidden")));

// A kind of GPU.
struct kind {
  const char *word; // in HIRC_DEVICE
  int entry_kind;
  const struct runtime *runtime;
  void *const *functions, *const *selecting;
};
static const struct kind kinds[] = {
    {"cuda", 2, &hirc_device_cuda, hirc_device_of_cuda, hirc_device_selecting_cuda},
    {"hip", 4, &hirc_device_hip, hirc_device_of_hip, hirc_device_selecting_hip},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct kind *chosen; // NULL: the CPU device
static bool is_refused;
static int number; // of the GPU that HIRC_DEVICE names

static bool is_in_file(const struct kind *kind) { return kind->runtime->device_count != NULL; }
static bool has_cpu(void) { return hirc_cpu_device_program_ends != NULL; }

// Whether the first kernel has code that this thread's GPU runs, or the driver makes such.
static bool has_code(const struct kind *kind) {
  size_t count =
      ((uintptr_t)__stop_llvm_offload_entries - (uintptr_t)__start_llvm_offload_entries) /
      sizeof(struct entry);
  for (size_t i = 0; i < count; ++i) {
    const struct entry *entry = &__start_llvm_offload_entries[i];
    if (entry->kind != kind->entry_kind || !entry->address || entry->size != 0)
      continue;
    _Alignas(16) char attributes[1024];
    int rc = kind->runtime->function_attributes(attributes, entry->address);
    for (size_t k = 0; k < sizeof without_code / sizeof *without_code; ++k)
      if (rc == without_code[k])
        return false;
    return true;
  }
  return true;
}

static const char *missing_driver(const struct kind *kind, char *text, size_t room) {
  int driver = 0, runtime = 0;
  if (kind->entry_kind != kinds[0].entry_kind)
    return *hirc_hip_fault() ? "there is no HIP runtime" : "there is no AMD driver";
  if (kind->runtime->driver_version(&driver) != SUCCESS || driver == 0)
    return "there is no NVIDIA driver";
  if (kind->runtime->runtime_version(&runtime) != SUCCESS)
    runtime = driver;
  snprintf(text, room, "the NVIDIA driver is for CUDA %d.%d, and CUDA %d is needed", driver / 1000,
           driver % 1000 / 10, runtime / 1000);
  return text;
}

// Why there is no GPU of a kind to use; NULL if there is, or if what is wrong with it should be
// heard.
static const char *missing(const struct kind *kind, char *text, size_t room) {
  bool is_nvidia = kind == &kinds[0];
  int count = 0, rc = kind->runtime->device_count(&count);
  if (rc == NO_DEVICE || (rc == SUCCESS && count == 0))
    return is_nvidia ? "the NVIDIA driver finds no GPU" : "the HIP runtime finds no GPU";
  if (rc == INSUFFICIENT_DRIVER)
    return missing_driver(kind, text, room);
  return rc == SUCCESS && !has_code(kind) ? "the program has no code for this GPU" : NULL;
}

static void use(void *const *functions) {
  for (size_t i = 0; i < hirc_device_slot_count; ++i)
    atomic_store_explicit(&hirc_device_slots[i], functions[i], memory_order_release);
}

static void use_gpus(const struct kind *kind) {
  chosen = kind;
  use(kind->functions);
}

static void use_cpu(void) {
  chosen = NULL;
  use(hirc_device_of_cpu);
}

// What HIRC_DEVICE may be is a kind of GPU that the file is for, and a number of one; or the CPU
// device.
static void refuse(const char *asked) {
  char words[2 * KINDS + 1][8];
  int count = 0;
  for (int i = 0; i < KINDS; ++i)
    if (is_in_file(&kinds[i])) {
      snprintf(words[count++], sizeof *words, "%s", kinds[i].word);
      snprintf(words[count++], sizeof *words, "%s:1", kinds[i].word);
    }
  if (has_cpu())
    snprintf(words[count++], sizeof *words, "cpu");
  fprintf(stderr, "hirc: error: HIRC_DEVICE is '%s'; it may be %s", asked, words[0]);
  for (int i = 1; i < count; ++i)
    fprintf(stderr, "%s%s", i + 1 < count ? ", " : " or ", words[i]);
  fputc('\n', stderr);
  is_refused = true;
}

static void follow(const char *asked) {
  if (has_cpu() && strcmp(asked, "cpu") == 0) {
    use_cpu();
    return;
  }
  const struct kind *kind = NULL;
  size_t length = 0;
  for (int i = 0; i < KINDS && !kind; ++i) {
    length = strlen(kinds[i].word);
    if (is_in_file(&kinds[i]) && strncmp(asked, kinds[i].word, length) == 0 &&
        (!asked[length] || asked[length] == ':'))
      kind = &kinds[i];
  }
  if (kind && !asked[length]) {
    use_gpus(kind);
    return;
  }
  const char *digits = kind ? asked + length + 1 : "";
  char *end = NULL;
  long given = *digits >= '0' && *digits <= '9' ? strtol(digits, &end, 10) : -1;
  if (!end || *end != '\0' || given > INT32_MAX)
    refuse(asked);
  number = (int)given;
  chosen = kind ? kind : is_in_file(&kinds[0]) ? &kinds[0] : &kinds[1];
  use(chosen->selecting);
}

static void choose(void) {
  const char *asked = getenv("HIRC_DEVICE"), *why[KINDS] = {0};
  char text[KINDS][128];
  if (asked && *asked) {
    follow(asked);
    return;
  }
  const struct kind *first = NULL;
  for (int i = 0; i < KINDS; ++i) {
    if (!is_in_file(&kinds[i]))
      continue;
    why[i] = missing(&kinds[i], text[i], sizeof text[i]);
    if (!why[i]) {
      use_gpus(&kinds[i]);
      return;
    }
    kinds[i].runtime->last_error();
    if (!first)
      first = &kinds[i];
  }
  fprintf(stderr, has_cpu() ? "hirc: note: running on the CPU device: " : "hirc: note: ");
  fprintf(stderr, "%s%s%s\n", why[0] ? why[0] : "", why[0] && why[1] ? ", and " : "",
          why[1] ? why[1] : "");
  if (has_cpu())
    use_cpu();
  else
    use_gpus(first);
}

void hirc_device_choose(void) { pthread_once(&once, choose); }

int hirc_device_is_cpu(void);
int hirc_device_is_cpu(void) {
  hirc_device_choose();
  return !chosen;
}

int hirc_device_is_amd(void);
int hirc_device_is_amd(void) {
  hirc_device_choose();
  return chosen == &kinds[1];
}

// Before a thread's first call: the GPU that HIRC_DEVICE names. Returns what that gives.
int hirc_device_select(void) {
  static _Thread_local bool is_selected;
  static atomic_bool is_told;
  if (is_selected)
    return SUCCESS;
  if (is_refused)
    return INVALID_DEVICE;
  int rc = chosen->runtime->set_device(number);
  is_selected = rc == SUCCESS;
  if (!is_selected && !atomic_exchange(&is_told, true))
    fprintf(stderr, "hirc: error: HIRC_DEVICE is '%s:%d': %s\n", chosen->word, number,
            chosen->runtime->error_string(rc));
  return rc;
}
