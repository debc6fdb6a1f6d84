// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: boxes of a tensor (PTX ISA, "Tensors",
// "Swizzling Modes"). In shared memory a box lies densely, the innermost dimension first; swizzled,
// chunks of 16 bytes change places by bits 7 and up of their address. What lies outside the tensor
// is filled when it is read, and left out when it is written.

#include "../alignment.h"
#include "../checks/checks.h"
#include "cluster.h"
#include "operations.h"
#include "tensor_map.h"
#include "tensor_reduce.h"

#include <string.h>

enum { ILLEGAL_INSTRUCTION = 715, BOX_ALIGNMENT = 128 };

// Called for each element of a box: `global` is NULL outside the tensor.
typedef void visit(const struct hirc_tensor_map *map, char *shared, char *global, uint32_t bytes,
                   uint32_t argument);

static const struct hirc_tensor_map *checked(struct hirc_block *block, uint32_t thread,
                                             const void *map, uint32_t rank,
                                             const void *shared) {
  const struct hirc_tensor_map *it = map;
  if (it->magic != HIRC_TENSOR_MAP_MAGIC || it->rank != rank)
    hirc_device_abort(block, thread, ILLEGAL_INSTRUCTION);
  hirc_need_alignment(block, thread, "a TMA copy", shared, BOX_ALIGNMENT);
  return it;
}

static char *swizzled(const struct hirc_tensor_map *map, char *address) {
  uintptr_t mask = ((uintptr_t)1 << map->swizzle) - 1;
  return (char *)((uintptr_t)address ^ (((uintptr_t)address >> 7 & mask) << 4));
}

// The elements of a box along one dimension: with an element stride every so many'th is taken.
static uint32_t box_elements(const struct hirc_tensor_map *map, uint32_t dimension) {
  uint32_t stride = map->element_strides[dimension];
  return (map->box[dimension] + stride - 1) / stride;
}

// Calls the function for every element; returns the bytes of the box. Rows of a swizzled box are as
// far apart as the swizzle is wide, whatever their own length.
static uint32_t for_each(const struct hirc_tensor_map *map, char *shared, const int32_t *start,
                         visit *function, uint32_t argument) {
  uint32_t bytes = hirc_tensor_element_bytes(map->type);
  uint32_t index[HIRC_TENSOR_RANK] = {0};
  uint32_t row_elements = box_elements(map, 0), total = 1;
  uint32_t pitch = map->swizzle ? 16u << map->swizzle : row_elements * bytes;
  for (uint32_t i = 0; i < map->rank; ++i)
    total *= box_elements(map, i);
  for (uint32_t visited = 0; visited < total; ++visited) {
    bool inside = true;
    uint64_t offset = 0;
    for (uint32_t i = 0; i < map->rank; ++i) {
      int64_t at = start[i] + (int64_t)index[i] * map->element_strides[i];
      inside = inside && at >= 0 && at <= (int64_t)map->sizes[i];
      offset += (uint64_t)at * (i ? map->strides[i - 1] : bytes);
    }
    char *global = inside ? (char *)(uintptr_t)(map->start + offset) : NULL;
    size_t place = (size_t)(visited / row_elements) * pitch + index[0] * bytes;
    function(map, swizzled(map, shared + place), global, bytes, argument);
    for (uint32_t i = 0; i < map->rank && ++index[i] == box_elements(map, i); ++i)
      index[i] = 0;
  }
  return total * bytes;
}

static void fill(const struct hirc_tensor_map *map, char *shared, uint32_t bytes) {
  static const uint64_t half_nan = 0x7fff, float_nan = 0x7fffffff,
                        double_nan = UINT64_C(0x7fffffffffffffff);
  const uint64_t *nan = bytes == 2 ? &half_nan : bytes == 4 ? &float_nan : &double_nan;
  if (map->fill_nan)
    memcpy(shared, nan, bytes);
  else
    memset(shared, 0, bytes);
}

