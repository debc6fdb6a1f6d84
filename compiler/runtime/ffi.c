// Programs as packed functions of tvm-ffi: `__tvm_ffi_NAME`.
//
// Arguments are the inputs in order, tensors as DLTensors or tvm-ffi's Tensors, scalars as numbers.
// Where the outputs follow them, also in order, the program writes there and the result is None;
// else it is the output, or an Array of several, in memory of the environment's allocator where it
// has one and the sizes are known before the program runs. Work is put into the stream that the
// environment has for the device.
//
// Nothing of tvm-ffi is needed to link or to load: raising an error, its stream and allocator, and
// making a Tensor are functions of libtvm_ffi, which whoever calls by this convention has loaded. Layouts and type
// numbers are those of its C interface (tvm/ffi/c_api.h, from version 0.1 on).
#define _GNU_SOURCE

#include "amd_device.h"
#include "hirc_runtime.h"
#include "packed_call.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>

enum ffi_type {
  FFI_NONE = 0,
  FFI_INT = 1,
  FFI_BOOL = 2,
  FFI_FLOAT = 3,
  FFI_DLTENSOR = 7,
  FFI_TENSOR = 70,
};

// TVMFFIAny.
struct ffi_any {
  int32_t type;
  uint32_t zero;
  union {
    int64_t integer;
    double real;
    void *pointer;
  };
};

// A Tensor is an object's header, and then a DLTensor.
struct ffi_tensor {
  uint64_t references;
  int32_t type;
  uint32_t padding;
  void *deleter;
  struct dl_tensor tensor;
};

struct ffi_bytes {
  const char *text;
  size_t count;
};

typedef void set_raised(const char *kind, const char *message);
typedef void *get_stream(int32_t device_type, int32_t device);
typedef int tensor_of(struct dl_versioned_tensor *from, int32_t alignment, int32_t contiguous,
                      void **tensor);
typedef void *get_allocator(void);
typedef int allocate_tensor(struct dl_tensor *prototype, void **tensor);
typedef int managed_of(void *tensor, struct dl_managed_tensor **managed);
typedef int count_reference(void *object);
typedef int get_global(const struct ffi_bytes *name, void **function);
typedef int call_function(void *function, struct ffi_any *arguments, int32_t count,
                          struct ffi_any *result);

enum ffi_function {
  SET_RAISED,
  GET_STREAM,
  GET_ALLOCATOR,
  ALLOCATE,
  MAKE_TENSOR,
  HOLD_TENSOR,
  DROP_REFERENCE,
  GET_GLOBAL,
  CALL_FUNCTION,
  FFI_FUNCTIONS,
};

// A function of libtvm_ffi; NULL while the process has not loaded it.
static void *find(enum ffi_function which) {
  static const char *const names[FFI_FUNCTIONS] = {
      "TVMFFIErrorSetRaisedFromCStr",
      "TVMFFIEnvGetStream",
      "TVMFFIEnvGetDLPackManagedTensorAllocator",
      "TVMFFIEnvTensorAlloc",
      "TVMFFITensorFromDLPackVersioned",
      "TVMFFITensorToDLPack",
      "TVMFFIObjectDecRef",
      "TVMFFIFunctionGetGlobal",
      "TVMFFIFunctionCall"};
  static void *_Atomic known[FFI_FUNCTIONS];
  void *found = known[which];
  if (!found)
    known[which] = found = dlsym(RTLD_DEFAULT, names[which]);
  return found;
}

static int raise(const char *kind) {
  set_raised *set = (set_raised *)find(SET_RAISED);
  if (set)
    set(kind, hirc_error_text());
  return -1;
}

