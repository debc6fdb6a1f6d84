// Loading cuBLASLt, and what its calls return.

#include "matmul_library.h"
#include "current_device.h"
#include "failure.h"
#include "loaded_library.h"

struct matmul_handles {
  _Atomic(cublaslt_handle) of[MAX_DEVICES];
};

// State: see streams.c.
__attribute__((weak, visibility("hidden"))) struct matmul_handles hirc_state_matmul_handles_1;

// The names of the versions that cublaslt_abi.h is of, newest first.
static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                    "/usr/local/cuda/lib64/libcublasLt.so"};

static struct cublaslt functions;

static const struct symbol symbols[] = {
#define SYMBOL(name) {"cublasLt" #name, offsetof(struct cublaslt, name), false}
    SYMBOL(GetStatusName),
    SYMBOL(GetVersion),
    SYMBOL(Create),
    SYMBOL(Destroy),
    SYMBOL(MatmulDescCreate),
    SYMBOL(MatmulDescDestroy),
    SYMBOL(MatmulDescSetAttribute),
    SYMBOL(MatrixLayoutCreate),
    SYMBOL(MatrixLayoutDestroy),
    SYMBOL(MatrixLayoutSetAttribute),
    SYMBOL(MatmulPreferenceCreate),
    SYMBOL(MatmulPreferenceDestroy),
    SYMBOL(MatmulPreferenceSetAttribute),
    SYMBOL(MatmulAlgoGetHeuristic),
    SYMBOL(Matmul),
#undef SYMBOL
};

__attribute__((cold, noinline)) static _Noreturn void refuse_library(const char *what,
                                                                     const char *why,
                                                                     const char *location) {
  hirc_error_begin(location);
  hirc_error_add(
      "this program calls cuBLASLt for its matrix products, and %s: %s\n"
      "note: install cuBLAS, with the CUDA toolkit or by 'pip install nvidia-cublas', and set "
      "HIRC_CUBLASLT to the path of its libcublasLt.so.13 where the loader does not find it; "
      "or build the program with --products=own",
      what, why);
  hirc_fail(hirc_end_program);
}

__attribute__((cold, noinline)) _Noreturn void
hirc_cublaslt_failed(const struct cublaslt *library, int status, const char *call,
                     const char *note, const char *location) {
  hirc_error_begin(location);
  hirc_error_add("%s failed: %s (%d), of cuBLASLt %zu", call, library->GetStatusName(status),
                 status, library->GetVersion());
  if (note)
    hirc_error_add("\nnote: %s", note);
  hirc_fail(hirc_end_after_device);
}

enum { NAMES = sizeof names / sizeof *names, SYMBOLS = sizeof symbols / sizeof *symbols };

static struct loaded_library loaded = {
    .variable = "HIRC_CUBLASLT",
    .not_loaded = "what HIRC_CUBLASLT names cannot be loaded",
    .lacking = "the one found lacks a function",
    .functions = &functions,
    .symbols = symbols,
    .symbol_count = SYMBOLS,
    .refuse = refuse_library,
};

int hirc_has_cublaslt(void) { return hirc_has_library(&loaded, names, NAMES); }

const struct cublaslt *hirc_cublaslt(const char *location) {
  if (__builtin_expect(!hirc_library_is_loaded(&loaded), 0))
    hirc_load_library(&loaded, names, NAMES, location);
  return &functions;
}

__attribute__((cold, noinline)) static cublaslt_handle
create_handle(const struct cublaslt *library, _Atomic(cublaslt_handle) *slot,
              const char *location) {
  cublaslt_handle created = NULL, present = NULL;
  cublaslt_check(library, library->Create(&created), "cublasLtCreate", location);
  if (atomic_compare_exchange_strong(slot, &present, created))
    return created;
  library->Destroy(created);
  return present;
}

cublaslt_handle hirc_cublaslt_handle(const struct cublaslt *library, int device,
                                     const char *location) {
  _Atomic(cublaslt_handle) *slot = &hirc_state_matmul_handles_1.of[device];
  cublaslt_handle handle = atomic_load_explicit(slot, memory_order_acquire);
  return handle ? handle : create_handle(library, slot, location);
}
