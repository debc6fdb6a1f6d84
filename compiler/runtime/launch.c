// Launching kernels. `stub` is the address a kernel is registered under, `arguments` points to the
// address of each argument, which lie in one block in that order; extents and bytes come as the 64-bit integers of the program.

#include "check.h"
#include "graphs.h"
#include "ranges.h"

#include <stdbool.h>
#include <stdio.h>

// A portable cluster has at most 8 blocks (CUDA programming guide, thread block clusters); larger
// ones must be allowed kernel by kernel.
enum { MAX_PORTABLE_CLUSTER = 8 };

// Sizes as the program gave them, kept for the message of a failed launch.
struct launch {
  int64_t grid[3];
  int64_t block[3];
  int64_t dynamic_shared_bytes;
};

static bool is_extent(int64_t size) { return size >= 0 && size <= UINT32_MAX; }

// Whether the launch itself was wrong, and not work before it whose failure it reports.
static bool blames_launch(int rc) {
  return rc == CUDA_ERROR_INVALID_VALUE || rc == CUDA_ERROR_INVALID_CONFIGURATION ||
         rc == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES ||
         rc == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE || rc == CUDA_ERROR_INVALID_CLUSTER_SIZE;
}

__attribute__((cold, noinline)) static void launch_failed(int rc, const char *call,
                                                          const char *location,
                                                          const struct launch *launch) {
  char note[256];
  snprintf(note, sizeof note,
           "the grid is %lld x %lld x %lld blocks of %lld x %lld x %lld threads, with %lld bytes "
           "of dynamic shared memory",
           (long long)launch->grid[0], (long long)launch->grid[1], (long long)launch->grid[2],
           (long long)launch->block[0], (long long)launch->block[1], (long long)launch->block[2],
           (long long)launch->dynamic_shared_bytes);
  hirc_check_failed(rc, call, location, blames_launch(rc) ? note : NULL);
}

// Refuses what does not fit CUDA's 32-bit extents and must not wrap to a smaller launch; CUDA
// judges the rest.
static inline bool fits(const struct launch *launch) {
  return is_extent(launch->grid[0]) && is_extent(launch->grid[1]) && is_extent(launch->grid[2]) &&
         is_extent(launch->block[0]) && is_extent(launch->block[1]) &&
         is_extent(launch->block[2]) && launch->dynamic_shared_bytes >= 0;
}

static inline struct cuda_extent extent(const int64_t sizes[3]) {
  return (struct cuda_extent){(unsigned)sizes[0], (unsigned)sizes[1], (unsigned)sizes[2]};
}

// Whether the program's graph makes the launch.
__attribute__((noinline)) static bool is_launched(struct hirc_recorder *recorder, const void *stub,
                                                  const struct launch *launch,
                                                  const int64_t *cluster, int kinds,
                                                  void **arguments, int64_t argument_bytes,
                                                  void *stream, const char *location) {
  struct hirc_graph_launch made = {.stub = stub,
                                   .stream = stream,
                                   .kinds = kinds,
                                   .dynamic_shared_bytes = launch->dynamic_shared_bytes};
  for (int i = 0; i < 3; ++i) {
    made.cluster[i] = cluster ? cluster[i] : 0;
    made.grid[i] = launch->grid[i];
    made.block[i] = launch->block[i];
  }
  return hirc_graph_launches(recorder, &made, arguments, (size_t)argument_bytes, location);
}