// Returns f32 as copied: as the map says without denormals, and rounded to tf32, ties away from 0.
static uint32_t converted(const struct hirc_tensor_map *map, uint32_t word) {
  bool flushes = map->type == HIRC_TENSOR_F32_FTZ || map->type == HIRC_TENSOR_TF32_FTZ;
  bool rounds = map->type == HIRC_TENSOR_TF32 || map->type == HIRC_TENSOR_TF32_FTZ;
  if (flushes && (word & 0x7f800000) == 0)
    word &= 0x80000000;
  if (!rounds)
    return word;
  if ((word & 0x7fffffff) > 0x7f800000)
    return 0x7fffe000;
  return (word & 0x7f800000) == 0x7f800000 ? word : (word + 0x1000) & 0xffffe000;
}

static void load(const struct hirc_tensor_map *map, char *shared, char *global, uint32_t bytes,
                 uint32_t argument) {
  (void)argument;
  hirc_checks_access(shared, bytes, HIRC_CHECKED_WRITE);
  if (!global) {
    fill(map, shared, bytes);
    return;
  }
  hirc_checks_access(global, bytes, HIRC_CHECKED_READ);
  uint32_t word;
  switch (bytes) {
  case 1:
    *shared = *global;
    break;
  case 2:
    memcpy(shared, global, 2);
    break;
  case 4:
    memcpy(&word, global, 4);
    word = converted(map, word);
    memcpy(shared, &word, 4);
    break;
  default:
    memcpy(shared, global, 8);
  }
}

static void store(const struct hirc_tensor_map *map, char *shared, char *global, uint32_t bytes,
                  uint32_t argument) {
  (void)map;
  (void)argument;
  if (global) {
    hirc_checks_access(shared, bytes, HIRC_CHECKED_READ);
    hirc_checks_access(global, bytes, HIRC_CHECKED_WRITE);
    memcpy(global, shared, bytes);
  }
}

static uint32_t copy_box(const struct hirc_tensor_map *map, void *shared, const int32_t *start) {
  return for_each(map, shared, start, load, 0);
}

void hirc_tensor_load(struct hirc_block *block, uint32_t thread, void *to, void *barrier,
                      const void *map, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4,
                      uint32_t rank, uint32_t mask, uint32_t multicast) {
  const struct hirc_tensor_map *it = checked(block, thread, map, rank, to);
  const int32_t start[] = {c0, c1, c2, c3, c4};
  if (!multicast) {
    hirc_mbarrier_complete_tx(barrier, copy_box(it, to, start));
    return;
  }
  for (uint32_t rank_to = 0; rank_to < block->blocks_in_cluster; ++rank_to)
    if (mask >> rank_to & 1) {
      uint32_t bytes = copy_box(it, hirc_in_block(block, to, rank_to), start);
      hirc_mbarrier_complete_tx(hirc_in_block(block, barrier, rank_to), bytes);
    }
}

void hirc_tensor_store(struct hirc_block *block, uint32_t thread, const void *from, const void *map,
                       int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4, uint32_t rank) {
  const struct hirc_tensor_map *it = checked(block, thread, map, rank, from);
  const int32_t start[] = {c0, c1, c2, c3, c4};
  for_each(it, (char *)(uintptr_t)from, start, store, 0);
}

static void reduce(const struct hirc_tensor_map *map, char *shared, char *global, uint32_t bytes,
                   uint32_t reduction) {
  if (global) {
    hirc_checks_access(shared, bytes, HIRC_CHECKED_READ);
    hirc_checks_access(global, bytes, HIRC_CHECKED_READ);
    hirc_reduce_element(global, shared, bytes, map->type, reduction);
  }
}

void hirc_tensor_reduce(struct hirc_block *block, uint32_t thread, const void *from,
                        const void *map, int32_t c0, int32_t c1, int32_t c2, int32_t c3, int32_t c4,
                        uint32_t rank, uint32_t reduction) {
  const struct hirc_tensor_map *it = checked(block, thread, map, rank, from);
  const int32_t start[] = {c0, c1, c2, c3, c4};
  for_each(it, (char *)(uintptr_t)from, start, reduce, reduction);
}
