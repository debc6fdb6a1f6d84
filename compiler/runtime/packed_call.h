// A call of a program with arguments that other conventions pass: see packed_call.c.
#ifndef HIRC_PACKED_CALL_H
#define HIRC_PACKED_CALL_H

#include "program.h"

#include <stdbool.h>
#include <stddef.h>

enum { HIRC_PACKED_BYTES = 4096 };

struct hirc_packed_call {
  const struct hirc_program_info *program;
  struct dl_tensor *tensors;   // the inputs' and then the outputs'
  struct dl_tensor **pointers; // to them
  char (*scalars)[16];         // room for the value of each that is one
  struct hirc_owner **owners;  // of outputs, while they are handed on
  int64_t *numbers;            // room for the sizes and strides of each
  void **held;                 // what has the memory that an output was given
  bool *is_theirs;             // outputs whose memory is the caller's
  char *memory;                // NULL where `few` is enough
  void *stream;
  bool has_run;
  _Alignas(16) char few[HIRC_PACKED_BYTES];
};

// A number of the host: what a scalar is passed as.
struct hirc_host_number {
  bool is_integer;
  int64_t integer;
  double real;
};

// Whether programs run on the CPU device.
bool hirc_packed_is_for_cpu(void);

// Every output is the program's to allocate at first. False, and a message, where there is no
// memory. hirc_packed_end is due in any case.
bool hirc_packed_begin(struct hirc_packed_call *call, const struct hirc_program_info *program);
void hirc_packed_end(struct hirc_packed_call *call);

// The description of a tensor, of the inputs and then the outputs.
const struct hirc_value_info *hirc_packed_value(const struct hirc_packed_call *call, int64_t place);

// Room for as many sizes, and then strides, as the description has dims, until a tensor is passed.
int64_t *hirc_packed_numbers(const struct hirc_packed_call *call, int64_t place);
// Passes a caller's tensor, or hands one in for an output.
void hirc_packed_tensor(struct hirc_packed_call *call, int64_t place,
                        const struct dl_tensor *tensor);
// What the caller's allocator is asked for: the type, device and sizes of an output. False where the
// program is to allocate it: its sizes are not known before it runs, or its rows are not packed.
bool hirc_packed_prototype(struct hirc_packed_call *call, int64_t output,
                           struct dl_tensor *prototype);
// Hands in what the allocator gave, which `held` keeps. False where the program cannot take it.
bool hirc_packed_allocated(struct hirc_packed_call *call, int64_t output,
                           const struct dl_tensor *tensor, void *held);
// What keeps the memory of an output that the allocator gave, now the caller's; NULL where it did
// not.
void *hirc_packed_taken(struct hirc_packed_call *call, int64_t output);

// Passes a number. False, and a message, where the type has no such number.
bool hirc_packed_number(struct hirc_packed_call *call, int64_t place,
                        struct hirc_host_number number);

// Runs the program, and on the CPU device waits for it. Returns its status.
int hirc_packed_run(struct hirc_packed_call *call, void *stream);

// The value of an output that is a scalar.
struct hirc_host_number hirc_packed_result(const struct hirc_packed_call *call, int64_t output);
// The tensor, of the inputs and then of the outputs that were handed in, whose memory an output
// has; -1 where it has its own.
int64_t hirc_packed_shared(const struct hirc_packed_call *call, int64_t output);
// A DLManagedTensor of an output, or with `is_versioned` a DLManagedTensorVersioned. `held` is a
// managed tensor of the one whose memory it shares. NULL where there is no memory.
void *hirc_packed_manage(struct hirc_packed_call *call, int64_t output,
                         struct dl_managed_tensor *held, int is_versioned);

#endif
