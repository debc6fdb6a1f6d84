// Ranges of NVTX around calls of programs and launches of kernels: HIRC_NVTX=1. Free of CUDA.
//
// NVTX is an interface without a library: a tool, such as Nsight Systems, names one of its own in
// NVTX_INJECTION64_PATH, and who has ranges to tell of loads that and lets it write its functions
// into a table. Without HIRC_NVTX nothing is loaded, and a launch takes a comparison longer. Numbers
// are those of NVTX 3, which have been the same from version 2 on.
#define _GNU_SOURCE

#include "ranges.h"
#include "calls.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void function(void);
enum { PUSH = 9, POP = 11, CORE_FUNCTIONS = 16 };

// What a tool writes its functions to; those that are not called here too.
__attribute__((weak, visibility("hidden"))) function *hirc_state_nvtx_1[CORE_FUNCTIONS];
__attribute__((weak, visibility("hidden"))) _Atomic int hirc_state_ranges_1;

enum { TABLE_OF_FUNCTIONS = 1, VERSION = 3 };
enum { CORE = 1 };

typedef int push_function(const char *name);
typedef int pop_function(void);
typedef const void *find_table(uint32_t number);
typedef int inject_function(find_table *find);

static int module_functions(int module, function ****table, unsigned *count) {
  static function **places[CORE_FUNCTIONS + 1];
  if (module != CORE)
    return 0;
  for (int i = 1; i < CORE_FUNCTIONS; ++i)
    places[i] = &hirc_state_nvtx_1[i];
  if (table)
    *table = places;
  if (count)
    *count = CORE_FUNCTIONS;
  return 1;
}

static void take_version(uint32_t version) { (void)version; }

static const void *table_of(uint32_t number) {
  static const struct {
    size_t bytes;
    int (*functions)(int module, function ****table, unsigned *count);
  } functions = {sizeof functions, module_functions};
  static const struct {
    size_t bytes;
    uint32_t version, reserved;
    void (*take)(uint32_t version);
  } version = {sizeof version, 3, 0, take_version};
  return number == TABLE_OF_FUNCTIONS ? &functions : number == VERSION ? (void *)&version : NULL;
}

// Lets the tool's library write its functions. False where there is none, or it wants no ranges.
static bool inject(void) {
  const char *wanted = getenv("HIRC_NVTX"), *path = getenv("NVTX_INJECTION64_PATH");
  if (!wanted || !*wanted || strcmp(wanted, "0") == 0 || !path || !*path)
    return false;
  void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  void *found = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
  if (!found) {
    const char *why = dlerror();
    fprintf(stderr, "warning: HIRC_NVTX has no ranges: %s\nnote: NVTX_INJECTION64_PATH names the "
                    "library of a tool that shows them; nsys sets it ('nsys profile PROGRAM')\n",
            why ? why : path);
    return false;
  }
  inject_function *initialize;
  memcpy(&initialize, &found, sizeof initialize);
  return initialize(table_of) != 0 && hirc_state_nvtx_1[PUSH] && hirc_state_nvtx_1[POP];
}

// Whether ranges are shown. The first thread that asks finds out; until it has, others have none.
__attribute__((cold, noinline)) bool hirc_ranges_decide(void) {
  int state = HIRC_RANGES_UNKNOWN;
  if (atomic_compare_exchange_strong(&hirc_state_ranges_1, &state, HIRC_RANGES_BEING_DECIDED))
    hirc_state_ranges_1 = state = inject() ? HIRC_RANGES_ON : HIRC_RANGES_OFF;
  return state == HIRC_RANGES_ON;
}

void hirc_range_push(const char *name) {
  if (hirc_state_call_2)
    ++hirc_state_call_2->ranges;
  ((push_function *)hirc_state_nvtx_1[PUSH])(name && *name ? name : "launch");
}

void hirc_range_pop(void) {
  if (hirc_state_call_2 && hirc_state_call_2->ranges)
    --hirc_state_call_2->ranges;
  ((pop_function *)hirc_state_nvtx_1[POP])();
}

// Ends what a call began, which a failure left.
void hirc_ranges_leave(struct hirc_call *call) {
  for (; call->ranges; --call->ranges)
    ((pop_function *)hirc_state_nvtx_1[POP])();
}
