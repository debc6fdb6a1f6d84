// Programs as built-in functions of Python, for tensors whose type has DLPack's C exchange API, such
// as torch's, and numbers. What else is passed goes to a function in Python (loader_call.py), which
// also says what is wrong with it.
//
// Python's functions are those of the process, by their names: nothing of Python is needed to build,
// link or load a library. They are of its stable interface. hirc.load makes the functions; they hold
// Python's lock but for the program's run.
#define _GNU_SOURCE

#include "amd_device.h"
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
  object *(*function)(object *self, object *const *arguments, long count, object *names);
  int flags;
  const char *text;
};
enum { KEYWORDS = 0x2, FASTCALL = 0x80 };

#define FUNCTIONS(each)                                                                            \
  each(object *, PyObject_Type, (object *))                                                        \
  each(object *, PyObject_GetAttr, (object *, object *))                                           \
  each(object *, PyUnicode_InternFromString, (const char *))                                       \
  each(int, PyObject_RichCompareBool, (object *, object *, int))                                   \
  each(object *, PyTuple_GetItem, (object *, long))                                                \
  each(long, PyTuple_Size, (object *))                                                             \
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
  object *PyFloat_Type, *PyLong_Type, *PyBool_Type, *_Py_NoneStruct, *_Py_FalseStruct;
} py;

// Python names, and the methods of the last type whose tensors were taken.
static object *exchange_name, *requires_grad, *is_neg, *is_conj, *out_name, *stream_name,
    *cuda_stream;

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
      {"_Py_FalseStruct", &py._Py_FalseStruct},
  };
  static const struct {
    const char *text;
    object **place;
  } names[] = {{"__dlpack_c_exchange_api__", &exchange_name},
               {"requires_grad", &requires_grad},
               {"is_neg", &is_neg},
               {"is_conj", &is_conj},
               {"out", &out_name},
               {"stream", &stream_name},
               {"cuda_stream", &cuda_stream}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; ++i) {
    void *found = dlsym(RTLD_DEFAULT, symbols[i].name);
    if (!found)
      return false;
    memcpy(symbols[i].place, &found, sizeof found);
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (!*names[i].place && !(*names[i].place = py.PyUnicode_InternFromString(names[i].text)))
      return false;
  return true;
}

// What a function calls, in memory that Python owns (loader_python.py), which is there as long as the
// function is: also once the library is not. `other` takes what it does not, and the last two are
// what it raises.
struct python_program {
  struct method method;
  const struct hirc_program_info *program;
  object *other, *refused, *failed;
  object *names;               // of the inputs, a tuple
  void (*use)(void *instance); // of a library with state, else NULL
  void *instance;
};

// The exchange API of the last type that had one, and its methods; NULL where it has none. The type
// is held, so that it is no other one.
static object *known_type, *known_is_neg, *known_is_conj;
static const struct exchange *known;

static object *attribute(object *of, object *name) {
  object *found = py.PyObject_GetAttr(of, name);
  if (!found)
    py.PyErr_Clear();
  return found;
}

static void replace(object **place, object *by) {
  object *before = *place;
  *place = by;
  if (before)
    py.Py_DecRef(before);
}

static const struct exchange *exchange_of(object *tensor) {
  object *type = py.PyObject_Type(tensor);
  const struct exchange *found = type == known_type ? known : NULL;
  object *capsule = found ? NULL : attribute(type, exchange_name);
  if (capsule) {
    found = py.PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    if (found && found->version.major != 1)
      found = NULL;
    py.Py_DecRef(capsule);
  }
  if (found && type != known_type) {
    known = found;
    replace(&known_is_neg, attribute(type, is_neg));
    replace(&known_is_conj, attribute(type, is_conj));
    replace(&known_type, type);
  } else {
    if (!found)
      py.PyErr_Clear();
    py.Py_DecRef(type);
  }
  return found;
}

