// The part of cuBLASLt's C ABI that the support library calls, declared here so that the library
// compiles on a machine with no CUDA header, and found with dlsym so that programs start where
// cuBLAS is not installed.
//
// Source of every prototype and number: cublasLt.h, cublas_api.h and library_types.h of CUDA 12 and
// 13, which agree in them. Handles and descriptors are pointers to opaque objects; every enum has
// the size and passing of an int.
#ifndef HIRC_CUBLASLT_ABI_H
#define HIRC_CUBLASLT_ABI_H

#include "cuda_runtime_abi.h"

#include <stdint.h>

typedef void *cublaslt_handle;
typedef void *cublaslt_matmul;     // cublasLtMatmulDesc_t
typedef void *cublaslt_layout;     // cublasLtMatrixLayout_t
typedef void *cublaslt_preference; // cublasLtMatmulPreference_t

// cublasStatus_t.
enum {
  CUBLASLT_SUCCESS = 0,
  CUBLASLT_NOT_SUPPORTED = 15,
};

// cudaDataType.
enum {
  CUBLASLT_F32 = 0,   // CUDA_R_32F
  CUBLASLT_F64 = 1,   // CUDA_R_64F
  CUBLASLT_F16 = 2,   // CUDA_R_16F
  CUBLASLT_BF16 = 14, // CUDA_R_16BF
};

// cublasComputeType_t.
enum {
  CUBLASLT_COMPUTE_F32 = 68,  // CUBLAS_COMPUTE_32F
  CUBLASLT_COMPUTE_F64 = 70,  // CUBLAS_COMPUTE_64F
  CUBLASLT_COMPUTE_TF32 = 77, // CUBLAS_COMPUTE_32F_FAST_TF32
};

// cublasOperation_t.
enum {
  CUBLASLT_PLAIN = 0,
  CUBLASLT_TRANSPOSED = 1,
};

// cublasLtEpilogue_t: flags, of which DEFAULT stands alone. GELU is the form with tanh.
enum {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_GELU = 32,
};

// cublasLtMatrixLayoutAttribute_t. A layout is column-major unless its order is set.
enum {
  CUBLASLT_LAYOUT_BATCH_COUNT = 5,  // int32_t
  CUBLASLT_LAYOUT_BATCH_STRIDE = 6, // int64_t, in elements
};

// cublasLtMatmulDescAttributes_t. Alpha and beta lie on the host unless the pointer mode is set.
enum {
  CUBLASLT_MATMUL_TRANSPOSE_A = 3,  // int32_t
  CUBLASLT_MATMUL_TRANSPOSE_B = 4,  // int32_t
  CUBLASLT_MATMUL_EPILOGUE = 7,     // uint32_t
  CUBLASLT_MATMUL_BIAS_POINTER = 8, // const void *, of one element a row of the result
};

// cublasLtMatmulPreferenceAttributes_t.
enum {
  CUBLASLT_PREFERENCE_WORKSPACE_BYTES = 1, // uint64_t
  CUBLASLT_PREFERENCE_REDUCTION_MASK = 3,  // uint32_t, of CUBLASLT_REDUCTION_ numbers
  CUBLASLT_PREFERENCE_ALIGNMENT_A = 5,     // uint32_t, bytes; so the next three
  CUBLASLT_PREFERENCE_ALIGNMENT_B = 6,
  CUBLASLT_PREFERENCE_ALIGNMENT_C = 7,
  CUBLASLT_PREFERENCE_ALIGNMENT_D = 8,
};

// cublasLtReductionScheme_t: how an algorithm that splits the sum adds up the parts.
enum {
  CUBLASLT_REDUCTION_IN_COMPUTE_TYPE = 2,
};

// cublasLtMatmulAlgo_t.
struct cublaslt_algorithm {
  uint64_t data[8];
};

// cublasLtMatmulHeuristicResult_t.
struct cublaslt_choice {
  struct cublaslt_algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

// The library's functions; each member is named as the function without its prefix, cublasLt.
struct cublaslt {
  const char *(*GetStatusName)(int status);
  size_t (*GetVersion)(void);
  int (*Create)(cublaslt_handle *handle);
  int (*Destroy)(cublaslt_handle handle);
  int (*MatmulDescCreate)(cublaslt_matmul *matmul, int compute_type, int scale_type);
  int (*MatmulDescDestroy)(cublaslt_matmul matmul);
  int (*MatmulDescSetAttribute)(cublaslt_matmul matmul, int attribute, const void *value,
                                size_t bytes);
  int (*MatrixLayoutCreate)(cublaslt_layout *layout, int type, uint64_t rows, uint64_t columns,
                            int64_t leading);
  int (*MatrixLayoutDestroy)(cublaslt_layout layout);
  int (*MatrixLayoutSetAttribute)(cublaslt_layout layout, int attribute, const void *value,
                                  size_t bytes);
  int (*MatmulPreferenceCreate)(cublaslt_preference *preference);
  int (*MatmulPreferenceDestroy)(cublaslt_preference preference);
  int (*MatmulPreferenceSetAttribute)(cublaslt_preference preference, int attribute,
                                      const void *value, size_t bytes);
  int (*MatmulAlgoGetHeuristic)(cublaslt_handle handle, cublaslt_matmul matmul, cublaslt_layout a,
                                cublaslt_layout b, cublaslt_layout c, cublaslt_layout d,
                                cublaslt_preference preference, int wanted,
                                struct cublaslt_choice *choices, int *found);
  int (*Matmul)(cublaslt_handle handle, cublaslt_matmul matmul, const void *alpha, const void *a,
                cublaslt_layout a_layout, const void *b, cublaslt_layout b_layout,
                const void *beta, const void *c, cublaslt_layout c_layout, void *d,
                cublaslt_layout d_layout, const struct cublaslt_algorithm *algorithm,
                void *workspace, size_t workspace_bytes, cuda_stream stream);
};

#endif
