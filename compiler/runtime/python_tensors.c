// Reads and makes tensors in Python: those of types with DLPack's C exchange API, such as torch's,
// and NumPy's arrays by its C interface.
#define _GNU_SOURCE

#include "python.h"

#include <dlfcn.h>
#include <string.h>

#define py hirc_python
struct hirc_python hirc_python;

bool hirc_python_find(void) {
  static const struct {
    const char *name;
    void *place;
  } symbols[] = {
#define SYMBOL(result, name, parameters) {#name, &py.name},
      HIRC_PYTHON_FUNCTIONS(SYMBOL)
#undef SYMBOL
#define SYMBOL(name) {#name, &py.name},
          HIRC_PYTHON_OBJECTS(SYMBOL)
#undef SYMBOL
  };
  static const struct {
    const char *text;
    object **place;
  } names[] = {
#define NAME(name) {#name, &py.names.name},
      HIRC_PYTHON_NAMES(NAME)
#undef NAME
  };
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

object *hirc_python_attribute(object *of, object *name) {
  object *found = py.PyObject_GetAttr(of, name);
  if (!found)
    py.PyErr_Clear();
  return found;
}

// A type of tensors. A reference keeps it alive, so that its address stays unique.
struct kind {
  object *type;
  const struct hirc_exchange *exchange;
  object *is_neg, *is_conj; // its methods, NULL where it has none
};

// A cache of the latest types; few calls have more. Another thread may replace an entry whenever
// Python's lock is free, so entries are copied. A tensor keeps its type's methods alive.
enum { KINDS = 4 };
static struct kind kinds[KINDS];
static int newest;

// Indices of NumPy's functions and types in its C interface, which are stable.
enum { ARRAY_TYPE = 2, NEW_ARRAY = 93, SET_BASE = 282 };
typedef object *new_array(object *type, int rank, const intptr_t *sizes, int element,
                          const intptr_t *strides, void *data, int bytes, int flags, object *from);
typedef int set_base(object *array, object *base);
static void **array_functions;

// PyArrayInterface.
struct array {
  int two, rank;
  char kind;
  int element_bytes, flags;
  intptr_t *sizes, *strides;
  void *data;
};
enum { ALIGNED = 0x100, NOT_SWAPPED = 0x200, WRITEABLE = 0x400, MOST_DIMS = 32 };

static bool is_array_type(object *type) {
  object *modules = array_functions ? NULL : py.PyImport_GetModuleDict();
  object *numpy =
      modules ? py.PyDict_GetItemString(modules, "numpy._core._multiarray_umath") : NULL;
  object *capsule = numpy ? hirc_python_attribute(numpy, py.names._ARRAY_API) : NULL;
  if (capsule) {
    array_functions = py.PyCapsule_GetPointer(capsule, NULL);
    py.Py_DecRef(capsule);
  }
  return array_functions && type == array_functions[ARRAY_TYPE];
}

static const struct hirc_exchange *exchange_of(object *type) {
  object *capsule = hirc_python_attribute(type, py.names.__dlpack_c_exchange_api__);
  const struct hirc_exchange *found =
      capsule ? py.PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
  if (capsule)
    py.Py_DecRef(capsule);
  if (!found)
    py.PyErr_Clear();
  return found && found->version.major == 1 ? found : NULL;
}

// Replaces the oldest entry.
static void keep(struct kind kind) {
  newest = (newest + 1) % KINDS;
  struct kind before = kinds[newest];
  kinds[newest] = kind;
  if (before.type)
    py.Py_DecRef(before.type);
  if (before.is_neg)
    py.Py_DecRef(before.is_neg);
  if (before.is_conj)
    py.Py_DecRef(before.is_conj);
}

// The names of torch.autograd.forward_ad; NULL where it is not loaded.
static object *forward_names;

static void find_forward_names(void) {
  object *modules = py.PyImport_GetModuleDict();
  object *module =
      modules ? py.PyDict_GetItemString(modules, "torch.autograd.forward_ad") : NULL;
  forward_names = module ? py.PyModule_GetDict(module) : NULL;
  if (forward_names)
    py.Py_IncRef(forward_names);
}

// Returns the type of a tensor; without an exchange API if it is none known here.
static struct kind kind_of(object *tensor) {
  object *type = py.PyObject_Type(tensor);
  for (int i = 0; i < KINDS; ++i)
    if (kinds[i].type == type) {
      py.Py_DecRef(type);
      return kinds[i];
    }
  struct kind found = {.type = type, .exchange = exchange_of(type)};
  if (found.exchange) {
    found.is_neg = hirc_python_attribute(type, py.names.is_neg);
    found.is_conj = hirc_python_attribute(type, py.names.is_conj);
    if (!forward_names)
      find_forward_names();
  } else if (is_array_type(type)) {
    found.exchange = &hirc_numpy;
  }
  if (found.exchange)
    keep(found);
  else
    py.Py_DecRef(type);
  return found;
}

// Returns whether tensors may have tangents now, which a program would lose.
static bool has_tangents(void) {
  object *level = forward_names ? py.PyDict_GetItem(forward_names, py.names._current_level) : NULL;
  return level && py.PyLong_AsLongLong(level) >= 0;
}

// Returns whether an answer is False; not where there is none.
static bool denies(object *answer) {
  if (!answer) {
    py.PyErr_Clear();
    return true;
  }
  int truth = answer == py._Py_FalseStruct ? 0 : py.PyObject_IsTrue(answer);
  py.Py_DecRef(answer);
  return truth == 0;
}

// Returns whether a method without arguments returns False.
static bool method_denies(object *method, object *tensor) {
  object *const arguments[] = {tensor};
  return !method || denies(py.PyObject_Vectorcall(method, arguments, 1, NULL));
}

// Returns whether a tensor's memory holds its values, and it has no gradients. Only real and complex
// tensors can be negated views, or have gradients.
static bool is_plain(const struct kind *kind, object *tensor, uint8_t code) {
  return code == DL_INT || code == DL_UINT || code == DL_BOOL ||
         (!has_tangents() && denies(py.PyObject_GetAttr(tensor, py.names.requires_grad)) &&
          method_denies(kind->is_neg, tensor) &&
          (code != DL_COMPLEX || method_denies(kind->is_conj, tensor)));
}

static bool take_array(struct hirc_packed_call *call, int64_t place, const struct array *array) {
  static const struct {
    char kind;
    uint8_t code;
  } codes[] = {
      {'f', DL_FLOAT}, {'i', DL_INT}, {'u', DL_UINT}, {'b', DL_BOOL}, {'c', DL_COMPLEX}};
  enum { USABLE = ALIGNED | NOT_SWAPPED | WRITEABLE };
  int64_t *numbers = hirc_packed_numbers(call, place);
  size_t each = 0, bytes = (size_t)array->element_bytes;
  while (each < sizeof codes / sizeof *codes && codes[each].kind != array->kind)
    ++each;
  if (array->two != 2 || each == sizeof codes / sizeof *codes || bytes == 0 || bytes > 16 ||
      (array->flags & USABLE) != USABLE || array->rank != hirc_packed_value(call, place)->rank)
    return false;
  struct dl_tensor tensor = {.data = array->data,
                             .device = {DL_CPU, 0},
                             .rank = array->rank,
                             .type = {codes[each].code, (uint8_t)(8 * bytes), 1},
                             .sizes = numbers,
                             .strides = numbers + array->rank};
  for (int axis = 0; axis < array->rank; ++axis) {
    tensor.sizes[axis] = array->sizes[axis];
    tensor.strides[axis] = array->strides[axis] / (intptr_t)bytes;
    if (array->strides[axis] % (intptr_t)bytes != 0)
      return false;
  }
  hirc_packed_tensor(call, place, &tensor);
  return true;
}

const struct hirc_exchange *hirc_python_take(struct hirc_packed_call *call, int64_t place,
                                             object *argument) {
  struct kind kind = kind_of(argument);
  struct dl_tensor view;
  if (kind.exchange && kind.exchange != &hirc_numpy) {
    if (kind.exchange->tensor_from(argument, &view) != 0 ||
        !is_plain(&kind, argument, view.type.code))
      return NULL;
    hirc_packed_tensor(call, place, &view);
    return kind.exchange;
  }
  object *capsule =
      kind.exchange ? hirc_python_attribute(argument, py.names.__array_struct__) : NULL;
  const struct array *array = capsule ? py.PyCapsule_GetPointer(capsule, NULL) : NULL;
  bool is_taken = array && take_array(call, place, array);
  if (capsule)
    py.Py_DecRef(capsule);
  return is_taken ? kind.exchange : NULL;
}

// Returns NumPy's number of an element type, -1 where it has none.
static int array_element(struct dl_data_type type) {
  static const struct {
    uint8_t code, bits;
    int number;
  } elements[] = {{DL_BOOL, 8, 0},   {DL_INT, 8, 1},       {DL_UINT, 8, 2},     {DL_INT, 16, 3},
                  {DL_UINT, 16, 4},  {DL_INT, 32, 5},      {DL_UINT, 32, 6},    {DL_INT, 64, 7},
                  {DL_UINT, 64, 8},  {DL_FLOAT, 32, 11},   {DL_FLOAT, 64, 12},  {DL_COMPLEX, 64, 14},
                  {DL_FLOAT, 16, 23}, {DL_COMPLEX, 128, 15}};
  for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i)
    if (elements[i].code == type.code && elements[i].bits == type.bits)
      return elements[i].number;
  return -1;
}