// Whether an answer is no. One that is not there says nothing.
static bool denies(object *answer) {
  if (!answer) {
    py.PyErr_Clear();
    return true;
  }
  int truth = answer == py._Py_FalseStruct ? 0 : py.PyObject_IsTrue(answer);
  py.Py_DecRef(answer);
  return truth == 0;
}

// Whether a method without arguments of the known type says no.
static bool method_denies(object *method, object *tensor) {
  object *const arguments[] = {tensor};
  return !method || denies(py.PyObject_Vectorcall(method, arguments, 1, NULL));
}

// Whether a tensor's memory holds its numbers, and none asks for gradients of them. Its type is the
// known one.
static bool is_plain(object *tensor, const struct dl_tensor *view) {
  return denies(py.PyObject_GetAttr(tensor, requires_grad)) &&
         method_denies(known_is_neg, tensor) &&
         (view->type.code != DL_COMPLEX || method_denies(known_is_conj, tensor));
}

// What the arguments say of the call: who makes tensors, and where the work goes.
enum { MOST_NAMED = 32 };
struct surroundings {
  const struct exchange *exchange;
  struct dl_device device;   // of the first tensor on a GPU, else of kind 0
  object *const *arguments;  // the first inputs, in order
  long count, given;
  long named_count;
  struct {
    long place;
    object *value;
  } named[MOST_NAMED]; // the others
};

// The input at a place.
static object *input_at(const struct surroundings *around, int64_t place) {
  if (place < around->count)
    return around->arguments[place];
  for (long i = 0; i < around->named_count; ++i)
    if (around->named[i].place == place)
      return around->named[i].value;
  return NULL;
}

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
  if (is_gpu(view.device.type) && !is_gpu(around->device.type))
    around->device = view.device;
  hirc_packed_tensor(call, place, &view);
  return true;
}

// An output as Python's. NULL, and an exception.
static object *give(struct hirc_packed_call *call, int64_t output,
                    const struct surroundings *around, object *out) {
  const struct hirc_value_info *value = &call->program->outputs[output];
  if (out) {
    py.Py_IncRef(out);
    return out;
  }
  if (value->is_scalar) {
    struct hirc_host_number number = hirc_packed_result(call, output);
    return !number.is_integer                      ? py.PyFloat_FromDouble(number.real)
           : (value->dtype & 0xff) == DL_BOOL      ? py.PyBool_FromLong(number.integer != 0)
                                                   : py.PyLong_FromLongLong(number.integer);
  }
  if (value->origin == HIRC_INPUT) {
    object *input = input_at(around, value->origin_input);
    py.Py_IncRef(input);
    return input;
  }
  struct dl_versioned_tensor *managed = hirc_packed_manage(call, output, NULL, 1);
  object *tensor = NULL;
  if (!managed)
    return py.PyErr_NoMemory();
  if (around->exchange->to_object(managed, &tensor) != 0) {
    managed->deleter(managed);
    return NULL;
  }
  return tensor;
}

static object *results(struct hirc_packed_call *call, const struct surroundings *around,
                       object *out) {
  int64_t count = call->program->output_count;
  if (count == 1)
    return give(call, 0, around, out);
  if (count == 0) {
    py.Py_IncRef(py._Py_NoneStruct);
    return py._Py_NoneStruct;
  }
  object *all = py.PyTuple_New(count);
  for (int64_t i = 0; all && i < count; ++i) {
    object *each = give(call, i, around, out);
    if (!each || py.PyTuple_SetItem(all, i, each) != 0) {
      py.Py_DecRef(all);
      return NULL;
    }
  }
  return all;
}

static bool is_same(object *name, object *wanted) {
  enum { EQUAL = 2 };
  return name == wanted || py.PyObject_RichCompareBool(name, wanted, EQUAL) == 1;
}

// What a call was given by name.
struct named {
  object *out, *stream;
};