// Takes an argument. False where it is none that a program takes.
static bool take(struct hirc_packed_call *call, int64_t place, const struct ffi_any *argument) {
  const struct hirc_value_info *value = hirc_packed_value(call, place);
  switch (argument->type) {
  case FFI_DLTENSOR:
    hirc_packed_tensor(call, place, argument->pointer);
    return true;
  case FFI_TENSOR:
    hirc_packed_tensor(call, place, &((struct ffi_tensor *)argument->pointer)->tensor);
    return true;
  case FFI_INT:
  case FFI_BOOL:
    return hirc_packed_number(call, place,
                              (struct hirc_host_number){true, argument->integer, 0});
  case FFI_FLOAT:
    return hirc_packed_number(call, place, (struct hirc_host_number){false, 0, argument->real});
  default:
    hirc_error_say("'%s' of %s is %s, and an argument of tvm-ffi's type %d was passed", value->name,
                   call->program->name, value->type, argument->type);
    return false;
  }
}

// The caller's stream of the current device. The CPU device has its own.
static void *stream_of(void) {
  get_stream *get = hirc_packed_is_for_cpu() ? NULL : (get_stream *)find(GET_STREAM);
  uint64_t devices = get ? hirc_library_devices() : 0;
  return devices ? get(gpu_kind(), (int32_t)(devices >> 32)) : NULL;
}

// An output as a Tensor. False, and a message, where that cannot be.
static bool give_tensor(struct hirc_packed_call *call, int64_t output,
                        const struct ffi_any *arguments, struct ffi_any *result) {
  int64_t shared = hirc_packed_shared(call, output);
  const struct hirc_value_info *value = &call->program->outputs[output];
  struct dl_managed_tensor *held = NULL;
  tensor_of *make = (tensor_of *)find(MAKE_TENSOR);
  managed_of *hold = (managed_of *)find(HOLD_TENSOR);
  if (!make || !hold) {
    hirc_error_say("output '%s' of %s: libtvm_ffi is not loaded in this process, and no Tensor can "
                   "be made; hand the output in",
                   value->name, call->program->name);
    return false;
  }
  if (shared >= 0 && arguments[shared].type != FFI_TENSOR) {
    hirc_error_say("output '%s' of %s is the memory of input '%s', which is passed as a view that "
                   "cannot be kept: pass a Tensor of tvm-ffi",
                   value->name, call->program->name, call->program->inputs[shared].name);
    return false;
  }
  if (shared >= 0 && hold(arguments[shared].pointer, &held) != 0) {
    hirc_error_say("input '%s' of %s cannot be kept", call->program->inputs[shared].name,
                   call->program->name);
    return false;
  }
  struct dl_versioned_tensor *managed = hirc_packed_manage(call, output, held, 1);
  void *tensor = NULL;
  if (!managed) {
    hirc_error_say("no memory is left on the host for an output of %s", call->program->name);
    return false;
  }
  if (make(managed, 0, 0, &tensor) != 0) {
    managed->deleter(managed);
    hirc_error_say("output '%s' of %s: no Tensor can be made of it", value->name,
                   call->program->name);
    return false;
  }
  *result = (struct ffi_any){.type = FFI_TENSOR, .pointer = tensor};
  return true;
}

static bool give(struct hirc_packed_call *call, int64_t output, const struct ffi_any *arguments,
                 struct ffi_any *result) {
  const struct hirc_value_info *value = &call->program->outputs[output];
  void *allocated = hirc_packed_taken(call, output);
  if (allocated) {
    *result = (struct ffi_any){.type = FFI_TENSOR, .pointer = allocated};
    return true;
  }
  if (!value->is_scalar)
    return give_tensor(call, output, arguments, result);
  struct hirc_host_number number = hirc_packed_result(call, output);
  if (number.is_integer)
    *result = (struct ffi_any){
        .type = (value->dtype & 0xff) == DL_BOOL ? FFI_BOOL : FFI_INT, .integer = number.integer};
  else
    *result = (struct ffi_any){.type = FFI_FLOAT, .real = number.real};
  return true;
}

static void drop(const struct ffi_any *values, int64_t count) {
  count_reference *decrease = (count_reference *)find(DROP_REFERENCE);
  for (int64_t i = 0; decrease && i < count; ++i)
    if (values[i].type == FFI_TENSOR)
      decrease(values[i].pointer);
}

static void drop_tensor(void *tensor) {
  struct ffi_any it = {.type = FFI_TENSOR, .pointer = tensor};
  drop(&it, 1);
}

