// Programs as built-in functions of Python, which take the tensors that python_tensors.c knows, and
// numbers. Other arguments go to a function in Python (loader_call.py), which also reports errors.
//
// hirc.load makes the functions. They hold Python's lock except while the program runs.

#include "amd_device.h"
#include "hirc_runtime.h"
#include "python.h"

#include <string.h>

#define py hirc_python
enum { KEYWORDS = 0x2, FASTCALL = 0x80 }; // flags of methods

// The data of a function, in memory that Python owns (loader_python.py): it lives as long as the
// function, even longer than the library. `other` is the function in Python for all other calls;
// `refused` and `failed` are the exceptions to raise.
struct python_program {
  struct method method;
  const struct hirc_program_info *program;
  object *other, *refused, *failed;
  object *names;               // of the inputs, a tuple
  void (*use)(void *instance); // of a library with state, else NULL
  void *instance;
};

// What follows from the arguments: who makes tensors, and the stream and device of the call.
enum { MOST_NAMED = 32 };
struct surroundings {
  const struct hirc_exchange *maker;    // of outputs; NULL where no input is a tensor
  const struct hirc_exchange *streams;  // of the first tensor on a GPU, whose stream is the call's
  struct dl_device device;              // of that one, else of kind 0
  bool has_tensors;
  object *const *arguments;             // the first inputs, in order
  long count, given;
  long named_count;
  struct {
    long place;
    object *value;
  } named[MOST_NAMED]; // the others
};

// The argument for the input of this number.
static object *input_at(const struct surroundings *around, int64_t place) {
  if (place < around->count)
    return around->arguments[place];
  for (long i = 0; i < around->named_count; ++i)
    if (around->named[i].place == place)
      return around->named[i].value;
  return NULL;
}

static bool is_of(object *value, object *wanted) {
  object *type = py.PyObject_Type(value);
  py.Py_DecRef(type);
  return type == wanted;
}

static bool take_number(struct hirc_packed_call *call, int64_t place, object *argument) {
  struct hirc_host_number number = {.is_integer = !is_of(argument, py.PyFloat_Type)};
  if (!number.is_integer)
    number.real = py.PyFloat_AsDouble(argument);
  else if (is_of(argument, py.PyLong_Type) || is_of(argument, py.PyBool_Type))
    number.integer = py.PyLong_AsLongLong(argument);
  else
    return false;
  return !py.PyErr_Occurred() && hirc_packed_number(call, place, number);
}

// Takes an argument. Returns false where the function in Python must take the call.
static bool take(struct hirc_packed_call *call, int64_t place, object *argument,
                 struct surroundings *around) {
  bool is_input = place < call->program->input_count;
  if (hirc_packed_value(call, place)->is_scalar)
    return is_input && take_number(call, place, argument);
  const struct hirc_exchange *exchange = hirc_python_take(call, place, argument);
  if (!exchange)
    return false;
  struct dl_device device = call->tensors[place].device;
  // A framework's tensors take precedence over arrays, and the first tensor over others.
  if (is_input && (!around->maker || around->maker == &hirc_numpy))
    around->maker = exchange;
  if (is_gpu(device.type) && !around->streams) {
    around->streams = exchange;
    around->device = device;
  }
  around->has_tensors = true;
  return true;
}

// Returns an output as an object of Python; NULL with an exception set on failure.
static object *give(struct hirc_packed_call *call, int64_t output,
                    const struct surroundings *around) {
  const struct hirc_value_info *value = &call->program->outputs[output];
  object *given = hirc_packed_taken(call, output);
  if (given)
    return given;
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
  if (around->maker->to_object(managed, &tensor) != 0) {
    managed->deleter(managed);
    return NULL;
  }
  return tensor;
}

