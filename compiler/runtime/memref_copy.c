// memref.copy between host views whose layout is not known to be contiguous. Free of CUDA.
// Name and ABI are those that MLIR's conversion of memref.copy to the LLVM dialect calls.

#include "memref.h"
#include "strided.h"

#include <string.h>

void memrefCopy(int64_t element_bytes, struct unranked_memref *src, struct unranked_memref *dst);

void memrefCopy(int64_t element_bytes, struct unranked_memref *src, struct unranked_memref *dst) {
  struct strided_copy copy;
  struct strided_walk walk;
  if (!hirc_strided_simplify(&copy, memref_first_element(dst->descriptor, element_bytes),
                             memref_first_element(src->descriptor, element_bytes), src->rank,
                             memref_sizes(src->descriptor),
                             memref_strides(dst->descriptor, dst->rank),
                             memref_strides(src->descriptor, src->rank), element_bytes))
    return;
  strided_begin(&copy, &walk);
  do {
    memcpy(walk.dst, walk.src, (size_t)copy.width);
  } while (strided_advance(&copy, &walk));
}