// Takes what was given by name: `out`, `stream`, and inputs, of which `count` were given in order.
// False for what the function in Python has to judge.
static bool take_named(struct hirc_packed_call *call, const struct python_program *program,
                       object *const *arguments, long count, object *names,
                       struct surroundings *around, struct named *named) {
  long inputs = (long)program->program->input_count, given = names ? py.PyTuple_Size(names) : 0;
  for (long i = 0; i < given; ++i) {
    object *name = py.PyTuple_GetItem(names, i), *value = arguments[count + i];
    long place = count;
    if (is_same(name, out_name)) {
      named->out = value == py._Py_NoneStruct ? NULL : value;
      continue;
    }
    if (is_same(name, stream_name)) {
      named->stream = value == py._Py_NoneStruct ? NULL : value;
      continue;
    }
    while (place < inputs && !is_same(name, py.PyTuple_GetItem(program->names, place)))
      ++place;
    if (place == inputs || !take(call, place, value, around))
      return false;
    around->named[around->named_count].place = place;
    around->named[around->named_count++].value = value;
    ++around->given;
  }
  return true;
}

// Whether the stream that was given is the one that the tensors are ready on. Others wait for it in
// DLPack's way, in Python.
static bool is_current(object *given, void *stream) {
  object *number = attribute(given, cuda_stream);
  object *type = py.PyObject_Type(number ? number : given);
  bool is_same_stream =
      type == py.PyLong_Type && py.PyLong_AsVoidPtr(number ? number : given) == stream;
  py.Py_DecRef(type);
  if (number)
    py.Py_DecRef(number);
  if (py.PyErr_Occurred())
    py.PyErr_Clear();
  return is_same_stream;
}

// Takes all that a call was given. False for what the function in Python has to judge.
static bool take_all(struct hirc_packed_call *call, const struct python_program *program,
                     object *const *arguments, long count, object *names,
                     struct surroundings *around, struct named *named, void **stream) {
  const struct hirc_program_info *info = program->program;
  for (long i = 0; i < count; ++i)
    if (!take(call, i, arguments[i], around))
      return false;
  around->given = count;
  if (names && (py.PyTuple_Size(names) > MOST_NAMED ||
                !take_named(call, program, arguments, count, names, around, named)))
    return false;
  // The function in Python knows what becomes of outputs where there is no tensor of anybody's.
  if (around->given != info->input_count || !around->exchange)
    return false;
  if (named->out &&
      (info->output_count != 1 || !take(call, info->input_count, named->out, around)))
    return false;
  if (is_gpu(around->device.type) &&
      around->exchange->current_stream(around->device.type, around->device.number, stream) != 0)
    return false;
  return !named->stream || is_current(named->stream, *stream);
}

static object *call_python(object *self, object *const *arguments, long count, object *names) {
  const struct python_program *program = py.PyLong_AsVoidPtr(self);
  struct hirc_packed_call call;
  struct surroundings around = {.arguments = arguments, .count = count};
  struct named named = {NULL, NULL};
  void *stream = NULL;
  object *result = NULL;
  if (count > program->program->input_count || !hirc_packed_begin(&call, program->program))
    return py.PyObject_Vectorcall(program->other, arguments, (size_t)count, names);
  bool is_taken =
      take_all(&call, program, arguments, count, names, &around, &named, &stream);
  if (is_taken) {
    if (program->use)
      program->use(program->instance);
    void *thread = py.PyEval_SaveThread();
    int status = hirc_packed_run(&call, stream);
    py.PyEval_RestoreThread(thread);
    if (status == 0)
      result = results(&call, &around, named.out);
    else
      py.PyErr_SetString(status == HIRC_REFUSED ? program->refused : program->failed,
                         hirc_error_text());
  }
  hirc_packed_end(&call);
  if (!is_taken) {
    py.PyErr_Clear();
    result = py.PyObject_Vectorcall(program->other, arguments, (size_t)count, names);
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
  bound->method.flags = FASTCALL | KEYWORDS;
  object *self = py.PyLong_FromVoidPtr(bound);
  object *function = self ? py.PyCFunction_NewEx(&bound->method, self, owner) : NULL;
  if (self)
    py.Py_DecRef(self);
  return function;
}
