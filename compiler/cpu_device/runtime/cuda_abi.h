// The CUDA 13 runtime's C ABI as far as the CPU device implements it: structs, numbers and handles,
// declared here because the library includes no CUDA header.
//
// Source of every layout and number: the CUDA Runtime API reference 13.0. Handles are pointers;
// every enum parameter is passed as an int. The tests compare all of it with CUDA's own headers.
#ifndef HIRC_CUDA_ABI_H
#define HIRC_CUDA_ABI_H

#include "device_abi.h"

enum cuda_error {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_MEMORY_ALLOCATION = 2,
  CUDA_ERROR_INVALID_CONFIGURATION = 9,
  CUDA_ERROR_INVALID_PITCH_VALUE = 12,
  CUDA_ERROR_INVALID_SYMBOL = 13,
  CUDA_ERROR_INVALID_MEMCPY_DIRECTION = 21,
  CUDA_ERROR_INVALID_DEVICE_FUNCTION = 98,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_OPERATING_SYSTEM = 304,
  CUDA_ERROR_INVALID_RESOURCE_HANDLE = 400,
  CUDA_ERROR_ILLEGAL_STATE = 401,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_PERMITTED = 800,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_CAPTURE_MERGE = 902,
  CUDA_ERROR_CAPTURE_UNMATCHED = 903,
  CUDA_ERROR_CAPTURE_UNJOINED = 904,
  CUDA_ERROR_CAPTURE_ISOLATION = 905,
  CUDA_ERROR_CAPTURE_IMPLICIT = 906,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  CUDA_ERROR_CAPTURE_WRONG_THREAD = 908,
  CUDA_ERROR_INVALID_CLUSTER_SIZE = 912,
};

typedef struct hirc_stream *cuda_stream; // or one of the two numbers below
typedef struct hirc_event *cuda_event;
typedef struct hirc_graph *cuda_graph;
typedef struct hirc_graph_node *cuda_graph_node;
typedef struct hirc_graph_exec *cuda_graph_exec;
typedef struct hirc_memory_pool *cuda_memory_pool;
typedef void cuda_host_function(void *data);
typedef void cuda_stream_callback(cuda_stream stream, int status, void *data);

enum {
  CUDA_STREAM_LEGACY = 1,
  CUDA_STREAM_PER_THREAD = 2,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_BLOCKING_SYNC = 1,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_EVENT_INTERPROCESS = 4,
  CUDA_EVENT_EXTERNAL = 1, // of cudaEventRecordWithFlags and cudaStreamWaitEvent
};

enum cuda_memcpy_kind {
  CUDA_MEMCPY_HOST_TO_HOST,
  CUDA_MEMCPY_HOST_TO_DEVICE,
  CUDA_MEMCPY_DEVICE_TO_HOST,
  CUDA_MEMCPY_DEVICE_TO_DEVICE,
  CUDA_MEMCPY_DEFAULT,
};

// What cudaDevAttrMaxPitch is on every device.
#define CUDA_MAX_PITCH ((size_t)0x7fffffff)

typedef struct hirc_extent cuda_dim3; // passed by value

struct cuda_kernel_node_parameters { // cudaKernelNodeParams
  void *stub;
  cuda_dim3 grid, block;
  unsigned dynamic_shared_bytes;
  void **arguments;
  void **others;
};

struct cuda_extent_bytes { // cudaExtent
  size_t width, height, depth;
};

struct cuda_pitched_pointer {
  void *pointer;
  size_t pitch, width, height;
};

struct cuda_position {
  size_t x, y, z;
};

struct cuda_memcpy_3d {
  void *src_array;
  struct cuda_position src_position;
  struct cuda_pitched_pointer src;
  void *dst_array;
  struct cuda_position dst_position;
  struct cuda_pitched_pointer dst;
  struct cuda_extent_bytes extent;
  int kind;
};

struct cuda_memory_location {
  int type;
  int id;
};

enum cuda_memory_type {
  CUDA_MEMORY_UNREGISTERED,
  CUDA_MEMORY_HOST,
  CUDA_MEMORY_DEVICE,
  CUDA_MEMORY_MANAGED,
};

struct cuda_pointer_attributes {
  int type;
  int device;
  void *device_pointer;
  void *host_pointer;
  long reserved[8];
};

struct cuda_function_attributes {
  size_t static_shared_bytes;
  size_t constant_bytes;
  size_t local_bytes;
  int max_threads_per_block;
  int registers;
  int ptx_version;
  int binary_version;
  int cache_mode;
  int max_dynamic_shared_bytes;
  int preferred_carveout;
  int cluster_must_be_set;
  int required_cluster[3];
  int cluster_scheduling;
  int non_portable_cluster_allowed;
  int reserved[16];
};

enum cuda_function_attribute {
  CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,
  CUDA_FUNCTION_PREFERRED_CARVEOUT = 9,
  CUDA_FUNCTION_CLUSTER_MUST_BE_SET = 10,
  CUDA_FUNCTION_REQUIRED_CLUSTER_WIDTH = 11,
  CUDA_FUNCTION_REQUIRED_CLUSTER_HEIGHT = 12,
  CUDA_FUNCTION_REQUIRED_CLUSTER_DEPTH = 13,
  CUDA_FUNCTION_NON_PORTABLE_CLUSTER_ALLOWED = 14,
  CUDA_FUNCTION_CLUSTER_SCHEDULING = 15,
};

enum cuda_launch_attribute_kind {
  CUDA_LAUNCH_COOPERATIVE = 2,
  CUDA_LAUNCH_CLUSTER_DIMENSION = 4,
  CUDA_LAUNCH_PRIORITY = 8,
};

union cuda_launch_attribute_value {
  int cooperative;
  int priority;
  struct hirc_extent cluster;
  char others[64];
};

struct cuda_launch_attribute {
  int kind;
  int padding;
  union cuda_launch_attribute_value value;
};

struct cuda_launch_configuration {
  struct hirc_extent grid;
  struct hirc_extent block;
  size_t dynamic_shared_bytes;
  cuda_stream stream;
  struct cuda_launch_attribute *attributes;
  unsigned attribute_count;
};

struct cuda_kernel_parameters { // cudaKernelNodeParams
  void *function;
  struct hirc_extent grid;
  struct hirc_extent block;
  unsigned dynamic_shared_bytes;
  void **arguments;
  void **extra;
};

enum cuda_capture_status { CUDA_CAPTURE_NONE, CUDA_CAPTURE_ACTIVE, CUDA_CAPTURE_INVALIDATED };
enum cuda_capture_mode { CUDA_CAPTURE_GLOBAL, CUDA_CAPTURE_THREAD_LOCAL, CUDA_CAPTURE_RELAXED };

#endif
