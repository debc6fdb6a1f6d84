// The strides of a view with other sizes, where compiled code cannot say them. Free of CUDA.

#include "hirc_runtime.h"

// Writes the strides of a view, with the sizes `new_sizes`, of the same elements in row-major order
// as the view that `sizes` and `strides` describe. Both have as many elements. Ends the program
// where strides allow no such view.
//
// The old dimensions fall into runs, each packed within itself; the new ones must cover each run
// evenly. Dimensions of size 1 belong to any run (the rule of torch.Tensor.view).
void hirc_reshape_strides(int64_t rank, const int64_t *sizes, const int64_t *strides,
                          int64_t new_rank, const int64_t *new_sizes, int64_t *new_strides,
                          const char *location) {
  int64_t place = new_rank; // from here on the strides are found
  int64_t packed = 1;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (sizes[dim] == 0) {
      while (--place >= 0) {
        new_strides[place] = packed;
        packed *= new_sizes[place] > 0 ? new_sizes[place] : 1;
      }
      return;
    }
  int64_t base = 1, available = 1, taken = 1; // of the run
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (sizes[dim] == 1)
      continue;
    if (strides[dim] != base * available) {
      if (taken != available)
        hirc_refuse("hir.reshape: the strides allow no view with other sizes, for dim %lld does "
                    "not lie packed around what is within it; hir.set makes a packed copy",
                    dim, 0, location);
      base = strides[dim];
      available = taken = 1;
    }
    available *= sizes[dim];
    while (place > 0 && (taken < available || new_sizes[place - 1] == 1)) {
      --place;
      new_strides[place] = taken * base;
      taken *= new_sizes[place];
    }
  }
  while (place > 0)
    new_strides[--place] = taken * base;
}
