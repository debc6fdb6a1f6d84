// Loading NCCL.

#include "nccl_library.h"
#include "amd_device.h"
#include "failure.h"
#include "hirc_runtime.h"
#include "loaded_library.h"

// RCCL has the same interface for AMD's GPUs.
static const char *const nvidia_names[] = {"libnccl.so.2", "libnccl.so"};
static const char *const amd_names[] = {"librccl.so.1", "librccl.so"};

static struct nccl functions;

static const struct symbol symbols[] = {
#define SYMBOL(name) {"nccl" #name, offsetof(struct nccl, name), false}
    SYMBOL(GetUniqueId),   SYMBOL(CommInitRankConfig), SYMBOL(CommAbort),
    SYMBOL(CommGetAsyncError), SYMBOL(GetErrorString), SYMBOL(GetLastError),
    SYMBOL(AllReduce),     SYMBOL(Reduce),             SYMBOL(ReduceScatter),
    SYMBOL(AllGather),     SYMBOL(Broadcast),          SYMBOL(Send),
    SYMBOL(Recv),          SYMBOL(GroupStart),         SYMBOL(GroupEnd),
#undef SYMBOL
};

enum { NAMES = 2, SYMBOLS = sizeof symbols / sizeof *symbols };

__attribute__((cold, noinline)) static _Noreturn void refuse(const char *what, const char *why,
                                                             const char *location) {
  hirc_error_begin(location);
  bool is_amd = on_amd_device();
  hirc_error_add("this program communicates by %s, and %s: %s\nnote: install it, by %s, and set "
                 "HIRC_NCCL to the path of its %s where the loader does not find it",
                 is_amd ? "RCCL" : "NCCL", what, why,
                 is_amd ? "your system's packages or with ROCm"
                        : "'pip install nvidia-nccl-cu13' or your system's packages",
                 is_amd ? amd_names[0] : nvidia_names[0]);
  hirc_fail(hirc_end_program);
}

static struct loaded_library library = {
    .variable = "HIRC_NCCL",
    .not_loaded = "what HIRC_NCCL names cannot be loaded",
    .lacking = "the one found is older than 2.14",
    .functions = &functions,
    .symbols = symbols,
    .symbol_count = SYMBOLS,
    .refuse = refuse,
};

const struct nccl *hirc_nccl(const char *location) {
  if (on_cpu_device())
    return hirc_cpu_device_nccl();
  if (__builtin_expect(!hirc_library_is_loaded(&library), 0))
    hirc_load_library(&library, on_amd_device() ? amd_names : nvidia_names, NAMES, location);
  return &functions;
}
