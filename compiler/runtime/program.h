// Programs with inputs and outputs: how the compiler describes one, and what runs it.
//
// The structs are laid out as the pass add-program-interface writes them and hirc.load reads them:
// change one, change HIRC_PROGRAM_VERSION.
#ifndef HIRC_PROGRAM_H
#define HIRC_PROGRAM_H

#include "dlpack_abi.h"

#include <stdbool.h>
#include <stdint.h>

enum { HIRC_PROGRAM_VERSION = 4 };

// A size or stride that is known at run time only.
#define HIRC_OPEN INT64_MIN

// What one dim may span by its stride in bytes, and byte_offset be: more than any address space has,
// and so little that the sum over all dims fits in 64 bits.
#define HIRC_MOST_SPANNED (INT64_C(1) << 56)

// The first byte of a tensor and the one after its last.
struct hirc_span {
  uintptr_t start;
  uintptr_t end;
};

static inline uintptr_t hirc_first_element(const struct dl_tensor *tensor) {
  return (uintptr_t)tensor->data + tensor->byte_offset;
}

static inline bool hirc_spans_meet(struct hirc_span one, struct hirc_span other) {
  return one.start < other.end && other.start < one.end;
}

// Where an output's memory comes from. An input is HIRC_INPUT where the program writes to it.
enum hirc_origin {
  HIRC_ALLOCATED, // the program allocates it, unless the caller hands memory in
  HIRC_INPUT,     // it is an input's
  HIRC_VIEW,      // part of other memory, or the program's own; nothing can be handed in
};

// A size of an input; none where `axis` is -1.
struct hirc_size_place {
  int64_t input;
  int64_t axis;
};

// One input or output.
struct hirc_value_info {
  const char *name;
  const char *type;         // "2xnxf32"
  const char *element;      // "f32"
  const int64_t *sizes;     // HIRC_OPEN where open
  const int64_t *strides;   // in elements, HIRC_OPEN where open; NULL: packed rows
  const char *const *names; // of the sizes, NULL where one has none; NULL: no size has
  // For each open size the input's size that first has its name, if that is another; NULL: none has.
  const struct hirc_size_place *firsts;
  int64_t alignment;        // of the first element, in bytes
  int32_t rank;
  uint32_t dtype; // DLDataType's four bytes
  int32_t element_bytes;
  int32_t is_scalar;
  int32_t origin;
  int32_t origin_input;
};

struct hirc_weights_state;

// What programs keep from call to call.
struct hirc_state_info {
  const char *name;
  const int64_t *sizes;
  int64_t offset; // in the memory of an instance
  int64_t bytes;
  int64_t initial; // where its first value is among the weights; -1: it begins as zeros
  int32_t rank;
  uint32_t dtype; // DLDataType's four bytes
};

// What a device has of a weight: `cuts` are pairs, for each axis of the mesh its size and the dim
// that it divides, -1 where that is none. Of one without cuts it has all.
struct hirc_weight_part {
  int64_t offset; // in the device's memory
  int64_t cut_count;
  const int64_t *cuts;
};

// The weights and the states of a linked file's programs. The header is that of a safetensors file with all of
// them, whose offsets are those from the first byte of the `bytes` that they take on a device, where
// that has all of each. Where it has parts of some, `parts` has one for each weight, in the order of
// their names, `processes` are those that have them, and `rank` tells which of these this is, or
// -1 with a message. The header's
// metadata have the digest of the values, where those are known. A command has the functions of
// weights.c from here, so that one without weights is linked without them.
struct hirc_weights {
  const char *header;
  int64_t header_bytes;
  int64_t bytes;
  const char *file;     // the name of the file beside the linked file, NULL where there is none
  const void *embedded; // the values as the header has them, NULL where they are not embedded
  struct hirc_weights_state *state;
  void *(*load)(const struct hirc_weights *weights);
  int (*use_file)(const char *path);
  void (*unload)(void);
  const struct hirc_state_info *states;
  int64_t state_count;
  int64_t state_bytes;
  const struct hirc_weight_part *parts; // NULL where a device has all of each
  int64_t processes;
  int64_t (*rank)(int64_t processes); // NULL where it has
};

