// Programs as built-in functions of Python, for tensors whose type has DLPack's C exchange API, such
// as torch's, and numbers. What else is passed goes to a function in Python (loader_call.py), which
// also says what is wrong with it.
//
// Python's functions are those of the process, by their names: nothing of Python is needed to build,
// link or load a library. They are of its stable interface. hirc.load makes the functions; they hold
// Python's lock but for the program's run.
#define _GNU_SOURCE

#include "hirc_runtime.h"
#include "packed_call.h"

#include <dlfcn.h>
#include <string.h>

typedef void object; // PyObject

// DLPackExchangeAPI, of DLPack 1.
struct exchange {
  struct {
    uint32_t major, minor;
  } version;
  void *previous;
  void *allocate;
  int (*managed_from)(object *from, struct dl_versioned_tensor **tensor);
  int (*to_object)(struct dl_versioned_tensor *tensor, object **result);
  int (*tensor_from)(object *from, struct dl_tensor *tensor);
  int (*current_stream)(int32_t device_type, int32_t device, void **stream);
};

// PyMethodDef.
struct method {
  const char *name;
  object *(*function)(object *self, object *const *arguments, long count);
  int flags;
  const char *text;
};
enum { FASTCALL = 0x80 };

#define FUNCTIONS(each)                                                                            \
  each(object *, PyObject_Type, (object *))                                                        \
  each(object *, PyObject_GetAttrString, (object *, const char *))                                 \
  each(object *, PyObject_CallMethod, (object *, const char *, const char *, ...))                 \
  each(object *, PyObject_Vectorcall, (object *, object *const *, size_t, object *))               \
  each(int, PyObject_IsTrue, (object *))                                                           \
  each(object *, PyCFunction_NewEx, (const struct method *, object *, object *))                   \
  each(object *, PyLong_FromVoidPtr, (void *))                                                     \
  each(void *, PyLong_AsVoidPtr, (object *))                                                       \
  each(void *, PyCapsule_GetPointer, (object *, const char *))                                     \
  each(void, PyErr_Clear, (void))                                                                  \
  each(object *, PyErr_Occurred, (void))                                                           \
  each(void, PyErr_SetString, (object *, const char *))                                            \
  each(object *, PyErr_NoMemory, (void))                                                           \
  each(void, Py_IncRef, (object *))                                                                \
  each(void, Py_DecRef, (object *))                                                                \
  each(double, PyFloat_AsDouble, (object *))                                                       \
  each(object *, PyFloat_FromDouble, (double))                                                     \
  each(long long, PyLong_AsLongLong, (object *))                                                   \
  each(object *, PyLong_FromLongLong, (long long))                                                 \
  each(object *, PyBool_FromLong, (long))                                                          \
  each(object *, PyTuple_New, (long))                                                              \
  each(int, PyTuple_SetItem, (object *, long, object *))                                           \
  each(void *, PyEval_SaveThread, (void))                                                          \
  each(void, PyEval_RestoreThread, (void *))

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
  FUNCTIONS(MEMBER)
#undef MEMBER
  object *PyFloat_Type, *PyLong_Type, *PyBool_Type, *_Py_NoneStruct;
} py;

static bool find_python(void) {
  static const struct {
    const char *name;
    void *place;
  } symbols[] = {
#define SYMBOL(result, name, parameters) {#name, &py.name},
      FUNCTIONS(SYMBOL)
#undef SYMBOL
          {"PyFloat_Type", &py.PyFloat_Type},
      {"PyLong_Type", &py.PyLong_Type},
      {"PyBool_Type", &py.PyBool_Type},
      {"_Py_NoneStruct", &py._Py_NoneStruct},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    void *found = dlsym(RTLD_DEFAULT, symbols[i].name);
    if (!found)
      return false;
    memcpy(symbols[i].place, &found, sizeof found);
  }
  return true;
}

// What a function calls, in memory of Python's (loader_python.py), which is there as long as the
// function is: also once the library is not. `other` takes what it does not, and the last two are
// what it raises.
struct python_program {
  struct method method;
  const struct hirc_program_info *program;
  object *other, *refused, *failed;
  int64_t takes_outputs; // whether the outputs follow the inputs
};

// The exchange API of the last type that had one. The type is held, so that it is no other one.
static object *known_type;
static const struct exchange *known;

static const struct exchange *exchange_of(object *tensor) {
  object *type = py.PyObject_Type(tensor);
  const struct exchange *found = type == known_type ? known : NULL;
  object *capsule = found ? NULL : py.PyObject_GetAttrString(type, "__dlpack_c_exchange_api__");
  if (capsule) {
    found = py.PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (found && found->version.major != 1)
      found = NULL;
    py.Py_DecRef(capsule);
  }
  if (!found) {
    py.PyErr_Clear();
  } else if (type != known_type) {
    object *before = known_type;
    known_type = type;
    known = found;
    type = before;
  }
  if (type)
    py.Py_DecRef(type);
  return found;
}

// Whether an attribute or a method without arguments says no. What is not there says nothing.
static bool denies(object *asked) {
  if (!asked) {
    py.PyErr_Clear();
    return true;
  }
  int truth = py.PyObject_IsTrue(asked);
  py.Py_DecRef(asked);
  return truth == 0;
}

// Whether a tensor's memory holds its numbers, and none asks for gradients of them.
static bool is_plain(object *tensor, const struct dl_tensor *view) {
  return denies(py.PyObject_GetAttrString(tensor, "requires_grad")) &&
         denies(py.PyObject_CallMethod(tensor, "is_neg", NULL)) &&
         (view->type.code != DL_COMPLEX || denies(py.PyObject_CallMethod(tensor, "is_conj", NULL)));
}