// All outputs as an Array.
static bool give_all(struct hirc_packed_call *call, const struct ffi_any *arguments,
                     struct ffi_any *result) {
  static const struct ffi_bytes name = {"ffi.Array", sizeof "ffi.Array" - 1};
  int64_t count = call->program->output_count, given = 0;
  get_global *get = (get_global *)find(GET_GLOBAL);
  call_function *make = (call_function *)find(CALL_FUNCTION);
  struct ffi_any *values = calloc((size_t)count, sizeof *values), array = {.type = FFI_NONE};
  void *function = NULL;
  bool is_made = false;
  if (!values || !get || !make || get(&name, &function) != 0 || !function) {
    hirc_error_say("%s gives %" PRId64 " outputs, and libtvm_ffi is not loaded or makes no Array of "
                   "them; hand them in",
                   call->program->name, count);
  } else {
    while (given < count && give(call, given, arguments, &values[given]))
      ++given;
    if (given == count) {
      is_made = make(function, values, (int32_t)count, &array) == 0;
      if (!is_made)
        hirc_error_say("no Array can be made of the outputs of %s", call->program->name);
    }
  }
  drop(values, given);
  free(values);
  if (function)
    drop_tensor(function);
  if (is_made)
    *result = array;
  return is_made;
}

// Takes memory for the outputs from the caller's allocator, where there is one. What it does not give
// the program allocates, or says what is wrong with the inputs.
static void allocate_outputs(struct hirc_packed_call *call) {
  get_allocator *get = (get_allocator *)find(GET_ALLOCATOR);
  allocate_tensor *allocate = (allocate_tensor *)find(ALLOCATE);
  struct dl_tensor prototype;
  if (!get || !allocate || !get())
    return;
  for (int64_t i = 0; i < call->program->output_count; ++i) {
    struct ffi_tensor *made = NULL;
    if (hirc_packed_prototype(call, i, &prototype) &&
        allocate(&prototype, (void **)&made) == 0 &&
        !hirc_packed_allocated(call, i, &made->tensor, made))
      drop_tensor(made);
  }
}

static const char *run(struct hirc_packed_call *call, const struct ffi_any *arguments,
                       int32_t count, struct ffi_any *result) {
  const struct hirc_program_info *program = call->program;
  bool is_given = count != program->input_count;
  if (is_given && count != program->input_count + program->output_count) {
    hirc_error_say("%s takes %" PRId64 " inputs, and %" PRId64 " outputs after them where they are "
                   "handed in, not %d arguments",
                   program->name, program->input_count, program->output_count, count);
    return "TypeError";
  }
  for (int32_t i = 0; i < count; ++i)
    if (!take(call, i, &arguments[i]))
      return "TypeError";
  if (!is_given)
    allocate_outputs(call);
  int status = hirc_packed_run(call, stream_of());
  if (status != 0)
    return status == HIRC_REFUSED ? "ValueError" : "RuntimeError";
  if (is_given || program->output_count == 0)
    return NULL;
  bool is_done = program->output_count == 1 ? give(call, 0, arguments, result)
                                            : give_all(call, arguments, result);
  return is_done ? NULL : "RuntimeError";
}

int hirc_ffi_call(const struct hirc_program_info *program, const struct ffi_any *arguments,
                  int32_t count, struct ffi_any *result);

// A call by tvm-ffi's convention: TVMFFISafeCallType, with the program in place of the closure.
int hirc_ffi_call(const struct hirc_program_info *program, const struct ffi_any *arguments,
                  int32_t count, struct ffi_any *result) {
  struct hirc_packed_call call;
  *result = (struct ffi_any){.type = FFI_NONE};
  const char *failed =
      hirc_packed_begin(&call, program) ? run(&call, arguments, count, result) : "MemoryError";
  for (int64_t i = 0; call.owners && i < program->output_count; ++i) {
    void *left = hirc_packed_taken(&call, i);
    if (left)
      drop_tensor(left);
  }
  hirc_packed_end(&call);
  return failed ? raise(failed) : 0;
}
