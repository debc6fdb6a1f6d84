// Whether a tensor has two elements in one place: then it cannot be written.

#include "program.h"

#include <stdbool.h>
#include <stdlib.h>

enum { MOST_COMPARED = 1 << 12, MAX_RANK = 64 };

// A dim of more than one element: strides are compared without their signs, as reversing a dim
// leaves elements apart that are apart.
struct dim {
  int64_t stride, size;
};

static int compare_strides(const void *left, const void *right) {
  const struct dim *one = left, *other = right;
  return (one->stride > other->stride) - (one->stride < other->stride);
}

static int compare_places(const void *left, const void *right) {
  int64_t one = *(const int64_t *)left, other = *(const int64_t *)right;
  return (one > other) - (one < other);
}

// Whether one of the elements is where another one is: of few, compared each; of many, yes.
static bool places_repeat(const struct dim *dims, int count) {
  int64_t places[MOST_COMPARED];
  size_t used = 1;
  places[0] = 0;
  for (int i = 0; i < count; ++i) {
    if (dims[i].size > MOST_COMPARED / (int64_t)used)
      return true;
    size_t before = used;
    for (int64_t step = 1; step < dims[i].size; ++step)
      for (size_t place = 0; place < before; ++place)
        places[used++] = places[place] + step * dims[i].stride;
  }
  qsort(places, used, sizeof *places, compare_places);
  for (size_t place = 1; place < used; ++place)
    if (places[place] == places[place - 1])
      return true;
  return false;
}

// Whether two elements of a tensor have one address; where it is hard to tell, yes.
bool hirc_elements_repeat(const struct dl_tensor *tensor) {
  struct dim dims[MAX_RANK];
  int count = 0;
  int64_t reach = 0;
  for (int axis = 0; axis < tensor->rank; ++axis)
    if (!tensor->strides || tensor->sizes[axis] == 0)
      return false;
  for (int axis = 0; axis < tensor->rank; ++axis) {
    int64_t stride = tensor->strides[axis];
    if (tensor->sizes[axis] == 1)
      continue;
    if (count == MAX_RANK || stride == INT64_MIN)
      return true;
    dims[count++] = (struct dim){stride < 0 ? -stride : stride, tensor->sizes[axis]};
  }
  qsort(dims, (size_t)count, sizeof *dims, compare_strides);
  for (int i = 0; i < count; ++i) {
    int64_t span;
    if (dims[i].stride <= reach)
      return dims[i].stride == 0 || places_repeat(dims, count);
    if (__builtin_mul_overflow(dims[i].stride, dims[i].size - 1, &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return true;
  }
  return false;
}