// The tensors of a scalar have no dims and lie in the host's memory. An output whose data is NULL
// is filled in: data, device, type, sizes and strides, for which the caller gives the arrays.
// Returns 0, HIRC_REFUSED or HIRC_FAILED (hirc_runtime.h).
typedef int hirc_program_function(const struct dl_tensor *const *inputs,
                                  struct dl_tensor *const *outputs, void *stream);

// What runs a program and what it takes and gives.
struct hirc_program_info {
  int32_t version;
  int32_t repeats; // a call computes what it launches of its arguments alone
  const char *name;
  hirc_program_function *run;
  const struct hirc_value_info *inputs;
  const struct hirc_value_info *outputs;
  int64_t input_count;
  int64_t output_count;
  const struct hirc_weights *weights; // NULL where the program has none
};

// call_checks.c
int hirc_call_refused(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                      uint64_t device);

// input_errors.c
int hirc_input_error(const struct hirc_program_info *program,
                     const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs);
bool hirc_outputs_overlap(const struct hirc_program_info *program,
                          const struct dl_tensor *const *inputs,
                          struct dl_tensor *const *outputs);
int hirc_kept_is_shared(const struct hirc_program_info *program,
                        const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs,
                        const char *weights, const char *state, const int64_t *used,
                        int64_t count);
int hirc_extents_error(const struct hirc_program_info *program,
                       const struct dl_tensor *const *inputs);
bool hirc_tensor_span(const struct dl_tensor *tensor, int element_bytes, struct hirc_span *span);

// library_exports.c
void hirc_call_begins(const struct hirc_program_info *program,
                      const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs);

// failure.c
const char *hirc_error_text(void);
int hirc_error_status(void); // of the last message: HIRC_FAILED of a CUDA call's, or HIRC_REFUSED
void hirc_error_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// program_devices.c
uint64_t hirc_memory_device(const char *location);
void hirc_lend_tensors(const struct hirc_program_info *program,
                       const struct dl_tensor *const *inputs, struct dl_tensor *const *outputs);
uint64_t hirc_accepted_devices(void);
uint64_t hirc_library_devices(void);
int hirc_stream_finish(void *stream);

// graphs.c
void hirc_graphs_counted(int64_t counts[5]);

// program_list.c
const struct hirc_program_info *const *hirc_program_list(int64_t *count);
void hirc_program_list_give(const struct hirc_program_info *const *programs, int64_t count);

// repeated_elements.c
bool hirc_elements_repeat(const struct dl_tensor *tensor);

// weights.c
void *hirc_weights_load(const struct hirc_weights *weights);
int hirc_weights_load_all(void);
int hirc_weights_use_file(const char *path);
int hirc_weights_use_tensors(const char *const *names, const struct dl_tensor *const *tensors,
                             int64_t count);
void hirc_weights_unload(void);

// state.c
struct hirc_instance;
void *hirc_state_address(const struct hirc_weights *weights, void *stream);
int hirc_instance_reset(void *stream);
int hirc_generator_set(const struct hirc_weights *weights, uint64_t seed, uint64_t offset,
                       void *stream);
int hirc_generator_seed(uint64_t seed, uint64_t offset, void *stream);
int hirc_instance_tensor(const char *name, struct dl_tensor *tensor);
struct hirc_instance *hirc_instance_create(void);
void hirc_instance_free(struct hirc_instance *instance);
void hirc_instance_use(struct hirc_instance *instance);
struct dl_managed_tensor *hirc_instance_hold(struct hirc_instance *instance);

struct hirc_owner;

// program_outputs.c
int hirc_output_free(void *data, void *stream);
struct hirc_owner *hirc_output_own(void *data, void *stream, struct dl_managed_tensor *held);
int hirc_output_release(struct hirc_owner *owner);
void *hirc_output_manage(const struct dl_tensor *output, struct hirc_owner *owner,
                         int is_versioned);
int hirc_library_leave(void *library);

// python_call.c
struct python_program;
void *hirc_python_function(struct python_program *bound, void *owner);

// command.c
int hirc_command(int argc, char **argv, const struct hirc_program_info *program,
                 hirc_program_function *run);

#endif