bool hirc_numpy_has(const struct hirc_value_info *value) {
  struct dl_data_type type;
  memcpy(&type, &value->dtype, sizeof type);
  return value->rank <= MOST_DIMS && array_element(type) >= 0;
}

static const char managed_name[] = "hirc_output";

// For the library's last output it ends by closing the library: there is no code here to return to.
static void release(object *capsule) {
  struct dl_versioned_tensor *managed = py.PyCapsule_GetPointer(capsule, managed_name);
  __attribute__((musttail)) return ((void (*)(object *))(void *)managed->deleter)(managed);
}

static int make_array(struct dl_versioned_tensor *managed, object **result) {
  const struct dl_tensor *tensor = &managed->tensor;
  intptr_t sizes[MOST_DIMS], strides[MOST_DIMS];
  for (int axis = 0; axis < tensor->rank; ++axis) {
    sizes[axis] = tensor->sizes[axis];
    strides[axis] = tensor->strides[axis] * (tensor->type.bits / 8);
  }
  object *array = ((new_array *)array_functions[NEW_ARRAY])(
      array_functions[ARRAY_TYPE], tensor->rank, sizes, array_element(tensor->type), strides,
      tensor->data, 0, ALIGNED | WRITEABLE, NULL);
  object *capsule = array ? py.PyCapsule_New(managed, managed_name, release) : NULL;
  if (!capsule) {
    if (array)
      py.Py_DecRef(array);
    return -1;
  }
  // Consumes the capsule, and with it the tensor, even where it fails.
  if (((set_base *)array_functions[SET_BASE])(array, capsule) != 0)
    py.Py_DecRef(array);
  else
    *result = array;
  return 0;
}

const struct hirc_exchange hirc_numpy = {.version = {1, 0}, .to_object = make_array};
