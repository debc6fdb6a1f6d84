// The part of NCCL's C interface that the support library calls, declared here so that it compiles
// where no header of NVIDIA's is, and what the CPU device puts in its place.
//
// Source of every prototype and number: NCCL's API reference and nccl.h (2.14 and newer, where
// communicators became non-blocking).
#ifndef HIRC_NCCL_ABI_H
#define HIRC_NCCL_ABI_H

#include <stddef.h>

typedef struct nccl_communicator *nccl_communicator;

enum { NCCL_UNIQUE_ID_BYTES = 128, NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7 };

enum nccl_type {
  NCCL_INT8,
  NCCL_UINT8,
  NCCL_INT32,
  NCCL_UINT32,
  NCCL_INT64,
  NCCL_UINT64,
  NCCL_FLOAT16,
  NCCL_FLOAT32,
  NCCL_FLOAT64,
  NCCL_BFLOAT16,
};

enum nccl_reduction { NCCL_SUM, NCCL_PROD, NCCL_MAX, NCCL_MIN, NCCL_AVG };

struct nccl_unique_id {
  char bytes[NCCL_UNIQUE_ID_BYTES];
};

// The leading fields of ncclConfig_t, as of the version that it names.
struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking;
  int padding;
};

enum { NCCL_CONFIG_MAGIC = 0xcafebeef, NCCL_CONFIG_VERSION = 21400 };

struct nccl {
  int (*GetUniqueId)(struct nccl_unique_id *id);
  int (*CommInitRankConfig)(nccl_communicator *made, int size, struct nccl_unique_id id, int rank,
                            struct nccl_config *config);
  int (*CommAbort)(nccl_communicator communicator);
  int (*CommGetAsyncError)(nccl_communicator communicator, int *status);
  const char *(*GetErrorString)(int status);
  const char *(*GetLastError)(nccl_communicator communicator);
  int (*AllReduce)(const void *input, void *output, size_t count, int type, int reduction,
                   nccl_communicator communicator, void *stream);
  int (*Reduce)(const void *input, void *output, size_t count, int type, int reduction, int root,
                nccl_communicator communicator, void *stream);
  int (*ReduceScatter)(const void *input, void *output, size_t output_count, int type,
                       int reduction, nccl_communicator communicator, void *stream);
  int (*AllGather)(const void *input, void *output, size_t input_count, int type,
                   nccl_communicator communicator, void *stream);
  int (*Broadcast)(const void *input, void *output, size_t count, int type, int root,
                   nccl_communicator communicator, void *stream);
  int (*Send)(const void *input, size_t count, int type, int to, nccl_communicator communicator,
              void *stream);
  int (*Recv)(void *output, size_t count, int type, int from, nccl_communicator communicator,
              void *stream);
  int (*GroupStart)(void);
  int (*GroupEnd)(void);
};

// In programs for the CPU device: what it has instead.
__attribute__((weak, visibility("hidden"))) const struct nccl *hirc_cpu_device_nccl(void);

// Tells the CPU device's where a program is that begins a communication, and that it has come to its
// end and compares what was communicated with the others'.
__attribute__((weak, visibility("hidden"))) void hirc_cpu_device_communicates(int rank,
                                                                             const char *location);
__attribute__((weak, visibility("hidden"))) void hirc_cpu_device_agrees(void);

#endif
