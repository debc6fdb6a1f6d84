// Python's functions, by their names in the process: nothing of Python is needed to build, link or
// load a library. They are of its stable interface. Whoever calls them holds Python's lock.
#ifndef HIRC_PYTHON_H
#define HIRC_PYTHON_H

#include "packed_call.h"

typedef void object; // PyObject

// PyMethodDef.
struct method {
  const char *name;
  object *(*function)(object *self, object *const *arguments, long count, object *names);
  int flags;
  const char *text;
};

#define HIRC_PYTHON_FUNCTIONS(each)                                                                \
  each(object *, PyObject_Type, (object *))                                                        \
  each(object *, PyObject_GetAttr, (object *, object *))                                           \
  each(object *, PyUnicode_InternFromString, (const char *))                                       \
  each(int, PyObject_RichCompareBool, (object *, object *, int))                                   \
  each(object *, PyImport_GetModuleDict, (void))                                                   \
  each(object *, PyDict_GetItemString, (object *, const char *))                                   \
  each(object *, PyDict_GetItem, (object *, object *))                                             \
  each(object *, PyModule_GetDict, (object *))                                                     \
  each(object *, PyList_GetItem, (object *, long))                                                 \
  each(long, PyList_Size, (object *))                                                              \
  each(object *, PyTuple_GetItem, (object *, long))                                                \
  each(long, PyTuple_Size, (object *))                                                             \
  each(object *, PyObject_Vectorcall, (object *, object *const *, size_t, object *))               \
  each(int, PyObject_IsTrue, (object *))                                                           \
  each(object *, PyCFunction_NewEx, (const struct method *, object *, object *))                   \
  each(void *, PyLong_AsVoidPtr, (object *))                                                       \
  each(object *, PyCapsule_New, (void *, const char *, void (*)(object *)))                        \
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

#define HIRC_PYTHON_OBJECTS(each)                                                                  \
  each(PyFloat_Type) each(PyLong_Type) each(PyBool_Type) each(PyList_Type) each(PyTuple_Type)      \
      each(_Py_NoneStruct) each(_Py_FalseStruct)

// The names of attributes and keywords.
#define HIRC_PYTHON_NAMES(each)                                                                    \
  each(__dlpack_c_exchange_api__) each(__array_struct__) each(_ARRAY_API) each(requires_grad)      \
      each(is_neg) each(is_conj) each(out) each(stream) each(cuda_stream) each(__module__) each(_current_level)

struct hirc_python {
#define MEMBER(result, name, parameters) result(*name) parameters;
  HIRC_PYTHON_FUNCTIONS(MEMBER)
#undef MEMBER
#define MEMBER(name) object *name;
  HIRC_PYTHON_OBJECTS(MEMBER)
  struct {
    HIRC_PYTHON_NAMES(MEMBER)
  } names;
#undef MEMBER
};
extern __attribute__((visibility("hidden"))) struct hirc_python hirc_python;

// Finds the functions and names. Returns false where this process has no Python.
bool hirc_python_find(void);

// Returns an attribute; NULL, without an exception, where there is none.
object *hirc_python_attribute(object *of, object *name);

// DLPackExchangeAPI, of DLPack 1.
struct hirc_exchange {
  struct {
    uint32_t major, minor;
  } version;
  void *previous;
  void *allocate;
  int (*managed_from)(object *from, struct dl_versioned_tensor **tensor);
  // Returns 0; else an exception is set, and the caller still owns the tensor.
  int (*to_object)(struct dl_versioned_tensor *tensor, object **result);
  int (*tensor_from)(object *from, struct dl_tensor *tensor);
  int (*current_stream)(int32_t device_type, int32_t device, void **stream);
};

// Passes an argument's memory. Returns the maker of tensors of its kind: the exchange API of its
// type, or hirc_numpy. Returns NULL where the function in Python must take the call.
const struct hirc_exchange *hirc_python_take(struct hirc_packed_call *call, int64_t place,
                                             object *argument);

// Reads and makes NumPy's arrays. They have no streams.
extern __attribute__((visibility("hidden"))) const struct hirc_exchange hirc_numpy;
// Returns whether an output can be an array.
bool hirc_numpy_has(const struct hirc_value_info *value);

#endif