// What the arguments say of the call: who makes tensors, and where the work goes.
struct surroundings {
  const struct exchange *exchange;
  struct dl_device device; // of the first tensor on a GPU, else of kind 0
};

// Takes an argument. False for what the function in Python has to judge.
static bool take(struct hirc_packed_call *call, int64_t place, object *argument,
                 struct surroundings *around) {
  if (hirc_packed_value(call, place)->is_scalar) {
    object *type = py.PyObject_Type(argument);
    struct hirc_host_number number = {.is_integer = type != py.PyFloat_Type};
    bool is_number = type == py.PyFloat_Type || type == py.PyLong_Type || type == py.PyBool_Type;
    py.Py_DecRef(type);
    if (!is_number)
      return false;
    if (number.is_integer)
      number.integer = py.PyLong_AsLongLong(argument);
    else
      number.real = py.PyFloat_AsDouble(argument);
    return !py.PyErr_Occurred() && hirc_packed_number(call, place, number);
  }
  const struct exchange *exchange = exchange_of(argument);
  struct dl_tensor view;
  if (!exchange || exchange->tensor_from(argument, &view) != 0 || !is_plain(argument, &view))
    return false;
  if (!around->exchange)
    around->exchange = exchange;
  if (view.device.type == DL_CUDA && around->device.type != DL_CUDA)
    around->device = view.device;
  hirc_packed_tensor(call, place, &view);
  return true;
}

// An output as Python's. NULL, and an exception.
static object *give(struct hirc_packed_call *call, int64_t output, object *const *arguments,
                    const struct exchange *exchange) {
  const struct hirc_value_info *value = &call->program->outputs[output];
  if (call->is_given) {
    py.Py_IncRef(arguments[call->program->input_count + output]);
    return arguments[call->program->input_count + output];
  }
  if (value->is_scalar) {
    struct hirc_host_number number = hirc_packed_result(call, output);
    return !number.is_integer                      ? py.PyFloat_FromDouble(number.real)
           : (value->dtype & 0xff) == DL_BOOL      ? py.PyBool_FromLong(number.integer != 0)
                                                   : py.PyLong_FromLongLong(number.integer);
  }
  if (value->origin == HIRC_INPUT) {
    py.Py_IncRef(arguments[value->origin_input]);
    return arguments[value->origin_input];
  }
  struct dl_versioned_tensor *managed = hirc_packed_manage(call, output, NULL, 1);
  object *tensor = NULL;
  if (!managed)
    return py.PyErr_NoMemory();
  if (exchange->to_object(managed, &tensor) != 0) {
    managed->deleter(managed);
    return NULL;
  }
  return tensor;
}

static object *results(struct hirc_packed_call *call, object *const *arguments,
                       const struct exchange *exchange) {
  int64_t count = call->program->output_count;
  if (count == 1)
    return give(call, 0, arguments, exchange);
  if (count == 0) {
    py.Py_IncRef(py._Py_NoneStruct);
    return py._Py_NoneStruct;
  }
  object *all = py.PyTuple_New(count);
  for (int64_t i = 0; all && i < count; ++i) {
    object *each = give(call, i, arguments, exchange);
    if (!each || py.PyTuple_SetItem(all, i, each) != 0) {
      py.Py_DecRef(all);
      return NULL;
    }
  }
  return all;
}

static object *call_python(object *self, object *const *arguments, long count) {
  const struct python_program *program = py.PyLong_AsVoidPtr(self);
  struct hirc_packed_call call;
  struct surroundings around = {0};
  int64_t outputs = program->takes_outputs ? program->program->output_count : 0;
  bool is_taken = count == program->program->input_count + outputs &&
                  hirc_packed_begin(&call, program->program);
  if (!is_taken)
    return py.PyObject_Vectorcall(program->other, arguments, (size_t)count, NULL);
  call.is_given = program->takes_outputs != 0;
  for (long i = 0; is_taken && i < count; ++i)
    is_taken = take(&call, i, arguments[i], &around);
  void *stream = NULL;
  // The function in Python knows what becomes of outputs where there is no tensor of anybody's.
  is_taken = is_taken && around.exchange;
  if (is_taken && around.device.type == DL_CUDA)
    is_taken = around.exchange->current_stream(DL_CUDA, around.device.number, &stream) == 0;
  object *result = NULL;
  if (is_taken) {
    void *thread = py.PyEval_SaveThread();
    int status = hirc_packed_run(&call, stream);
    py.PyEval_RestoreThread(thread);
    if (status == 0)
      result = results(&call, arguments, around.exchange);
    else
      py.PyErr_SetString(status == HIRC_REFUSED ? program->refused : program->failed,
                         hirc_error_text());
  }
  hirc_packed_end(&call);
  if (!is_taken) {
    py.PyErr_Clear();
    result = py.PyObject_Vectorcall(program->other, arguments, (size_t)count, NULL);
  }
  return result;
}

// A function of Python for a program; `owner` holds what it needs. NULL where there is none: it takes
// no program with outputs that are parts of other memory.
void *hirc_python_function(struct python_program *bound, object *owner) {
  const struct hirc_program_info *program = bound->program;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (program->outputs[i].origin == HIRC_VIEW && !program->outputs[i].is_scalar)
      return NULL;
  if (!find_python())
    return NULL;
  bound->method.function = call_python;
  bound->method.flags = FASTCALL;
  object *self = py.PyLong_FromVoidPtr(bound);
  object *function = self ? py.PyCFunction_NewEx(&bound->method, self, owner) : NULL;
  if (self)
    py.Py_DecRef(self);
  return function;
}