static object *results(struct hirc_packed_call *call, const struct surroundings *around) {
  int64_t count = call->program->output_count;
  if (count == 1)
    return give(call, 0, around);
  if (count == 0) {
    py.Py_IncRef(py._Py_NoneStruct);
    return py._Py_NoneStruct;
  }
  object *all = py.PyTuple_New(count);
  for (int64_t i = 0; all && i < count; ++i) {
    object *each = give(call, i, around);
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

// The keyword arguments of a call.
struct named {
  object *out, *stream;
};

// Takes keyword arguments: `out`, `stream`, and inputs, of which the first `count` are positional.
// Returns false where the function in Python must take the call.
static bool take_named(struct hirc_packed_call *call, const struct python_program *program,
                       object *const *arguments, long count, object *names,
                       struct surroundings *around, struct named *named) {
  long inputs = (long)program->program->input_count, given = names ? py.PyTuple_Size(names) : 0;
  for (long i = 0; i < given; ++i) {
    object *name = py.PyTuple_GetItem(names, i), *value = arguments[count + i];
    long place = count;
    if (is_same(name, py.names.out)) {
      named->out = value == py._Py_NoneStruct ? NULL : value;
      continue;
    }
    if (is_same(name, py.names.stream)) {
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

// Returns whether `stream=` is the stream on which the tensors are ready. For others the function
// in Python synchronizes the streams as DLPack says.
static bool is_current(object *given, void *stream) {
  object *number = hirc_python_attribute(given, py.names.cuda_stream);
  object *known = number ? number : given;
  py.PyErr_Clear();
  // A number that is no address is read as the default stream.
  bool is_same_stream = is_of(known, py.PyLong_Type) && py.PyLong_AsVoidPtr(known) == stream &&
                        !py.PyErr_Occurred();
  if (number)
    py.Py_DecRef(number);
  py.PyErr_Clear();
  return is_same_stream;
}

// Takes an output of `out=`. Returns false where the function in Python must take the call.
static bool take_output(struct hirc_packed_call *call, int64_t output, object *given,
                        struct surroundings *around) {
  int64_t place = call->program->input_count + output;
  if (given == py._Py_NoneStruct)
    return true;
  if (!take(call, place, given, around))
    return false;
  py.Py_IncRef(given);
  call->held[place] = given;
  return true;
}

// Does the same for all of `out=`: one output, or a list or tuple of them.
static bool take_outputs(struct hirc_packed_call *call, object *out,
                         struct surroundings *around) {
  int64_t count = call->program->output_count;
  bool is_list = is_of(out, py.PyList_Type);
  if (!is_list && !is_of(out, py.PyTuple_Type))
    return count == 1 && take_output(call, 0, out, around);
  if ((is_list ? py.PyList_Size(out) : py.PyTuple_Size(out)) != count)
    return false;
  for (int64_t i = 0; i < count; ++i) {
    object *each = is_list ? py.PyList_GetItem(out, i) : py.PyTuple_GetItem(out, i);
    if (!each || !take_output(call, i, each, around))
      return false;
  }
  return true;
}

// Returns whether the outputs that `out=` lacks can be tensors of the inputs' kind.
static bool can_give(const struct hirc_packed_call *call, const struct surroundings *around) {
  const struct hirc_program_info *info = call->program;
  for (int64_t i = 0; i < info->output_count; ++i) {
    const struct hirc_value_info *value = &info->outputs[i];
    bool is_made = !call->held[info->input_count + i] && !value->is_scalar &&
                   value->origin == HIRC_ALLOCATED;
    if (is_made && (!around->maker || (around->maker == &hirc_numpy && !hirc_numpy_has(value))))
      return false;
  }
  return true;
}

// Takes all arguments. Returns false where the function in Python must take the call.
static bool take_all(struct hirc_packed_call *call, const struct python_program *program,
                     object *const *arguments, long count, object *names,
                     struct surroundings *around, void **stream) {
  const struct hirc_program_info *info = program->program;
  struct named named = {NULL, NULL};
  for (long i = 0; i < count; ++i)
    if (!take(call, i, arguments[i], around))
      return false;
  around->given = count;
  if (names && (py.PyTuple_Size(names) > MOST_NAMED ||
                !take_named(call, program, arguments, count, names, around, &named)))
    return false;
  if (around->given != info->input_count ||
      (named.out && !take_outputs(call, named.out, around)))
    return false;
  // Without any tensor the function in Python decides on the kind of the outputs.
  if (!around->has_tensors || !can_give(call, around))
    return false;
  if (around->streams &&
      around->streams->current_stream(around->device.type, around->device.number, stream) != 0)
    return false;
  return !named.stream || is_current(named.stream, *stream);
}

// Releases the outputs of `out=` that did not become results.
static void drop_outputs(struct hirc_packed_call *call) {
  for (int64_t i = 0; i < call->program->output_count; ++i) {
    object *left = hirc_packed_taken(call, i);
    if (left)
      py.Py_DecRef(left);
  }
}

static object *call_python(object *self, object *const *arguments, long count, object *names) {
  const struct python_program *program = py.PyLong_AsVoidPtr(self);
  struct hirc_packed_call call;
  struct surroundings around = {.arguments = arguments, .count = count};
  void *stream = NULL;
  object *result = NULL;
  if (count > program->program->input_count || !hirc_packed_begin(&call, program->program))
    return py.PyObject_Vectorcall(program->other, arguments, (size_t)count, names);
  bool is_taken = take_all(&call, program, arguments, count, names, &around, &stream);
  if (is_taken) {
    if (program->use)
      program->use(program->instance);
    void *thread = py.PyEval_SaveThread();
    int status = hirc_packed_run(&call, stream);
    py.PyEval_RestoreThread(thread);
    if (status == 0)
      result = results(&call, &around);
    else
      py.PyErr_SetString(status == HIRC_REFUSED ? program->refused : program->failed,
                         hirc_error_text());
  }
  drop_outputs(&call);
  hirc_packed_end(&call);
  if (!is_taken) {
    py.PyErr_Clear();
    result = py.PyObject_Vectorcall(program->other, arguments, (size_t)count, names);
  }
  return result;
}

// Returns the function for a program. `owner` is an int, the address of `bound`, which keeps what
// the function needs alive. Returns NULL for programs with outputs that are parts of other memory,
// which it does not support.
void *hirc_python_function(struct python_program *bound, object *owner) {
  const struct hirc_program_info *program = bound->program;
  for (int64_t i = 0; i < program->output_count; ++i)
    if (program->outputs[i].origin == HIRC_VIEW && !program->outputs[i].is_scalar)
      return NULL;
  if (!hirc_python_find())
    return NULL;
  bound->method.function = call_python;
  bound->method.flags = FASTCALL | KEYWORDS;
  object *module = hirc_python_attribute(owner, py.names.__module__);
  object *function = py.PyCFunction_NewEx(&bound->method, owner, module);
  if (module)
    py.Py_DecRef(module);
  return function;
}
