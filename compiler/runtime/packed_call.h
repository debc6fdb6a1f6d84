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
  char (*scalars)[16];         // room for the value of each scalar
  struct hirc_owner **owners;  // of outputs, until these are returned
  int64_t *numbers;            // room for the sizes and strides of each
  void **held;                 // owners of memory that the allocator gave for outputs
  bool *is_theirs;             // outputs whose memory is the caller's
  char *memory;                // NULL where `few` is enough
  void *stream;
  bool has_run;
  _Alignas(16) char few[HIRC_PACKED_BYTES];
};

// A scalar argument, as a number of the host.
struct hirc_host_number {
  bool is_integer;
  int64_t integer;
  double real;
};

// Returns whether programs run on the CPU device.
bool hirc_packed_is_for_cpu(void);

// Begins a call, in which the program is to allocate every output. Returns false and sets a message
// where there is no memory. The caller must call hirc_packed_end in any case.
bool hirc_packed_begin(struct hirc_packed_call *call, const struct hirc_program_info *program);
void hirc_packed_end(struct hirc_packed_call *call);

// Returns the description of a tensor: inputs come first, then outputs.
const struct hirc_value_info *hirc_packed_value(const struct hirc_packed_call *call, int64_t place);

// Room for as many sizes, and then strides, as the description has dims, until a tensor is passed.
int64_t *hirc_packed_numbers(const struct hirc_packed_call *call, int64_t place);
// Passes a caller's tensor, or hands one in for an output.
void hirc_packed_tensor(struct hirc_packed_call *call, int64_t place,
                        const struct dl_tensor *tensor);
// Writes the type, device and sizes of an output, for the caller's allocator. Returns false where
// the program must allocate it: sizes are not known before it runs, or rows are not packed.
bool hirc_packed_prototype(struct hirc_packed_call *call, int64_t output,
                           struct dl_tensor *prototype);
// Passes the allocator's tensor, which `held` keeps. Returns false if the program cannot use it.
bool hirc_packed_allocated(struct hirc_packed_call *call, int64_t output,
                           const struct dl_tensor *tensor, void *held);
// Gives the caller the owner of the allocator's memory for an output; NULL where there is none.
void *hirc_packed_taken(struct hirc_packed_call *call, int64_t output);

// Passes a number. Returns false and sets a message where the type cannot hold it.
bool hirc_packed_number(struct hirc_packed_call *call, int64_t place,
                        struct hirc_host_number number);

// Runs the program, and on the CPU device waits for it. Returns its status.
int hirc_packed_run(struct hirc_packed_call *call, void *stream);

// Returns the value of a scalar output.
struct hirc_host_number hirc_packed_result(const struct hirc_packed_call *call, int64_t output);
// Returns the number of the tensor, an input or an output that the caller passed, whose memory an
// output shares; -1 where it has its own.
int64_t hirc_packed_shared(const struct hirc_packed_call *call, int64_t output);
// Returns a DLManagedTensor of an output, or with `is_versioned` a DLManagedTensorVersioned. `held`
// is a managed tensor of the tensor whose memory it shares. Returns NULL where there is no memory.
void *hirc_packed_manage(struct hirc_packed_call *call, int64_t output,
                         struct dl_managed_tensor *held, int is_versioned);

#endif
