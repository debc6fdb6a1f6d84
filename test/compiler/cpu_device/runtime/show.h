// Printing what a CUDA call returns. Programs that use only this and CUDA's headers print the same
// on a GPU, linked with libcudart_static.
#ifndef SHOW_H
#define SHOW_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One line: the call and the name of the error it returned.
#define SHOW(call) printf("%-72s %s\n", #call, cudaGetErrorName(call))

// One line: the expression and its value.
#define SHOW_INT(value) printf("%-72s %lld\n", #value, (long long)(value))

// Ends the program if a call fails that is not what is shown.
#define OK(call)                                                                                   \
  do {                                                                                             \
    cudaError_t ok_error = (call);                                                                 \
    if (ok_error != cudaSuccess) {                                                                 \
      printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(ok_error));                    \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

#endif
