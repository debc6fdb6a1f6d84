// Calls of programs, and how a failure leaves them. Free of CUDA.
//
// A program in a library must not end the process that it is called in. What fails below an
// exported function therefore goes back to it by longjmp: over frames of compiled code and of this
// library, which own nothing but what hirc_own has written into the call's record. The streams that
// the program put work into come to rest, what it owns is given back, and the function returns
// HIRC_FAILED. Where nothing fails this costs a setjmp, and a store for each allocation.
//
// Outside of a call, in a command's main, a failure prints its message and ends the process.

#include "calls.h"
#include "failure.h"
#include "hirc_runtime.h"
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

__attribute__((weak, visibility("hidden"))) _Thread_local struct hirc_call *hirc_state_call_2;
__attribute__((weak, visibility("hidden"))) hirc_settle *hirc_state_settle_1[HIRC_SETTLERS];

__attribute__((cold, noinline)) void hirc_call_grow(struct hirc_call *call, void *object,
                                                    hirc_release *release, const char *location) {
  size_t room = 2 * call->room;
  struct hirc_owned *larger = malloc(room * sizeof *larger);
  if (!larger) {
    release(object, call->stream);
    hirc_refuse("no memory is left on the host", 0, 0, location);
  }
  memcpy(larger, call->owned, call->count * sizeof *larger);
  if (call->owned != call->first)
    free(call->owned);
  call->owned = larger;
  call->room = room;
}

void hirc_call_begin(struct hirc_call *call, void *stream) {
  call->outer = hirc_state_call_2;
  call->recorder = NULL;
  call->stream = stream;
  call->owned = call->first;
  call->count = 0;
  call->ranges = 0;
  call->room = HIRC_OWNED_AT_FIRST;
  hirc_state_call_2 = call;
}

__attribute__((cold, noinline)) void hirc_call_release(struct hirc_call *call) {
  hirc_state_call_2 = call->outer;
  for (size_t i = call->count; i-- > 0;)
    call->owned[i].release(call->owned[i].object, call->stream);
}

void hirc_call_end(struct hirc_call *call) {
  if (__builtin_expect(call->ranges != 0, 0))
    hirc_ranges_leave(call);
  if (__builtin_expect(call->owned != call->first, 0))
    free(call->owned);
}

__attribute__((cold, noinline)) static void unwind(struct hirc_call *call) {
  hirc_state_call_2 = call->outer;
  for (int i = 0; i < HIRC_SETTLERS; ++i) {
    hirc_settle *settle = __atomic_load_n(&hirc_state_settle_1[i], __ATOMIC_ACQUIRE);
    if (settle)
      settle();
  }
  hirc_call_release(call);
}

// Calls `function` with these arguments, of which the last one is the stream that it works for.
// Returns what it returned, or HIRC_FAILED once something failed: then it has nothing left.
int hirc_guard(hirc_guarded *function, void *first, void *second, void *stream) {
  struct hirc_call call;
  int status = HIRC_FAILED;
  hirc_call_begin(&call, stream);
  if (setjmp(call.failed) == 0) {
    status = function(first, second, stream);
    hirc_state_call_2 = call.outer;
  } else {
    unwind(&call);
    status = HIRC_FAILED;
  }
  hirc_call_end(&call);
  return status;
}

_Noreturn void hirc_fail(hirc_ending *end) {
  struct hirc_call *call = hirc_state_call_2;
  hirc_error()->end = end;
  if (call)
    longjmp(call->failed, 1);
  end();
  __builtin_unreachable();
}

// What the host's program allocated by malloc.
static void free_host(void *memory, void *stream) {
  (void)stream;
  free(memory);
}

void hirc_own_host(void *memory, int64_t bytes, const char *location) {
  if (__builtin_expect(!memory && bytes > 0, 0))
    hirc_refuse("no memory is left on the host for %lld bytes", bytes, 0, location);
  hirc_own(memory, free_host, HIRC_OBJECT, location);
}

void hirc_disown_memory(void *memory) { hirc_disown(memory, HIRC_OBJECT); }