void hirc_launch(const void *stub, int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                 int64_t block_y, int64_t block_z, int64_t dynamic_shared_bytes, void **arguments,
                 int64_t argument_bytes, void *stream, const char *location) {
  struct launch launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared_bytes};
  if (!fits(&launch))
    launch_failed(CUDA_ERROR_INVALID_CONFIGURATION, "cudaLaunchKernel", location, &launch);
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0) &&
      is_launched(recorder, stub, &launch, NULL, 0, arguments, argument_bytes, stream, location))
    return;
  if (dynamic_shared_bytes != 0)
    hirc_raise_shared_limit(stub, dynamic_shared_bytes, location);
  wait_at_end();
  bool is_shown = hirc_range_begin(location);
  int rc = cudaLaunchKernel(stub, extent(launch.grid), extent(launch.block), arguments,
                            (size_t)dynamic_shared_bytes, stream);
  hirc_range_end(is_shown);
  if (__builtin_expect(rc != 0, 0))
    launch_failed(rc, "cudaLaunchKernel", location, &launch);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_launched(recorder, stream);
}

// A launch in clusters of blocks (sizes of 0: none, or what the kernel itself says). Of `kinds`,
// HIRC_LAUNCH_COOPERATIVE: the grid's blocks wait for one another; HIRC_LAUNCH_OVERLAPPING: it may
// begin before the stream's last kernel has ended, for whose results the kernel waits itself.
void hirc_launch_cluster(const void *stub, int64_t grid_x, int64_t grid_y, int64_t grid_z,
                         int64_t block_x, int64_t block_y, int64_t block_z,
                         int64_t dynamic_shared_bytes, void **arguments, int64_t argument_bytes,
                         void *stream, int64_t cluster_x, int64_t cluster_y, int64_t cluster_z,
                         int kinds, const char *location) {
  struct launch launch = {
      {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_shared_bytes};
  int64_t cluster[3] = {cluster_x, cluster_y, cluster_z};
  if (!fits(&launch) || !is_extent(cluster_x) || !is_extent(cluster_y) || !is_extent(cluster_z))
    launch_failed(CUDA_ERROR_INVALID_CONFIGURATION, "cudaLaunchKernelExC", location, &launch);
  struct hirc_recorder *recorder = hirc_recorder();
  if (__builtin_expect(recorder != NULL, 0) &&
      is_launched(recorder, stub, &launch, cluster, kinds, arguments, argument_bytes, stream,
                  location))
    return;

  struct cuda_launch_attribute attributes[3] = {0};
  struct cuda_launch_configuration configuration = {
      .grid = extent(launch.grid),
      .block = extent(launch.block),
      .dynamic_shared_bytes = (size_t)dynamic_shared_bytes,
      .stream = stream,
      .attributes = attributes,
  };
  if (cluster_x != 0 || cluster_y != 0 || cluster_z != 0) {
    struct cuda_launch_attribute *attribute = &attributes[configuration.attribute_count++];
    attribute->kind = CUDA_LAUNCH_CLUSTER_DIMENSION;
    attribute->value.cluster = extent(cluster);
    if ((__int128)cluster_x * cluster_y * cluster_z > MAX_PORTABLE_CLUSTER)
      check(cudaFuncSetAttribute(stub, CUDA_FUNCTION_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            "cudaFuncSetAttribute", location);
  }
  if (kinds & HIRC_LAUNCH_COOPERATIVE) {
    struct cuda_launch_attribute *attribute = &attributes[configuration.attribute_count++];
    attribute->kind = CUDA_LAUNCH_COOPERATIVE;
    attribute->value.cooperative = 1;
  }
  if (kinds & HIRC_LAUNCH_OVERLAPPING) {
    struct cuda_launch_attribute *attribute = &attributes[configuration.attribute_count++];
    attribute->kind = CUDA_LAUNCH_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute->value.programmatic_stream_serialization = 1;
  }
  if (dynamic_shared_bytes != 0)
    hirc_raise_shared_limit(stub, dynamic_shared_bytes, location);
  wait_at_end();
  bool is_shown = hirc_range_begin(location);
  int rc = cudaLaunchKernelExC(&configuration, stub, arguments);
  hirc_range_end(is_shown);
  if (__builtin_expect(rc != 0, 0))
    launch_failed(rc, "cudaLaunchKernelExC", location, &launch);
  if (__builtin_expect(recorder != NULL, 0))
    hirc_graph_launched(recorder, stream);
}
