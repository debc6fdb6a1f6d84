// Calls of programs: what one has taken and not yet given to its caller, and where it goes on once
// something fails. See calls.c.
#ifndef HIRC_CALLS_H
#define HIRC_CALLS_H

#include <setjmp.h>
#include <stddef.h>

// Gives `object` back, in the order of a stream where it has one. It may not fail.
typedef void hirc_release(void *object, void *stream);

// A place in memory may be an object and page-locked too.
enum hirc_ownership { HIRC_OBJECT, HIRC_PAGE_LOCK };

struct hirc_owned {
  void *object;
  hirc_release *release;
  enum hirc_ownership kind;
};

enum { HIRC_OWNED_AT_FIRST = 24 };

struct hirc_recorder;

struct hirc_call {
  struct hirc_call *outer;
  struct hirc_recorder *recorder; // see graphs.h
  void *stream;
  struct hirc_owned *owned; // `first`, or memory from malloc once there are more
  size_t count, room;
  int ranges; // that began and have not ended, see ranges.h
  struct hirc_owned first[HIRC_OWNED_AT_FIRST];
  jmp_buf failed;
};

// The calling thread's innermost call, NULL outside of any: then a failure ends the process.
extern __attribute__((weak, visibility("hidden"))) _Thread_local struct hirc_call *hirc_state_call_2;

// What lets the streams that a linked file made come to rest; set by those who make them.
typedef void hirc_settle(void);
enum {
  HIRC_SETTLE_ACQUIRED,
  HIRC_SETTLE_NAMED,
  HIRC_SETTLE_COMMUNICATIONS,
  HIRC_SETTLERS,
};
extern __attribute__((weak, visibility("hidden"))) hirc_settle *hirc_state_settle_1[HIRC_SETTLERS];

// For device memory that is freed in the order of a stream (device_memory.c).
void hirc_release_on_device(void *memory, void *stream);

// A call begins in this thread; what it owns goes where it failed; and its own memory does.
void hirc_call_begin(struct hirc_call *call, void *stream);
void hirc_call_release(struct hirc_call *call);
void hirc_call_end(struct hirc_call *call);

// Makes room for one more. Where there is no memory for that the object is released and the call
// fails.
void hirc_call_grow(struct hirc_call *call, void *object, hirc_release *release,
                    const char *location);

// The call has `object` from now on, until hirc_disown or its end.
static inline void hirc_own(void *object, hirc_release *release, enum hirc_ownership kind,
                            const char *location) {
  struct hirc_call *call = hirc_state_call_2;
  if (!call)
    return;
  if (__builtin_expect(call->count == call->room, 0))
    hirc_call_grow(call, object, release, location);
  call->owned[call->count++] = (struct hirc_owned){object, release, kind};
}

// The object was given back. What the call never had is passed over.
static inline void hirc_disown(const void *object, enum hirc_ownership kind) {
  struct hirc_call *call = hirc_state_call_2;
  for (size_t i = call ? call->count : 0; i-- > 0;)
    if (call->owned[i].object == object && call->owned[i].kind == kind) {
      call->owned[i] = call->owned[--call->count];
      return;
    }
}

#endif
