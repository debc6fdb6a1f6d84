// Printing whole memrefs. Names, ABI and text, spaces included, are those of MLIR's runner
// utilities, with three differences: a view without elements prints as [], where theirs reads an
// element that is not there; i8 prints as a number; and there are functions for i16, f16 and bf16.
//
// The data must be readable by the host: this file is free of CUDA and copies nothing.

#include "memref.h"
#include "numbers.h"

#include <inttypes.h>
#include <stdio.h>

struct element_type {
  int64_t bytes;
  void (*print)(const void *element);
};

// How each type prints.
#define INTEGER_TYPE(name, type, format)                                                           \
  static void print_##name(const void *element) {                                                  \
    printf("%" format, *(const type *)element);                                                    \
  }                                                                                                \
  static const struct element_type type_##name = {sizeof(type), print_##name};

#define FLOAT_TYPE(name, type, convert)                                                            \
  static void print_##name(const void *element) {                                                  \
    printf("%g", (double)convert(*(const type *)element));                                         \
  }                                                                                                \
  static const struct element_type type_##name = {sizeof(type), print_##name};

#define COMPLEX_TYPE(name, type)                                                                   \
  static void print_##name(const void *element) {                                                  \
    const type *parts = element;                                                                   \
    printf("(%g,%g)", (double)parts[0], (double)parts[1]);                                         \
  }                                                                                                \
  static const struct element_type type_##name = {2 * sizeof(type), print_##name};

INTEGER_TYPE(I8, int8_t, PRId8)
INTEGER_TYPE(I16, int16_t, PRId16)
INTEGER_TYPE(I32, int32_t, PRId32)
INTEGER_TYPE(I64, int64_t, PRId64)
INTEGER_TYPE(Ind, uint64_t, PRIu64)
FLOAT_TYPE(F16, uint16_t, float_of_f16)
FLOAT_TYPE(BF16, uint16_t, float_of_bf16)
FLOAT_TYPE(F32, float, )
FLOAT_TYPE(F64, double, )
COMPLEX_TYPE(C32, float)
COMPLEX_TYPE(C64, double)

static void print_list(const int64_t *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    printf("%s%" PRId64, i ? ", " : "", values[i]);
}

static void print_shape(const char *kind, int64_t rank,
                        const struct memref_descriptor *descriptor) {
  // A C++ stream prints a null pointer as 0 where printf prints (nil).
  printf("%s base@ = ", kind);
  if (descriptor->aligned)
    printf("%p", descriptor->aligned);
  else
    putchar('0');
  printf(" rank = %" PRId64 " offset = %" PRId64 " sizes = [", rank, descriptor->offset);
  print_list(memref_sizes(descriptor), rank);
  fputs("] strides = [", stdout);
  print_list(memref_strides(descriptor, rank), rank);
  putchar(']');
}

// Prints dimension `dim` and those inside it, `address` being that of its first element.
static void print_data(const struct element_type *type, const char *address, int64_t dim,
                       int64_t rank, const int64_t *sizes, const int64_t *strides) {
  if (dim == rank) {
    type->print(address);
    return;
  }
  putchar('[');
  for (int64_t i = 0; i < sizes[dim]; ++i) {
    if (i > 0) {
      fputs(dim + 1 < rank ? ", \n" : ", ", stdout);
      for (int64_t space = 0; space <= dim; ++space)
        putchar(' ');
    }
    print_data(type, address + i * strides[dim] * type->bytes, dim + 1, rank, sizes, strides);
  }
  putchar(']');
}

static void print_memref(const struct element_type *type, const char *kind, int64_t rank,
                         const struct memref_descriptor *descriptor) {
  print_shape(kind, rank, descriptor);
  fputs(" data = \n", stdout);
  if (rank == 0)
    putchar('[');
  print_data(type, memref_first_element(descriptor, type->bytes), 0, rank,
             memref_sizes(descriptor), memref_strides(descriptor, rank));
  fputs(rank == 0 ? "]\n" : "\n", stdout);
}

// The functions of one element type: of an unranked memref in MLIR's C interface and in its plain
// calling convention, with its data and without.
#define UNRANKED(name)                                                                             \
  void _mlir_ciface_printMemref##name(struct unranked_memref *memref);                             \
  void printMemref##name(int64_t rank, void *descriptor);                                          \
  void _mlir_ciface_printMemrefShape##name(struct unranked_memref *memref);                        \
  void printMemrefShape##name(int64_t rank, void *descriptor);                                     \
  void _mlir_ciface_printMemref##name(struct unranked_memref *memref) {                            \
    print_memref(&type_##name, "Unranked Memref", memref->rank, memref->descriptor);               \
  }                                                                                                \
  void printMemref##name(int64_t rank, void *descriptor) {                                         \
    print_memref(&type_##name, "Unranked Memref", rank, descriptor);                               \
  }                                                                                                \
  void _mlir_ciface_printMemrefShape##name(struct unranked_memref *memref) {                       \
    printMemrefShape##name(memref->rank, memref->descriptor);                                      \
  }                                                                                                \
  void printMemrefShape##name(int64_t rank, void *descriptor) {                                    \
    print_shape("Unranked Memref", rank, descriptor);                                              \
    putchar('\n');                                                                                 \
  }

// The function of a memref whose rank is known, in MLIR's C interface.
#define RANKED(rank, name)                                                                         \
  void _mlir_ciface_printMemref##rank##d##name(struct memref_descriptor *descriptor);              \
  void _mlir_ciface_printMemref##rank##d##name(struct memref_descriptor *descriptor) {             \
    print_memref(&type_##name, "Memref", rank, descriptor);                                        \
  }

UNRANKED(I8)
UNRANKED(I16)
UNRANKED(I32)
UNRANKED(I64)
UNRANKED(Ind)
UNRANKED(F16)
UNRANKED(BF16)
UNRANKED(F32)
UNRANKED(F64)
UNRANKED(C32)
UNRANKED(C64)
RANKED(0, F32)
RANKED(1, F32)
RANKED(2, F32)
RANKED(3, F32)
RANKED(4, F32)
RANKED(1, I8)
RANKED(1, I32)
RANKED(1, I64)
RANKED(1, Ind)
RANKED(1, F64)
RANKED(1, C32)
RANKED(1, C64)
