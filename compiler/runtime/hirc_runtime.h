// What compiled host code may call in the support library. Strings named `location` say where in
// the user's source the op behind the call stands ("prog.mlir:12:7"); NULL or "" when unknown.
//
// None returns an error: where something fails, the call of the program that is under way ends, and
// outside of any the process (see calls.c). All may be called from any thread.
#ifndef HIRC_RUNTIME_H
#define HIRC_RUNTIME_H

#include <stdint.h>

// calls.c
enum {
  HIRC_REFUSED = 1, // a tensor is wrong, or there are no weights: nothing has run
  HIRC_FAILED = 2,
};
typedef int hirc_guarded(void *first, void *second, void *stream);
int hirc_guard(hirc_guarded *function, void *first, void *second, void *stream);
// graphs.c
int hirc_guard_graph(hirc_guarded *function, void **known, const void *program, void *inputs,
                     void *outputs, void *stream);

// calls.c
void hirc_own_host(void *memory, int64_t bytes, const char *location);
void hirc_disown_memory(void *memory);

// check.c
void hirc_check(int rc, const char *call, const char *location);

// program_end.c
void hirc_program_end(const char *location);

// streams.c
void *hirc_stream_acquire(const char *location);
void hirc_stream_wait(void *waiter, void *signaller, const char *location);
void *hirc_event_record(void *stream, const char *location);
void hirc_stream_settle(void *stream);
void hirc_event_release(void *event, const char *location);

// gpu_trace.c
void hirc_trace_gpus(void);

// named_streams.c
void *hirc_stream_named(void **known, const char *name, const char *location);
void *hirc_stream_of_pool(int64_t index, int64_t pool, const char *location);

// device_memory.c
enum {
  HIRC_MEMORY_DEVICE = 0,
  HIRC_MEMORY_PINNED = 1,
  HIRC_MEMORY_MANAGED = 2,
  HIRC_MEMORY_SYMMETRIC = 3,
};
void *hirc_allocate(int64_t bytes, int kind, void *stream, const char *location);
void hirc_own_device(void *memory, const char *location);
void hirc_free(void *memory, int kind, void *stream, const char *location);
void hirc_dealloc_async(void *memory, void *stream, const char *location);

// memory_counts.c
struct hirc_memory_counts {
  int64_t live_bytes, peak_bytes, allocations, deallocations;
};
void hirc_count_memory(int on);
void hirc_memory_counts(struct hirc_memory_counts *counts);

// zero.c
void hirc_fill_bytes(void *start, int byte, int64_t bytes, void *stream, const char *location);
void hirc_zero_strided(void *start, int64_t rank, const int64_t *sizes, const int64_t *strides,
                       int64_t element_bytes, void *stream, const char *location);

// memory.c
void hirc_copy_bytes(void *dst, void *src, int64_t bytes, void *stream, const char *location);
void hirc_memcpy_strided(void *dst, void *src, int64_t rank, const int64_t *sizes,
                         const int64_t *dst_strides, const int64_t *src_strides,
                         int64_t element_bytes, void *stream, int asynchronous,
                         const char *location);
void hirc_host_register(int64_t rank, void *descriptor, int64_t element_bytes,
                        const char *location);
void hirc_host_unregister(int64_t rank, void *descriptor, int64_t element_bytes,
                          const char *location);

// shared_limit.c
void hirc_raise_shared_limit(const void *stub, int64_t bytes, const char *location);

// launch.c
enum { HIRC_LAUNCH_COOPERATIVE = 1, HIRC_LAUNCH_OVERLAPPING = 2 };
void hirc_launch(const void *stub, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                 int64_t block_y, int64_t block_z, int64_t dynamic_shared_bytes, void **arguments,
                 int64_t argument_bytes, void *stream, const char *location);
void hirc_launch_cluster(const void *stub, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                         int64_t block_x, int64_t block_y, int64_t block_z,
                         int64_t dynamic_shared_bytes, void **arguments, int64_t argument_bytes,
                         void *stream, int64_t cluster_x, int64_t cluster_y, int64_t cluster_z,
                         int kinds, const char *location);

// tensor_map.c
void hirc_tensor_map_encode(void *map, int64_t rank, void *ranked_descriptor, int element_kind,
                            int64_t element_bytes, const int64_t *box_sizes,
                            const int64_t *steps, int interleave, int swizzle, int l2promo, int oob,
                            const char *location);

// What calls of one place, of matmul.c or convolution.c, leave for the next; all zero at first.
enum { HIRC_PLANS = 7 };
struct hirc_plan_cache {
  void *_Atomic plans[HIRC_PLANS];
  _Atomic unsigned turn;
};

// matmul.c
enum {
  HIRC_MATMUL_PLAIN = 0,
  HIRC_MATMUL_RELU = 1,
  HIRC_MATMUL_GELU = 2, // the form with tanh
};
// What is known of a matrix product when it is compiled: element types as cudaDataType and how it
// computes as cublasComputeType, whether it adds a bias and an addend, which may be the result, and
// for each loop which operands it indexes (bit 0 the first, 1 the second, 2 the result, 3 the bias,
// 4 the addend).
struct hirc_matmul_site {
  int64_t element, result, compute, activation, has_bias, has_addend, loops;
  int64_t kinds[];
};
// `extents` holds for each loop its size, and the operands' strides in elements in the same order.
void hirc_matmul(const struct hirc_matmul_site *site, struct hirc_plan_cache *cache,
                 const int64_t *extents, void *first, void *second, void *result, void *bias,
                 void *addend, void *stream, const char *location);
// Whether cuBLASLt is there, or is said to be where it is not: then a call says what is wrong.
int hirc_has_cublaslt(void);

// convolution.c
enum { HIRC_CONVOLUTION_PLACES = 3 };
// What is known of a convolution when it is compiled: the element type as cudnnDataType and what
// arithmetic may be as cudnnMathType, whether it is the gradient of a forward one's image, whether
// it may multiply what is transformed, and along each of the window's `places` its steps.
struct hirc_convolution_site {
  int64_t element, math, is_gradient, transforms, groups, places;
  int64_t strides[HIRC_CONVOLUTION_PLACES], padding[HIRC_CONVOLUTION_PLACES];
  int64_t dilations[HIRC_CONVOLUTION_PLACES];
};
// `extents` holds the size and the stride, in elements, of each dim of image, weights and result.
void hirc_convolution(const struct hirc_convolution_site *site, struct hirc_plan_cache *cache,
                      const int64_t *extents, void *image, void *weights, void *result,
                      void *stream, const char *location);
// Whether cuDNN is there, or is said to be where it is not: then a call says what is wrong.
int hirc_has_cudnn(void);

// reshape.c
void hirc_reshape_strides(int64_t rank, const int64_t *sizes, const int64_t *strides,
                          int64_t new_rank, const int64_t *new_sizes, int64_t *new_strides,
                          const char *location);

// refuse.c
_Noreturn void hirc_refuse(const char *format, int64_t first, int64_t second,
                           const char *location);

// assert.c
_Noreturn void hirc_assert_failed(const char *message, const char *location);

#endif
